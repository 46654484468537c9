"""All that speaks an MCP library. Tools do not know what hosts them."""
