"""Governs MCP servers that somebody else wrote: policies, confirmations, limits and pins between a client and them."""
