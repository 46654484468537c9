"""Verify an MCP server against the rules. The exit code is 1 if there are findings."""

import argparse
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.markup import escape

from mcp_core.declare.listed import ListedTool
from mcp_core.foreign.terminal import escape_invisible, print_data, print_text
from mcp_core.process.interrupt import run_interruptible
from toolcharter.commands import CannotRun, UsageError, connection, require_file
from toolcharter.commands.connection import local_app
from toolcharter.commands.interface import ServerConnection
from toolcharter.commands.rules import explain, list_rules
from toolcharter.output.terminal import TerminalConsole, report_console
from toolcharter.verify import config
from toolcharter.verify.engine import OnStep, RuleFailed, run_live_rules, server_from_tools
from toolcharter.verify.live.probe import probe_server
from toolcharter.verify.live.summary import live_notes
from toolcharter.verify.model import OtherText, Server
from toolcharter.verify.other_texts import other_texts
from toolcharter.verify.report import FORMATS, format_for, render
from toolcharter.verify.report.groups import count_line, headline
from toolcharter.verify.report.text import print_report
from toolcharter.verify.result import SEVERITIES, LiveResult, VerifyResult, verify_server
from toolcharter.verify.rule import Rule
from toolcharter.verify.rules import all_rules
from toolcharter.verify.selection import RuleSelection, UnknownRule, parse_selection

FAILED = 1
RULES = "a family, an id, the beginning of an id, a name, or one of them for some tools, such as DSC001:get_*"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    connection.add_arguments(parser)
    rules = parser.add_argument_group("rules")
    rules.add_argument("--select", action="append", default=[], metavar="RULE", help=f"run only these: {RULES}")
    rules.add_argument("--ignore", action="append", default=[], metavar="RULE[=WHY]", help="do not count these")
    rules.add_argument(
        "--config",
        dest="rules_config",
        type=Path,
        metavar="FILE",
        help="read [tool.toolcharter.verify] from this file [pyproject.toml]",
    )
    rules.add_argument("--live", action="store_true", help="also call the tools that are declared read-only")
    rules.add_argument("--live-all", action="store_true", help="also call all others; the server's data may change")
    rules.add_argument("--list", action="store_true", dest="list_rules", help="list the rules")
    rules.add_argument("--explain", metavar="RULE", help="show a rule with its reason, its fix and examples")
    report = parser.add_argument_group("report")
    report.add_argument("--format", choices=FORMATS, help="format of the report [by the name of --output, else text]")
    report.add_argument("--output", type=Path, metavar="FILE", help="write the report to a file")
    report.add_argument(
        "--severity", choices=SEVERITIES, default="warning", help="lowest severity that gives exit code 1 [warning]"
    )
    report.add_argument("--at-least", type=float, metavar="SCORE", help="exit with 1 if the score is lower")
    connection.add_settings(parser)


def run(options: argparse.Namespace) -> int:
    """Verify the server, write the report, and return the exit code."""
    try:
        if options.list_rules:
            return list_rules(parse_selection(options.select, {}, all_rules()).rules(all_rules()))
        if options.explain:
            return explain(options.explain, all_rules())
        result = run_interruptible(_verify(options))
    except UnknownRule as error:
        raise UsageError(str(error)) from error
    except (config.InvalidConfig, RuleFailed) as error:
        raise CannotRun(str(error)) from error
    _write_report(result, options)
    return _exit_code(result, options.at_least)


async def _verify(options: argparse.Namespace) -> VerifyResult:
    live = options.live or options.live_all
    if live and (options.server or "").endswith(".json"):
        raise UsageError("The tools in a file cannot be called. Leave out --live, or give a server that runs.")
    async with connection.connect(options, list_only=not live) as running:
        tools = await running.list_tools()
        name, _ = running.identity
        selection = _selection(options, {name, options.server or " ".join(options.command)})
        texts = await running.other_texts()
        for problem in texts.get("problems", ()):
            print_text(problem, file=sys.stderr)
        server = _server_to_verify(running, tools, name, other_texts(texts))
        rules = [rule for rule in all_rules() if live or rule.check_live is None]
        live_result = await _call_tools(running, server, selection.rules(rules), options) if live else None
    with _progress("rules", len(rules)) as on_step:
        return verify_server(
            server,
            rules,
            selection,
            live=live_result,
            fails_on=options.severity,
            file=_file(options.server),
            on_step=on_step,
        )


def _server_to_verify(
    running: ServerConnection, tools: Sequence[ListedTool], name: str, others: Sequence[OtherText]
) -> Server:
    """The server that rules check; with its declarations, if it is one of ours and in this process."""
    app = local_app(running)
    if app is None:
        return server_from_tools(tools, name, others)
    from toolcharter.local.app_verification import server_from_app  # noqa: PLC0415 - the framework, which the app has loaded

    return server_from_app(app, tools, name, others)


async def _call_tools(
    running: ServerConnection, server: Server, rules: Sequence[Rule], options: argparse.Namespace
) -> LiveResult:
    with _progress("tools", len(server.tools)) as on_step:
        observations = await probe_server(
            server, running, all_tools=options.live_all, on_step=on_step, command=options.command
        )
    findings = run_live_rules(server, observations, rules)
    return LiveResult(findings, observations.called, live_notes(observations, len(server.tools)))


def _selection(options: argparse.Namespace, names: set[str]) -> RuleSelection:
    """The selection of the configuration for this server, and of the command line."""
    known = all_rules()
    if options.rules_config is not None:
        require_file(options.rules_config)
    configured = config.read(options.rules_config, names, known)
    given = dict(text.partition("=")[::2] for text in options.ignore)
    ignore = {**configured.ignore, **{rule: why or "on the command line" for rule, why in given.items()}}
    return parse_selection(options.select or configured.select, ignore, known)


def _file(server: str | None) -> str | None:
    """The file that a server is read from: tools.json, or server.py in server.py:object."""
    name, python, _ = (server or "").partition(".py")
    path = Path(name + python)
    return path.as_posix() if path.suffix in (".json", ".py") else None


@contextmanager
def _progress(title: str, steps: int) -> Generator[OnStep]:
    """A progress bar on stderr, if it is a terminal."""
    console = TerminalConsole(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415 - 10 ms

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=steps)
        yield lambda name: bar.update(task, advance=1, description=escape(escape_invisible(name)))


def _write_report(result: VerifyResult, options: argparse.Namespace) -> None:
    name = options.format or (format_for(options.output) if options.output else None) or "text"
    if options.output is not None:
        try:
            options.output.write_text(render(result, name), encoding="utf-8")
        except OSError as error:
            raise CannotRun(f"The report cannot be written to {options.output}: {error.strerror}.") from None
        summary = (
            f"{escape_invisible(result.server.name)}: {headline(result)}; {count_line(result)}. See {options.output}."
        )
        print_text(summary, file=sys.stderr)
    elif name == "text":
        print_report(result, report_console())
    else:
        print_data(render(result, name))


def _exit_code(result: VerifyResult, required_score: float | None) -> int:
    score = result.scores.score
    if required_score is not None and (score is None or score < required_score):
        reached = "There is no score" if score is None else f"The score is {score}"
        print_text(f"{reached}, but it must be at least {required_score:g}.", file=sys.stderr)
        return FAILED
    return FAILED if result.failures else os.EX_OK
