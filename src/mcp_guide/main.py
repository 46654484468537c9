"""The command `mcp-guide`: serve, or `init` and `import`."""

import os
import sys

from mcp_guide import init_command
from mcp_guide.app import DESCRIPTION, build
from mcp_guide.settings import PREFIX
from toolcharter import run

ABOUT = (
    f"{DESCRIPTION} mcp-guide init writes a set of starter documents; mcp-guide import FILE imports a"
    " configuration of the mcp-guide project."
)


def main() -> None:
    """Serve the guide, or run one of its other commands."""
    _configure_environment()
    match sys.argv[1:]:
        case ["init", *arguments]:
            raise SystemExit(init_command.command(arguments))
        case ["import", *arguments]:
            from mcp_guide import import_command  # noqa: PLC0415 - 14 ms, with YAML

            raise SystemExit(import_command.command(arguments))
        case _:
            run(build, about=ABOUT)


def _configure_environment() -> None:
    """Set the default prefix of tool names, unless one is set; an empty one means no prefix."""
    os.environ.setdefault("MCP_TOOL_PREFIX", PREFIX)
