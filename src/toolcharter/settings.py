"""Settings of a server's own."""

from mcp_core.settings.model import Settings, TextList, Variable

__all__ = ["Settings", "TextList", "Variable"]
