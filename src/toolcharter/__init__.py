"""MCP tools that agents can rely on. These are the public names; `toolcharter --help` shows the commands.

Further names are in the public modules, such as `toolcharter.errors`; docs/api.md lists them.
The framework is imported when the first name is used: `toolcharter --version` does not need its 250 ms.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_core import (
        BrandedId,
        Caller,
        Confirm,
        Conflict,
        Deprecation,
        Example,
        Icon,
        Image,
        InvalidArguments,
        Naming,
        NotFound,
        PermissionDenied,
        RateLimit,
        Result,
        Settings,
        ToolArguments,
        ToolContext,
        ToolError,
        Unavailable,
        prompt,
        tool,
    )
    from mcp_core.context import ToolContext as Context
    from toolcharter.app import App, run

    __version__: str

__all__ = [
    "App",
    "BrandedId",
    "Caller",
    "Confirm",
    "Conflict",
    "Context",
    "Deprecation",
    "Example",
    "Icon",
    "Image",
    "InvalidArguments",
    "Naming",
    "NotFound",
    "PermissionDenied",
    "RateLimit",
    "Result",
    "Settings",
    "ToolArguments",
    "ToolContext",
    "ToolError",
    "Unavailable",
    "prompt",
    "run",
    "tool",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import the framework, and with it all public names."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - 20 ms that most programs do not need

            return version("toolcharter")
        if name not in __all__:
            raise AttributeError(f"module 'toolcharter' has no attribute {name!r}")
        from toolcharter.ctrl_c import WithoutStack  # noqa: PLC0415 - so that nothing is imported before it

        with WithoutStack():
            import mcp_core  # noqa: PLC0415 - 250 ms
            from toolcharter.app import App, run  # noqa: PLC0415 - as above

        own = {"App": App, "Context": mcp_core.ToolContext, "run": run}
        globals().update({each: own.get(each) or getattr(mcp_core, each) for each in __all__})
        return globals()[name]

    def __dir__() -> list[str]:
        """The public names, for `dir` and completion."""
        return [*__all__, "__version__"]
