"""The fast lane: ordinary requests, answered without the MCP SDK."""
