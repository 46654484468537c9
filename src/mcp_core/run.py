"""The command of a server: `NAME [stdio | http]`, with the same options everywhere."""

import argparse
import asyncio
import gc
import importlib
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mcp_core import mcp_log
from mcp_core.app import App
from mcp_core.errors import CannotStart, DeclarationError
from mcp_core.settings import Settings, add_options, from_options

Build = Callable[[Settings], App]

TRANSPORTS = ("stdio", "http")

INTERRUPTED = 130


def run(
    build: Build,
    arguments: Sequence[str] | None = None,
    *,
    about: str = "MCP tools.",
    settings_type: type[Settings] = Settings,
) -> None:
    """Serve what `build` makes, as the command line says. Does not return before the server ends.

    `settings_type` is a subclass of Settings, where a server has options of its own.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(about, settings_type)
    options = parser.parse_args(given)
    if options.transport not in TRANSPORTS:
        parser.error(f"invalid choice: {options.transport!r}; choose stdio or http")
    settings = from_options(options, settings_type)
    mcp_log.configure(settings.log_level, file=settings.log_file, as_json=settings.log_json)
    try:
        app = build(settings)
    except DeclarationError as error:
        raise SystemExit(f"{parser.prog} cannot start, its tools are declared wrongly:\n{error}") from None
    # Each transport is loaded only where it is asked for: an agent waits for every import at its own start.
    if options.transport == "http":
        try:
            _load("site.server").serve_http([app], settings)
        except KeyboardInterrupt:  # the server has ended well by now
            raise SystemExit(INTERRUPTED) from None
    else:
        # A thread that waits for input cannot be woken, so Ctrl+C ends the process at once, as SIGTERM does.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if sys.stdin.isatty():
            sys.stderr.write(greeting(app, parser.prog, given) + "\n")
        try:
            asyncio.run(_load("lane.stdio" if settings.lane == "fast" else "sdk.server").serve_stdio(app))
        except CannotStart as error:
            raise SystemExit(f"{parser.prog} cannot start. {error}") from None


def _parser(about: str, settings_type: type[Settings]) -> argparse.ArgumentParser:
    name = Path(sys.argv[0]).name
    # With every option in the usage, it would bury the message that a mistyped one leads to.
    parser = argparse.ArgumentParser(
        prog=name,
        usage=f"{name} [stdio | http] [options]",
        description=f"{about} Serves an MCP client over stdio (the default), or many over HTTP.",
    )
    # Not as choices: the value of a mistyped option would be taken for a wrong transport.
    parser.add_argument(
        "transport", nargs="?", default="stdio", metavar="stdio | http", help="how to serve; stdio where left out"
    )
    add_options(parser, settings_type)
    return parser


def _load(host: str) -> Any:
    """Import a host without the garbage collector, which would walk all modules again and again.

    They stay for good, so later collections leave them out too.
    """
    gc.disable()
    try:
        return importlib.import_module(f"mcp_core.hosts.{host}")
    finally:
        gc.freeze()
        gc.enable()


def greeting(app: App, program: str, arguments: Sequence[str] = ()) -> str:
    """For a person who starts a stdio server by hand, and would otherwise look at nothing."""
    names = ", ".join(tool.name for tool in app.list_tools())
    return (
        f"{app.title} {app.version} is waiting for an MCP client on stdin. Tools: {names}.\n"
        f"To try it from a terminal: {program} http, then open the address it prints; or add it to your client:\n"
        f"  {json.dumps({'mcpServers': {app.name: _start(arguments)}})}\n"
        "End it with Ctrl+D."
    )


def _start(arguments: Sequence[str]) -> dict[str, Any]:
    """How a client starts this very server. Its path is absolute: a desktop program knows no PATH of a shell."""
    script = Path(sys.argv[0]).absolute()
    command = [sys.executable, str(script)] if script.suffix == ".py" else [str(script)]
    rest = [*command[1:], *(word for word in arguments if word != "stdio")]
    return {"command": command[0], **({"args": rest} if rest else {})}
