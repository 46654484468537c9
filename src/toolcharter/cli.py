"""The `toolcharter` command. Each subcommand is a module of `commands`, loaded only when it is called."""

import argparse
import importlib
import os
import sys
from collections.abc import Mapping, Sequence

from mcp_core.errors import CannotStart, DeclarationError

COMMANDS: Mapping[str, str] = {
    "serve": "serve installed servers over HTTP, on one port",
    "tools": "list a server's tools, or show one in full",
    "call": "call a tool from the terminal",
    "examples": "run the examples that a server declares",
    "verify": "say what agents will stumble over in a server",
    "lock": "write down what a server shows, or check it",
    "diff": "compare locks or servers, and say what breaks",
    "evaluate": "find out which tool is selected for what people say",
}

COULD_NOT_RUN = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a subcommand and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in COMMANDS:
        _overview().parse_args(given or ["--help"])
        return
    command = importlib.import_module(f"toolcharter.commands.{given[0]}")
    parser = argparse.ArgumentParser(prog=f"toolcharter {given[0]}", description=command.__doc__)
    command.add_arguments(parser)
    given, started = _apart(given)
    try:
        options = parser.parse_intermixed_args(given[1:])
        options.command = started
        raise SystemExit(command.run(options))
    except DeclarationError as error:
        _give_up(f"The server cannot start, its tools are declared wrongly:\n{error}")
    except (command.CannotRun, CannotStart) as error:
        _give_up(str(error))
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # The program that reads our output has had enough. Python would complain about it once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(os.EX_OK) from None


def _apart(given: list[str]) -> tuple[list[str], list[str]]:
    """The command's own arguments, and those after `--`: a server to be started."""
    if "--" not in given:
        return given, []
    cut = given.index("--")
    return given[:cut], given[cut + 1 :]


def _give_up(reason: str) -> None:
    print(reason, file=sys.stderr)
    raise SystemExit(COULD_NOT_RUN)


def _overview() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="toolcharter", description="MCP tools that agents can rely on.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, words in COMMANDS.items():
        commands.add_parser(name, help=words, add_help=False)
    return parser
