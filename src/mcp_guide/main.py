"""The command `mcp-guide`: serve, or `init`, `check` and `import`."""

import os
import sys

from toolcharter.ctrl_c import EndsProcess

ABOUT = (
    "mcp-guide init writes a set of starter documents; mcp-guide check finds mistakes in yours; "
    "mcp-guide import FILE imports a configuration of the "
    "mcp-guide project."
)


def main() -> None:
    """Serve the guide, or run one of its other commands."""
    with EndsProcess():
        from mcp_guide.app import DESCRIPTION, build  # noqa: PLC0415 - 250 ms, with the framework
        from toolcharter import run  # noqa: PLC0415 - as above
    _configure_environment()
    match sys.argv[1:]:
        case ["init", *arguments]:
            from mcp_guide.commands import init  # noqa: PLC0415 - not needed to serve

            raise SystemExit(init.command(arguments))
        case ["import", *arguments]:
            from mcp_guide.commands import import_file  # noqa: PLC0415 - 14 ms, with YAML

            raise SystemExit(import_file.command(arguments))
        case ["check", *arguments]:
            from mcp_guide.commands import check  # noqa: PLC0415 - not needed to serve

            raise SystemExit(check.command(arguments))
        case _:
            run(build, about=f"{DESCRIPTION} {ABOUT}")


def _configure_environment() -> None:
    """Set the default prefix of tool names, unless one is set; an empty one means no prefix."""
    from mcp_guide.settings import PREFIX  # noqa: PLC0415 - 230 ms, with the framework

    os.environ.setdefault("MCP_TOOL_PREFIX", PREFIX)
