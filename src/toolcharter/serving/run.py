"""The command of a server: `NAME [stdio | http]`, with the same options everywhere."""

import argparse
import asyncio
import gc
import json
import shlex
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_core import mcp_log
from mcp_core.app import App
from mcp_core.declare.steps import steps_line
from mcp_core.foreign.terminal import print_text
from mcp_core.hosts.sdk import loading_sdk
from mcp_core.process.command_line import OptionParser, open_closed_streams
from mcp_core.process.extras import SERVERS, requirement_of
from mcp_core.process.install_command import is_temporary, run_once
from mcp_core.process.interrupt import INTERRUPTED
from mcp_core.process.loading import is_only_loaded
from mcp_core.settings.model import Settings, settings_type
from mcp_core.settings.sources import add_options, from_options
from toolcharter.serving.otlp import set_up_export

if TYPE_CHECKING:
    from toolcharter.serving.server import MakeConsole

Build = Callable[[Any], App]
"""It takes `Settings`, or a subclass for a server with options of its own."""

TRANSPORTS = ("stdio", "http")
logger = mcp_log.get_logger(__name__)

GREETING_TOOLS = 8
"""How many tools the greeting in a terminal names."""


class Program(NamedTuple):
    """The command that starts a server: its own, or `toolcharter stdio NAME`."""

    name: str
    target: str | None = None

    def command(self, transport: str) -> str:
        """The command line for a terminal."""
        return f"{self.name} {transport}" if self.target is None else f"{self.name} {transport} {self.target}"


def run(
    server: App | Build,
    arguments: Sequence[str] | None = None,
    *,
    about: str = "MCP tools.",
    target: str | None = None,
    console: Callable[[], "MakeConsole"] | None = None,
    changes: AsyncIterator[str] | None = None,
) -> None:
    """Serve an app, or the one that a function `build(settings)` makes, as the command line says.

    Returns when the server has ended; at once in a file that a command only loads, such as `toolcharter call`.
    `target` is the name of a server without a command of its own, which `toolcharter stdio NAME` starts. `console`
    loads the web console, for a server over HTTP. It is started anew at each of `changes`.
    """
    given: Any = server
    if not callable(given) and not isinstance(given, App):
        raise TypeError(f"run serves an App, or a function build(settings) -> App, not {given!r}")
    if is_only_loaded(server):
        return
    if isinstance(server, App):
        server.is_used = True
    open_closed_streams()
    command_line = list(sys.argv[1:] if arguments is None else arguments)
    settings_class = settings_type(server)
    program = Program(Path(sys.argv[0]).name, target)
    parser = _parser(program, about, settings_class)
    options = _parse(parser, command_line)
    try:
        settings = from_options(options, settings_class, target or program.name.removeprefix("mcp-"))
        mcp_log.configure(settings.log_level, file=settings.log_file, as_json=settings.log_json)
        set_up_export(settings.otlp, target or program.name)
        app = _with_settings(server, settings)
        log_steps(app)
        if options.transport == "http":
            _serve_http(app, settings, console, changes)
        else:
            run_stdio(app, settings, program, [word for word in command_line if word != "stdio"])
    except Exception as error:  # noqa: BLE001 - it is raised again, or ends the process
        from mcp_core.hosts.fast_path.failed_start import explained  # noqa: PLC0415 - only for a server that fails

        raise explained(parser.prog, error, to_client=options.transport == "stdio") from None


def log_steps(app: App) -> None:
    """Name what is missing in the declarations of its tools, in one line."""
    if line := steps_line(app.registry.get_all()):
        logger.warning("%s: %s `toolcharter verify` has more.", app.name, line)


def _with_settings(server: App | Build, settings: Settings) -> App:
    if not isinstance(server, App):
        return server(settings)
    server.use_settings(settings)
    return server


def _parser(program: Program, about: str, settings_class: type[Settings]) -> OptionParser:
    # A usage with every option would bury the error message for a mistyped one.
    parser = OptionParser(
        prog=program.name,
        usage=f"{program.command('[stdio | http]')} [options]",
        description=f"{about} Serves an MCP client over stdio (the default), or many over HTTP.",
    )
    # Not `choices`: the value of a mistyped option would be reported as a wrong transport.
    parser.add_argument(
        "transport", nargs="?", default="stdio", metavar="stdio | http", help="how to serve; stdio by default"
    )
    add_options(parser, settings_class)
    return parser


def _parse(parser: OptionParser, command_line: Sequence[str]) -> argparse.Namespace:
    try:
        return _parse_words(parser, command_line)
    except SystemExit:
        if parser.problem and "http" not in command_line:
            from mcp_core.hosts.fast_path.failed_start import answer_requests  # noqa: PLC0415 - as above

            answer_requests(f"{parser.prog} cannot start. {parser.problem}")
        raise


def _parse_words(parser: OptionParser, command_line: Sequence[str]) -> argparse.Namespace:
    first = command_line[0] if command_line and not command_line[0].startswith("-") else None
    # A mistyped first word is named before what is wrong with the words after it.
    options = parser.parse_args(command_line if first is None or first in TRANSPORTS else [first])
    if options.transport not in TRANSPORTS:
        parser.error(f"invalid choice: {options.transport!r}; choose stdio or http")
    return options


def _serve_http(
    app: App,
    settings: Settings,
    console: Callable[[], "MakeConsole"] | None,
    changes: AsyncIterator[str] | None,
) -> None:
    with _garbage_collection_off():
        from toolcharter.serving.http import serve_http  # noqa: PLC0415 - 65 ms that stdio does not need

        make_console = None if console is None or settings.no_console else console()
    try:
        serve_http([app], settings, make_console, changes)
    except KeyboardInterrupt:  # the server has shut down by now
        raise SystemExit(INTERRUPTED) from None


def run_stdio(app: App, settings: Settings, program: Program, arguments: Sequence[str]) -> None:
    """Serve one client over stdin and stdout, until its input ends."""
    # A thread that waits for input cannot be woken, so Ctrl+C ends the process at once, as SIGTERM does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.stdin.isatty():
        print_text(greeting(app, program, arguments), file=sys.stderr)
    with _garbage_collection_off():
        if settings.fast_path != "off":
            from mcp_core.hosts.fast_path.stdio import serve_stdio  # noqa: PLC0415 - 2 ms that HTTP does not need
        else:
            with loading_sdk():
                from mcp_core.hosts.sdk.server import serve_stdio  # noqa: PLC0415 - 450 ms, and rarely chosen
    asyncio.run(_serve_and_keep_calls(app, settings, serve_stdio) if settings.calls_keep else serve_stdio(app))


async def _serve_and_keep_calls(app: App, settings: Settings, serve: Callable[[App], Awaitable[None]]) -> None:
    """Serve, and keep recent calls for the console of another process."""
    from toolcharter.call_log.opening import keep_calls  # noqa: PLC0415 - 3 ms, and few servers keep calls over stdio

    async with app, keep_calls([app], settings):
        await serve(app)


@contextmanager
def _garbage_collection_off() -> Generator[None]:
    """For imports: the garbage collector would visit all modules again and again.

    Modules are never freed, so later collections leave out what exists now.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def greeting(app: App, program: Program, arguments: Sequence[str] = ()) -> str:
    """The text for a person who starts a stdio server in a terminal."""
    tools = [tool.name for tool in app.list_tools(app.local_caller)]
    more = f" and {len(tools) - GREETING_TOOLS} more" if len(tools) > GREETING_TOOLS else ""
    names = ", ".join(tools[:GREETING_TOOLS]) + more
    notice = f"{text}\n" if app.notice and (text := app.notice()) else ""
    # uvx has put nothing on the PATH, and its environment may be gone tomorrow.
    once = run_once(requirement_of(app.name)) if is_temporary(Path(sys.prefix)) else ""
    return (
        f"{app.title} {app.version} is waiting for an MCP client on stdin. Tools: {names}.\n"
        f"{notice}"
        f"To try it: {once}{program.command('http')}, then open the address that it prints.\n"
        f"To add it to a client: {_install(app, program, arguments, once)}\n"
        f"  {json.dumps({'mcpServers': {app.name: _start(program, arguments, shlex.split(once))}})}\n"
        "End it with Ctrl+D."
    )


def _install(app: App, program: Program, arguments: Sequence[str], once: str) -> str:
    """How a client gets this server: by a command, if that knows the server, or by an entry in its file."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 19 ms that only a greeting needs

    script = program.name if program.name.endswith(".py") else None
    name = program.target or script or next(iter(entry_points(group=SERVERS, name=app.name).names), None)
    command = f"{once}toolcharter install CLIENT {shlex.join([name, *arguments])}; or write" if name else "write"
    return f"{command} this into its file:"


def _absolute(target: str) -> str:
    """A client starts a server in another folder, so the path of its file must be absolute."""
    name, suffix, rest = target.partition(".py")
    return f"{Path(name).absolute()}{suffix}{rest}" if suffix else target


def _start(program: Program, arguments: Sequence[str], once: Sequence[str]) -> dict[str, Any]:
    """How a client starts this server. The path is absolute: desktop programs do not have the PATH of a shell."""
    script = Path(sys.argv[0]).absolute()
    command = [sys.executable, str(script)] if script.suffix == ".py" else [str(script)]
    if once:
        command = [shutil.which(once[0]) or once[0], *once[1:], script.name]
    named = ["stdio", _absolute(program.target)] if program.target else []
    rest = [*command[1:], *named, *arguments]
    return {"command": command[0], **({"args": rest} if rest else {})}
