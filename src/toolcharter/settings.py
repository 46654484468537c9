"""Settings of a server's own."""

from mcp_core.settings import Settings, TextList, Variable

__all__ = ["Settings", "TextList", "Variable"]
