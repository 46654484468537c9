"""The charter, held up to any MCP server: rules over what it lists, and checks of how it behaves."""
