"""The guide server, under the path that the guide's conventions name, with the registration that they show."""

from mcp_guide.app import build
from mcp_guide.main import main
from mcp_guide.tool_decorator import ExtMcpToolDecorator
from toolcharter import App, ToolArguments

__all__ = ["build", "main", "register_declared_tools"]


def register_declared_tools(app: App) -> App:
    """Register the tools of all modules that were imported since the last time; `build` names its modules instead.

    The app describes them as `ToolArguments.build_tool_description` does.
    """
    tools = ExtMcpToolDecorator(app)
    for name, function in ToolArguments.get_declared_tools().items():
        tools.tool(name)(function)
    return app
