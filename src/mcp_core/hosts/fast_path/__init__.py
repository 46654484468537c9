"""The fast path: ordinary requests, answered without the MCP SDK."""
