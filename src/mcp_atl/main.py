"""The command `mcp-atl`: serve, or `login`, `logout` and `sandbox`."""

import sys

from mcp_atl.app import DESCRIPTION, build
from toolcharter import run

ABOUT = (
    f"{DESCRIPTION} mcp-atl login signs in to a Cloud site with the browser; mcp-atl logout removes stored "
    "credentials; mcp-atl sandbox serves the API of a made-up site, for tests."
)


def main() -> None:
    """Serve Jira and Confluence, or run one of the other commands."""
    match sys.argv[1:]:
        case ["login", *arguments]:
            from mcp_atl import login_command  # noqa: PLC0415 - 17 ms, not needed to serve

            raise SystemExit(login_command.command(arguments))
        case ["logout", *arguments]:
            from mcp_atl import logout_command  # noqa: PLC0415 - as above

            raise SystemExit(logout_command.command(arguments))
        case ["sandbox", *arguments]:
            from mcp_atl.sandbox.__main__ import main as serve_sandbox  # noqa: PLC0415 - 60 ms, not needed to serve

            serve_sandbox(arguments)
        case _:
            run(build, about=ABOUT)
