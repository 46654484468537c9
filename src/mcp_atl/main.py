"""The command `mcp-atl`: serve, or `login`, `logout` and `sandbox`."""

import sys

from toolcharter.ctrl_c import EndsProcess

ABOUT = (
    "mcp-atl login signs in to a Cloud site with the browser; mcp-atl logout removes stored credentials; "
    "mcp-atl sandbox serves the API of a made-up site, for tests."
)


def main() -> None:
    """Serve Jira and Confluence, or run one of the other commands."""
    match sys.argv[1:]:
        case ["login", *arguments]:
            with EndsProcess():
                from mcp_atl import login_command  # noqa: PLC0415 - 270 ms, with the framework
            raise SystemExit(login_command.command(arguments))
        case ["logout", *arguments]:
            with EndsProcess():
                from mcp_atl import logout_command  # noqa: PLC0415 - as above
            raise SystemExit(logout_command.command(arguments))
        case ["sandbox", *arguments]:
            with EndsProcess():
                from atlassian_sandbox.__main__ import main as serve_sandbox  # noqa: PLC0415 - 60 ms
            serve_sandbox(arguments)
        case _:
            with EndsProcess():
                from mcp_atl.app import DESCRIPTION, build  # noqa: PLC0415 - 400 ms, with the framework
                from toolcharter import run  # noqa: PLC0415 - as above
            run(build, about=f"{DESCRIPTION} {ABOUT}")
