"""toolcharter: MCP tools that agents can rely on. `public` has the names that can be imported from here.

They are imported when the first of them is used: linting a server needs `mcp_core.declare.listed`, not the pipeline.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_core import hints, instructions, public
    from mcp_core.public import *  # noqa: F403 - the one list of public names

    __all__: list[str] = ["hints", "instructions"]
    __all__ += public.__all__
else:

    def __getattr__(name: str) -> object:
        """Import the module of this name, such as `hints`, or else all public names."""
        import importlib.machinery  # noqa: PLC0415 - loaded already; here it is not a name of this package

        if importlib.machinery.PathFinder.find_spec(f"{__name__}.{name}", __path__):  # noqa: F405 - of every package
            return importlib.import_module(f"{__name__}.{name}")
        if not name.startswith("__") or name == "__all__":
            from mcp_core import public  # noqa: PLC0415 - 250 ms

            if hasattr(public, name):
                return getattr(public, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
