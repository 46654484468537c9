"""`ExtMcpToolDecorator`, under the path that the guide's conventions name."""

from toolcharter.porting import ExtMcpToolDecorator, get_tool_prefix, log_tool_usage

__all__ = ["ExtMcpToolDecorator", "get_tool_prefix", "log_tool_usage"]
