"""Run every example that a server declares, and show where a result differs from the declared one.

Each example runs in a server of its own, on a new database, or on the one that --db names. The exit code is 1 if an
example differs. A terminal gets lines, a pipe gets JSON.
"""

import argparse
import os
import sys

from rich.markup import escape

from mcp_core import mcp_log
from mcp_core.app import App
from mcp_core.process.interrupt import run_interruptible
from mcp_core.settings.model import AUDIT_SETTINGS, Settings
from mcp_core.settings.sources import from_options
from toolcharter.commands import CannotRun, UsageError, connection
from toolcharter.commands.interface import is_address
from toolcharter.local import examples, targets
from toolcharter.local.examples import ExampleResult
from toolcharter.output.terminal import TerminalConsole

DIFFERS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s [options] SERVER [TOOL]"
    parser.add_argument("server", nargs="?", metavar="SERVER", help="an installed server, file.py or module:object")
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="only the examples of this tool")
    # Each example has its own data and a caller with all permissions.
    without = {"redis", "redis_timeout", "limits_without_redis", "user", "grants", *AUDIT_SETTINGS}
    connection.add_settings(parser, without=without)


def run(options: argparse.Namespace) -> int:
    """Run the examples one after the other."""
    # A database that the environment names has real data. Examples change a database only if --db names it.
    settings = from_options(options).model_copy(update={"db": getattr(options, "db", None)})
    level = "CRITICAL" if getattr(options, "log_level", None) is None else settings.log_level
    mcp_log.configure(level, file=settings.log_file, as_json=settings.log_json)
    target = _target_with_examples(options, settings)
    try:
        results = run_interruptible(
            examples.run_examples(lambda isolated: targets.load(target, isolated), settings, options.tool)
        )
    except examples.CannotRunExamples as error:
        raise CannotRun(str(error)) from None
    _print_results(results)
    return os.EX_OK if all(result.ok for result in results) else DIFFERS


def _target_with_examples(options: argparse.Namespace, settings: Settings) -> str:
    """The target, if it is a server that declares examples for the tool, or for any tool."""
    target: str = options.server or ""
    if not target and not options.command:
        raise UsageError("No server was given. Give an installed server, file.py or module:object.")
    if options.command or is_address(target) or target.endswith(".json"):
        raise UsageError("MCP has no field for examples, so a server behind an address or a command declares none.")
    app = targets.load_any(target, settings)
    if not isinstance(app, App):
        raise UsageError(f"{target!r} is a {type(app).__name__}, which cannot declare examples. Give an App.")
    if not examples.declared_examples(app, options.tool):
        raise UsageError(_no_examples(app, options.tool))
    return target


def _no_examples(app: App, tool: str | None) -> str:
    names = list(app.registry.final_names().values())
    if tool is None or app.registry.get(tool) is not None or tool in names:
        return f"{(tool or app.name)!r} declares no examples."
    return connection.unknown_tool(tool, names)


def _print_results(results: list[ExampleResult]) -> None:
    if not sys.stdout.isatty():
        rows = [{"tool": r.tool, "example": r.example, "ok": r.ok, "differences": r.differences} for r in results]
        connection.print_json({"ok": all(r.ok for r in results), "examples": rows})
        return
    out = TerminalConsole(highlight=False, soft_wrap=True)
    for result in results:
        mark = "[green]ok[/]     " if result.ok else "[bold red]differs[/]"
        out.print(f"{mark} [bold]{result.tool}[/] {escape(result.example)}")
        for sentence in result.differences:
            out.print(f"          {escape(sentence)}")
    passed = sum(result.ok for result in results)
    out.print(f"{passed} of {len(results)} examples gave the declared result.")
