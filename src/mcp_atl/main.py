"""The command `mcp-atl`: serve, or `login`."""

import sys

from mcp_atl.app import build
from toolcharter import run

ABOUT = "Jira and Confluence through one schema. mcp-atl login signs in to a Cloud site with the browser."


def main() -> None:
    """Serve Jira and Confluence, or sign in to a site."""
    match sys.argv[1:]:
        case ["login", *arguments]:
            from mcp_atl import login_command  # noqa: PLC0415 - 17 ms, not needed to serve

            raise SystemExit(login_command.command(arguments))
        case _:
            run(build, about=ABOUT)
