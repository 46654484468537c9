"""Hold any MCP server to the rules. The exit code is 1 when there are findings, 2 when it could not look."""

import argparse
import asyncio
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from toolcharter.commands import CannotRun, connection
from toolcharter.commands.connection import Connection, app_of
from toolcharter.commands.rules import explain, list_rules
from toolcharter.verify import config
from toolcharter.verify.engine import RuleFailed, Step, server_of
from toolcharter.verify.live import check_live, live_rules
from toolcharter.verify.outcome import SEVERITIES, Outcome, examine
from toolcharter.verify.report import FORMATS, format_for, render
from toolcharter.verify.report.groups import count_line, headline
from toolcharter.verify.report.text import show
from toolcharter.verify.rule import Finding, Rule
from toolcharter.verify.rules import all_rules
from toolcharter.verify.selection import Selection, UnknownRule, read_selection
from toolcharter.verify.subject import Server

FOUND = 1
RULES = "a family, an id, the beginning of an id, a name, or one of them for some tools, such as DSC001:get_*"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    connection.add_arguments(parser)
    rules = parser.add_argument_group("rules")
    rules.add_argument("--select", action="append", default=[], metavar="RULE", help=f"run only these: {RULES}")
    rules.add_argument("--ignore", action="append", default=[], metavar="RULE[=WHY]", help="do not count these")
    rules.add_argument(
        "--config", type=Path, metavar="FILE", help="read [tool.toolcharter.verify] from it [pyproject.toml]"
    )
    rules.add_argument("--live", action="store_true", help="also call the tools that are declared read-only")
    rules.add_argument("--live-all", action="store_true", help="also call all others: on a server that may be changed")
    rules.add_argument("--list", action="store_true", dest="list_rules", help="list the rules")
    rules.add_argument("--explain", metavar="RULE", help="show a rule with its reason, its fix and its examples")
    report = parser.add_argument_group("report")
    report.add_argument("--format", choices=FORMATS, help="the form of the report [by --output, else text]")
    report.add_argument("--output", type=Path, metavar="FILE", help="write the report to a file")
    report.add_argument(
        "--severity", choices=SEVERITIES, default="warning", help="the least that gives the exit code 1 [warning]"
    )
    report.add_argument("--at-least", type=float, metavar="SCORE", help="exit with 1 when the server scores less")


def run(options: argparse.Namespace) -> int:
    """Look, report, and say with the exit code what came out."""
    try:
        if options.list_rules:
            return list_rules(read_selection(options.select, {}, known_rules()).rules(known_rules()))
        if options.explain:
            return explain(options.explain, known_rules())
        outcome = asyncio.run(_examine(options))
    except (config.BadConfig, UnknownRule, RuleFailed) as error:
        raise CannotRun(str(error)) from error
    _report(outcome, options)
    return _exit_code(outcome, options.at_least)


def known_rules() -> tuple[Rule, ...]:
    """All rules, those for running servers included."""
    return (*all_rules(), *live_rules())


async def _examine(options: argparse.Namespace) -> Outcome:
    live = options.live or options.live_all
    if live and (options.server or "").endswith(".json"):
        raise CannotRun("A file cannot be called; leave out --live, or give a server that runs.")
    async with connection.connect(options, only_listed=not live) as running:
        tools = await running.list_tools()
        own_name, _ = running.identity
        selection = _selection(options, {own_name, options.server or " ".join(options.command)})
        server = server_of(tools, own_name, app_of(running))
        rules = [rule for rule in known_rules() if live or rule.family != "live"]
        seen = await _live(running, server, selection.rules(rules), every=options.live_all) if live else []
    with _progress("rules", len(rules)) as step:
        return examine(
            server, rules, selection, seen=seen, fails_on=options.severity, file=_file(options.server), step=step
        )


async def _live(running: Connection, server: Server, rules: Sequence[Rule], *, every: bool) -> list[Finding]:
    with _progress("tools", len(server.tools)) as step:
        return await check_live(server, running, rules, all_tools=every, step=step)


def _selection(options: argparse.Namespace, names: set[str]) -> Selection:
    """What the project says about this server, and what was said on the command line."""
    known = known_rules()
    written = config.read(options.config, names, known)
    given = dict(text.partition("=")[::2] for text in options.ignore)
    ignore = {**written.ignore, **{rule: why or "on the command line" for rule, why in given.items()}}
    return read_selection(options.select or written.select, ignore, known)


def _file(server: str | None) -> str | None:
    """The file that a server is read from: tools.json, or server.py in server.py:object."""
    name, python, _ = (server or "").partition(".py")
    path = Path(name + python)
    return path.as_posix() if path.suffix in (".json", ".py") else None


@contextmanager
def _progress(what: str, number: int) -> Generator[Step]:
    """A bar on stderr, for someone who waits at a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=number)
        yield lambda name: bar.update(task, advance=1, description=name)


def _report(outcome: Outcome, options: argparse.Namespace) -> None:
    form = options.format or (format_for(options.output) if options.output else None) or "text"
    if options.output is not None:
        try:
            options.output.write_text(render(outcome, form), encoding="utf-8")
        except OSError as error:
            raise CannotRun(f"The report cannot be written to {options.output}: {error.strerror}.") from None
        print(
            f"{outcome.server.name}: {headline(outcome)}; {count_line(outcome)}. See {options.output}.", file=sys.stderr
        )
    elif form == "text":
        show(outcome, Console(highlight=False))
    else:
        print(render(outcome, form), end="")


def _exit_code(outcome: Outcome, least: float | None) -> int:
    if least is not None and outcome.scores.score < least:
        print(f"The score is {outcome.scores.score}, and {least:g} was asked for.", file=sys.stderr)
        return FOUND
    return FOUND if outcome.failures else os.EX_OK
