"""`Result`, under the path that the guide's conventions name."""

from mcp_core.result import Result

__all__ = ["Result"]
