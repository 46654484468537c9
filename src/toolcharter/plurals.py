"""Counts in texts: 1 tool, 2 tools."""

from mcp_core.text.plurals import count, verb

__all__ = ["count", "verb"]
