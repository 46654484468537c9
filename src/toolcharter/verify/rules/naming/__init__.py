"""The names of tools."""
