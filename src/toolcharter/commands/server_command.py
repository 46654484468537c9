"""Starts one server as its own command does: `toolcharter stdio todo` is `mcp-todo stdio`."""

import argparse
import inspect
import os
import sys
from collections.abc import AsyncIterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from mcp_core.app import App
from toolcharter.app import run
from toolcharter.local import targets
from toolcharter.packaging.launch import script_of
from toolcharter.serving.run import Build


def add_arguments(
    parser: argparse.ArgumentParser, name: str = "NAME", about: str = "an installed server, file.py or module:object"
) -> None:
    """Declare the arguments. Everything after the name is for the server."""
    parser.usage = f"%(prog)s {name} [options]"
    parser.add_argument("server", metavar=name, help=about)
    words = parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="options", help=f"of the server: {parser.prog} {name} --help"
    )
    words.required = False  # so that the error for a missing name does not ask for them too
    parser.set_defaults(takes_words=True)


def start(transport: str, options: argparse.Namespace, changes: AsyncIterator[str] | None = None) -> int:
    """Serve until the client leaves, or a signal. Over HTTP, the server is started anew at each of `changes`."""
    words = [transport, *options.words]
    servers = targets.known()
    entry = servers.get(options.server)
    script = script_of(entry) if entry else None
    if script is not None and changes is None:
        _run_script(script, words)
    else:
        found = _server(targets.find(options.server, servers), options.server)
        run(found, words, target=options.server, changes=changes)
    return os.EX_OK


def _run_script(script: EntryPoint, words: list[str]) -> None:
    """Run the server's own command, which may do more than `build`, under its own name."""
    sys.argv = [str(Path(sys.argv[0]).with_name(script.name)), *words]
    script.load()()


def _server(found: Any, target: str) -> App | Build:
    return found if inspect.isfunction(found) else targets.require_app(found, target)
