"""Run every example that a server declares, and show where one does not do what it says.

Each runs in a server of its own, on a database that is made for it; give an empty one with --db. The exit code is 1
when an example differs, 2 when none could be run. Readable on a terminal, JSON in a pipe.
"""

import argparse
import asyncio
import os
import sys

from rich.console import Console
from rich.markup import escape

from mcp_core import mcp_log
from mcp_core.app import App
from mcp_core.settings import Settings, add_options, from_options
from toolcharter import examples, targets
from toolcharter.commands import CannotRun
from toolcharter.commands.connection import print_json
from toolcharter.examples import Outcome

DIFFERS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("server", nargs="?", metavar="SERVER", help="an installed server, file.py or module:object")
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="only the examples of this tool")
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run them, one after the other."""
    # A database named in the environment is in use; examples change one only if it is given right here.
    settings = from_options(options).model_copy(update={"db": options.db})
    level = "CRITICAL" if options.log_level is None else settings.log_level
    mcp_log.configure(level, file=settings.log_file, as_json=settings.log_json)
    target = _ours(options, settings)
    try:
        outcomes = asyncio.run(examples.try_all(lambda given: targets.load(target, given), settings, options.tool))
    except examples.CannotRehearse as error:
        raise CannotRun(str(error)) from None
    _show(outcomes)
    return os.EX_OK if all(outcome.ok for outcome in outcomes) else DIFFERS


def _ours(options: argparse.Namespace, settings: Settings) -> str:
    """The target, where it is a server that declares examples, and the tool too."""
    target: str = options.server or ""
    if not target and not options.command:
        raise CannotRun("Which server? Give an installed server, file.py or module:object.")
    if options.command or targets.is_address(target) or target.endswith(".json"):
        raise CannotRun("MCP has no field for examples, so a server behind an address or a command declares none.")
    try:
        app = targets.load_any(target, settings)
    except targets.NoSuchTarget as error:
        raise CannotRun(str(error)) from None
    if not isinstance(app, App):
        raise CannotRun(
            f"{target!r} is a {type(app).__name__}, which declares no examples; an App of toolcharter does."
        )
    if not examples.declared(app, options.tool):
        raise CannotRun(_nothing(app, options.tool))
    return target


def _nothing(app: App, tool: str | None) -> str:
    names = list(app.registry.final_names().values())
    known = tool is None or app.registry.get(tool) is not None or tool in names
    what = repr(app.name) if tool is None else repr(tool)
    return f"{what} declares no examples." if known else f"No tool {tool!r}. There are: {', '.join(names)}."


def _show(outcomes: list[Outcome]) -> None:
    if not sys.stdout.isatty():
        rows = [{"tool": o.tool, "example": o.example, "ok": o.ok, "differences": o.differences} for o in outcomes]
        print_json({"ok": all(o.ok for o in outcomes), "examples": rows})
        return
    out = Console(highlight=False, soft_wrap=True)
    for outcome in outcomes:
        mark = "[green]ok[/]     " if outcome.ok else "[bold red]differs[/]"
        out.print(f"{mark} [bold]{outcome.tool}[/] {escape(outcome.example)}")
        for sentence in outcome.differences:
            out.print(f"          {escape(sentence)}")
    good = sum(outcome.ok for outcome in outcomes)
    out.print(f"{good} of {len(outcomes)} examples do what they say.")
