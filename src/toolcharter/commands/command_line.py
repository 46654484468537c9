"""Runs a command of `toolcharter`: its arguments, its errors and its exit code."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, Protocol

from mcp_core.foreign.terminal import print_text
from mcp_core.process.command_line import OptionParser, open_closed_streams
from mcp_core.process.start_errors import CannotStart, DeclarationError
from toolcharter.commands import CannotRun

EXTRAS: Mapping[str, str] = {"govern": "govern"}
"""The extra of the distribution that brings the libraries of a command, where a plain install does not."""

FAILED = 1


class CommandModule(Protocol):
    """The interface of a module of `commands`. Its docstring is the description in its help."""

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        ...

    def run(self, options: argparse.Namespace) -> int:
        """Run the command, and return its exit code."""
        ...


def run_command(name: str, argv: Sequence[str]) -> NoReturn:
    """Run a subcommand, and exit with its code."""
    open_closed_streams()
    try:
        command = load_command(name)
    except ModuleNotFoundError as error:
        if name not in EXTRAS:
            raise
        from mcp_core.process.install_command import install_command  # noqa: PLC0415 - 20 ms, and rarely

        _fail(f"`toolcharter {name}` needs {error.name}: {install_command(EXTRAS[name])}", FAILED)
    parser = OptionParser(prog=f"toolcharter {name}", description=command.__doc__)
    command.add_arguments(parser)
    own, server_command = _split_at_dashes(argv)
    try:
        options = _parse(parser, own)
        options.command = server_command
        raise SystemExit(command.run(options))
    except DeclarationError as error:
        reason = f"The server cannot start, its tools are declared wrongly:\n{error}"
        _fail(reason, FAILED, to_client="stdio" in (name, *argv[:1]))
    except (CannotRun, CannotStart) as error:
        _fail(str(error), error.exit_code, to_client="stdio" in (name, *argv[:1]))
    except BrokenPipeError:
        # The program that reads our output has stopped reading. Python would report it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(os.EX_OK) from None


def _parse(parser: argparse.ArgumentParser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command. An option that it does not know may be a setting of its server."""
    late_options: Callable[[], None] | None = parser.get_default("late_options")
    takes_words = parser.get_default("takes_words")
    if late_options and (takes_words or any(word.startswith(("-h", "--h")) for word in argv)):
        late_options()
        late_options = None
    if takes_words:
        return parser.parse_args(argv)
    options, unknown = parser.parse_known_intermixed_args(argv)
    if unknown and late_options:
        late_options()
        options, unknown = parser.parse_known_intermixed_args(argv)
    if unknown and getattr(options, "takes_server_options", False):
        _add_own_options(parser, argv, options)
    return parser.parse_intermixed_args(argv)


def _add_own_options(parser: argparse.ArgumentParser, argv: Sequence[str], options: argparse.Namespace) -> None:
    """Add the options of the server that the arguments name."""
    from mcp_core.settings.model import settings_type  # noqa: PLC0415 - the same
    from mcp_core.settings.sources import add_own_options  # noqa: PLC0415 - 300 ms, the framework
    from toolcharter.local import targets  # noqa: PLC0415 - the same

    # The value of an unknown option looks like an argument, so a server is recognized by its name alone.
    named = [word for word in argv if word in targets.known() or word.partition(":")[0].endswith(".py")]
    for target in named or (targets.available() if "servers" in options else []):
        add_own_options(parser, settings_type(targets.find(target)))


def load_command(name: str) -> CommandModule:  # noqa: C901, PLR0911, PLR0912 - one for each command
    """Import the module of a command, and no other: each needs its own libraries, 80 ms (call) to 350 ms (verify)."""
    match name:
        case "serve":
            from toolcharter.commands import serve  # noqa: PLC0415

            return serve
        case "stdio":
            from toolcharter.commands import stdio  # noqa: PLC0415

            return stdio
        case "http":
            from toolcharter.commands import http  # noqa: PLC0415

            return http
        case "dev":
            from toolcharter.commands import dev  # noqa: PLC0415

            return dev
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
        case "db":
            from toolcharter.commands import db  # noqa: PLC0415

            return db
        case "evaluate":
            from toolcharter.commands import evaluate  # noqa: PLC0415

            return evaluate
        case "govern":
            from toolcharter.commands import govern  # noqa: PLC0415

            return govern
        case "token":
            from toolcharter.commands import token  # noqa: PLC0415

            return token
        case "install":
            from toolcharter.commands import install  # noqa: PLC0415

            return install
        case "doctor":
            from toolcharter.commands import doctor  # noqa: PLC0415

            return doctor
        case "new":
            from toolcharter.commands import new  # noqa: PLC0415

            return new
        case "package":
            from toolcharter.commands import package  # noqa: PLC0415

            return package
        case _:
            raise ValueError(f"{name!r} is not a command; COMMANDS has all of them")


def _split_at_dashes(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The arguments of the command itself, and those after `--`: a server to start."""
    if "--" not in argv:
        return argv, []
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def _fail(reason: str, exit_code: int, *, to_client: bool = False) -> NoReturn:
    print_text(reason, file=sys.stderr, flush=True)
    if to_client:
        from mcp_core.hosts.fast_path.failed_start import answer_requests  # noqa: PLC0415 - 20 ms, and rarely

        answer_requests(reason)
    raise SystemExit(exit_code)
