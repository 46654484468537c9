"""The `toolcharter` command. Each subcommand is a module of `commands`, imported only when it is called."""

import sys
from collections.abc import Mapping, Sequence

from toolcharter.ctrl_c import EndsProcess

COMMANDS: Mapping[str, str] = {
    "install": "add servers to an MCP client, or take them out",
    "doctor": "check the clients, and the servers that they start",
    "serve": "serve installed servers over HTTP, on one port",
    "stdio": "start one server for a client, over stdin and stdout",
    "http": "start one server over HTTP",
    "dev": "the same, and start it anew when its files change",
    "tools": "list the tools of a server, or show one in full",
    "call": "call a tool from the terminal",
    "examples": "run the examples that a server declares",
    "verify": "find what agents and clients will stumble over",
    "lock": "write the contract of a server to a file, or check it",
    "diff": "compare two contracts or servers, and find breaking changes",
    "evaluate": "measure how often the right tool is selected",
    "audit": "read the audit trail of a server, follow it, or verify it",
    "govern": "put policies and pins in front of other servers",
    "config": "show the settings of a server, and where each was written",
    "db": "check, back up or upgrade the databases of servers",
    "token": "create, list and revoke the tokens of callers over HTTP",
    "new": "make a new server, as a project of its own",
    "package": "write what publishes a server: bundle, plugin, image",
}

USAGE_ERROR = 2
INTERRUPTED = 130
"""The exit code after Ctrl+C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a subcommand, and exit with its code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    if argv and argv[0] in COMMANDS:
        with EndsProcess():
            from toolcharter.commands.command_line import run_command  # noqa: PLC0415 - 250 ms, with the framework
        try:
            run_command(argv[0], argv[1:])
        except KeyboardInterrupt:  # also while the modules of a command are loaded
            raise SystemExit(INTERRUPTED) from None
    elif argv and not argv[0].startswith("-"):
        from mcp_core.foreign.terminal import print_text  # noqa: PLC0415 - --version needs no framework

        print_text(_unknown_command(argv[0]), file=sys.stderr)
        raise SystemExit(USAGE_ERROR)
    else:
        _show_overview(argv or ["--help"])


def _unknown_command(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - 5 ms in which Ctrl+C would print a stack

    nearest = get_close_matches(name, COMMANDS, n=1)
    hint = f"Did you mean {nearest[0]!r}? " if nearest else ""
    return f"toolcharter has no command {name!r}. {hint}`toolcharter --help` lists all commands."


def _show_overview(argv: Sequence[str]) -> None:
    import argparse  # noqa: PLC0415 - 60 ms with the next, in which Ctrl+C would print a stack
    from importlib.metadata import version  # noqa: PLC0415 - as above

    parser = argparse.ArgumentParser(
        prog="toolcharter",
        description="MCP tools that agents can rely on.",
        epilog="`toolcharter COMMAND --help` explains a command. The exit code is 2 if the command line is wrong, and "
        "1 for every other failure.",
    )
    parser.add_argument(
        "-V",
        "--version",
        action="version",
        version=f"toolcharter {version('toolcharter')}",
        help="show the version and exit",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, add_help=False)
    parser.parse_args(argv)
