"""Counts in texts: 1 tool, 2 tools."""

from mcp_core.plurals import count, verb

__all__ = ["count", "verb"]
