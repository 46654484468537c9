"""Verifies an MCP server: rules for the tools that it lists, and for how it behaves when they are called."""
