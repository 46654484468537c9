"""The commands of `mcp-guide` besides serving: init and import."""
