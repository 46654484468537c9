"""The command of a server: `NAME [stdio | http]`, with the same options everywhere."""

import argparse
import asyncio
import gc
import importlib
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

INTERRUPTED = 130


def run(build: Build, arguments: Sequence[str] | None = None) -> None:
    """Serve what `build` makes, as the command line says. Does not return before the server ends."""
    parser = argparse.ArgumentParser(
        prog=Path(sys.argv[0]).name, description="Serve MCP tools over stdio (the default) or HTTP."
    )
    parser.add_argument("transport", nargs="?", choices=("stdio", "http"), default="stdio", help="how to serve")
    add_options(parser)
    options = parser.parse_args(arguments)
    settings = from_options(options)
    mcp_log.configure(settings.log_level, file=settings.log_file, as_json=settings.log_json)
    try:
        app = build(settings)
    except DeclarationError as error:
        raise SystemExit(f"{parser.prog} cannot start, its tools are declared wrongly:\n{error}") from None
    # Each transport is loaded only where it is asked for: an agent waits for every import at its own start.
    if options.transport == "http":
        try:
            _load("http").serve_http([app], settings)
        except KeyboardInterrupt:  # the server has ended well by now
            raise SystemExit(INTERRUPTED) from None
    else:
        # A thread that waits for input cannot be woken, so Ctrl+C ends the process at once, as SIGTERM does.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if sys.stdin.isatty():
            sys.stderr.write(greeting(app, parser.prog) + "\n")
        try:
            asyncio.run(_load("lane_stdio" if settings.lane == "fast" else "native").serve_stdio(app))
        except CannotStart as error:
            raise SystemExit(f"{parser.prog} cannot start. {error}") from None


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


def greeting(app: App, program: str) -> str:
    """For a person who starts a stdio server by hand, and would otherwise look at nothing."""
    names = ", ".join(tool.name for tool in app.list_tools())
    return (
        f"{app.title} {app.version} is waiting for an MCP client on stdin. Tools: {names}.\n"
        f"To try it from a terminal: {program} http, then open the address it prints; or add it to your client:\n"
        f'  {{"mcpServers": {{"{app.name}": {{"command": "{program}"}}}}}}\n'
        "End it with Ctrl+D."
    )
