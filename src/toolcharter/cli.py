"""The `toolcharter` command. Each subcommand is a module of `commands`, imported only when it is called."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import version
from typing import NoReturn, Protocol

from mcp_core.errors import DeclarationError
from mcp_core.interrupt import INTERRUPTED
from mcp_core.settings import add_own_options, settings_type
from mcp_core.start_errors import CannotStart
from toolcharter import targets
from toolcharter.commands import CannotRun
from toolcharter.terminal import escape_lines

COMMANDS: Mapping[str, str] = {
    "serve": "serve installed servers over HTTP, on one port",
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
    "token": "create, list and revoke the tokens of callers over HTTP",
}

EXTRAS: Mapping[str, str] = {"govern": "govern"}
"""The extra of the distribution that brings the libraries of a command, where a plain install does not."""

FAILED = 1
USAGE_ERROR = 2


class CommandModule(Protocol):
    """What a module of `commands` has. Its docstring is the description in its help."""

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        ...

    def run(self, options: argparse.Namespace) -> int:
        """Run the command, and return its exit code."""
        ...


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a subcommand, and exit with its code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    if argv and argv[0] in COMMANDS:
        _run(argv[0], argv[1:])
    elif argv and not argv[0].startswith("-"):
        _fail(_unknown_command(argv[0]), USAGE_ERROR)
    else:
        _overview().parse_args(argv or ["--help"])


def _run(name: str, argv: Sequence[str]) -> NoReturn:
    try:
        command = load_command(name)
    except ModuleNotFoundError as error:
        if name not in EXTRAS:
            raise
        needed = f"`toolcharter {name}` needs {error.name}: pip install 'toolcharter[{EXTRAS[name]}]'."
        _fail(needed, FAILED)
    parser = argparse.ArgumentParser(prog=f"toolcharter {name}", description=command.__doc__)
    command.add_arguments(parser)
    own, server_command = _split_at_dashes(argv)
    try:
        options = _parse(parser, own)
        options.command = server_command
        raise SystemExit(command.run(options))
    except DeclarationError as error:
        _fail(f"The server cannot start, its tools are declared wrongly:\n{error}", FAILED)
    except (CannotRun, CannotStart) as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # The program that reads our output has stopped reading. Python would report it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(os.EX_OK) from None


def _parse(parser: argparse.ArgumentParser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command. An option that it does not know may be one of its server's own."""
    options, unknown = parser.parse_known_intermixed_args(argv)
    if unknown and getattr(options, "takes_server_options", False):
        # The value of an unknown option looks like an argument, so a server is recognized by its name alone.
        named = [word for word in argv if word in targets.known() or word.partition(":")[0].endswith(".py")]
        for target in named or (targets.installed() if "servers" in options else []):
            add_own_options(parser, settings_type(targets.find(target)))
    return parser.parse_intermixed_args(argv)


def load_command(name: str) -> CommandModule:  # noqa: C901, PLR0911, PLR0912 - one for each command
    """Import the module of a command, and no other: each needs its own libraries, 80 ms (call) to 350 ms (verify)."""
    match name:
        case "serve":
            from toolcharter.commands import serve  # noqa: PLC0415

            return serve
        case "tools":
            from toolcharter.commands import tools  # noqa: PLC0415

            return tools
        case "call":
            from toolcharter.commands import call  # noqa: PLC0415

            return call
        case "examples":
            from toolcharter.commands import examples  # noqa: PLC0415

            return examples
        case "verify":
            from toolcharter.commands import verify  # noqa: PLC0415

            return verify
        case "lock":
            from toolcharter.commands import lock  # noqa: PLC0415

            return lock
        case "diff":
            from toolcharter.commands import diff  # noqa: PLC0415

            return diff
        case "audit":
            from toolcharter.commands import audit  # noqa: PLC0415

            return audit
        case "config":
            from toolcharter.commands import config  # noqa: PLC0415

            return config
        case "evaluate":
            from toolcharter.commands import evaluate  # noqa: PLC0415

            return evaluate
        case "govern":
            from toolcharter.commands import govern  # noqa: PLC0415

            return govern
        case "token":
            from toolcharter.commands import token  # noqa: PLC0415

            return token
        case _:
            raise ValueError(f"{name!r} is not a command; COMMANDS has all of them")


def _split_at_dashes(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The arguments of the command itself, and those after `--`: a server to start."""
    if "--" not in argv:
        return argv, []
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def _unknown_command(name: str) -> str:
    nearest = get_close_matches(name, COMMANDS, n=1)
    hint = f"Did you mean {nearest[0]!r}? " if nearest else ""
    return f"toolcharter has no command {name!r}. {hint}`toolcharter --help` lists all commands."


def _fail(reason: str, exit_code: int) -> NoReturn:
    print(escape_lines(reason), file=sys.stderr)
    raise SystemExit(exit_code)


def _overview() -> argparse.ArgumentParser:
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
    return parser
