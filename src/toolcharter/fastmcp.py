"""Governed tools on a FastMCP server. It needs the extra `fastmcp`."""

from mcp_core.hosts.fastmcp import add_tools, governed

__all__ = ["add_tools", "governed"]
