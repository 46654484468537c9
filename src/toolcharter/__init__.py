"""MCP tools that agents can rely on. These are the public names; `toolcharter --help` shows the commands.

The framework is imported when the first of them is used: `toolcharter --version` does not need its 250 ms.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mcp_core
    from mcp_core import *  # noqa: F403 - one list of public names, that of the framework
    from toolcharter.app import App
    from toolcharter.start import run

    __version__: str
    __all__ = ["App", "run"]
    __all__ += mcp_core.__all__
else:

    def __getattr__(name: str) -> object:
        """Import the framework, and with it all public names."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - 20 ms that most programs do not need

            return version("toolcharter")
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module 'toolcharter' has no attribute {name!r}")
        from toolcharter.ctrl_c import WithoutStack  # noqa: PLC0415 - so that nothing is imported before it

        with WithoutStack():
            import mcp_core  # noqa: PLC0415 - 250 ms
            from toolcharter.app import App  # noqa: PLC0415 - as above
            from toolcharter.start import run  # noqa: PLC0415 - as above

        public = {each: getattr(mcp_core, each) for each in mcp_core.__all__} | {"App": App, "run": run}
        globals().update(public, __all__=[*public])
        if name not in globals():
            raise AttributeError(f"module 'toolcharter' has no attribute {name!r}")
        return globals()[name]

    def __dir__() -> list[str]:
        """The public names, for `dir` and completion."""
        return sorted([*__getattr__("__all__"), "__version__"])
