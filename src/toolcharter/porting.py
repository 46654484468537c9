"""Decorators for servers of other libraries, which keep their own."""

from mcp_core.tool_decorator import ExtMcpToolDecorator, get_tool_prefix, log_tool_usage
from mcp_core.tool_result import ToolMetadata, ToolResult

__all__ = ["ExtMcpToolDecorator", "ToolMetadata", "ToolResult", "get_tool_prefix", "log_tool_usage"]
