"""The MCP clients that people use: where each keeps its servers, in which form, and how its file is changed."""
