"""Find out which tool would be selected for what a person says, and which tools are confused.

The exit code is 1 when a limit is missed (--at-least, --baseline), 2 when it could not run.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from mcp_core.declare.listed import ListedTool
from toolcharter.commands import CannotRun, asking, connection
from toolcharter.evaluate import as_html, as_markdown
from toolcharter.evaluate.baseline import BadBaseline, worse_than, write_baseline
from toolcharter.evaluate.cases import BadCases, Case, check_tools, digest, read_cases
from toolcharter.evaluate.choice import choose
from toolcharter.evaluate.outcome import Result
from toolcharter.evaluate.report import Report, read_earlier, to_json

OFFLINE = ("bm25", "embedding")
SELECTORS = (*OFFLINE, "chat")
MISSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    connection.add_arguments(parser)
    add = parser.add_argument
    add("--cases", type=Path, required=True, metavar="FILE", help="JSON lines, a JSON list or CSV: utterance, tool")
    add("--selector", type=_selectors, default=("bm25",), metavar="A,B", help="bm25 (default), embedding, chat")
    add("--recall", type=_ranks, default=(), metavar="1,5,10", help="also how often the tool is among the first k")
    add("--against", metavar="OTHER", help="another server, or an earlier report in JSON, to compare with")
    add("--format", choices=("json", "html", "markdown"), help="default: laid out for the terminal")
    add("--output", type=Path, metavar="FILE", help="where to write it; default: standard output")
    add("--at-least", type=float, metavar="PERCENT", help="fail when a selector's accuracy is below")
    add("--baseline", type=Path, metavar="FILE", help="fail when a selector has become worse than this file says")
    add("--tolerance", type=float, default=3.0, metavar="POINTS", help="by more than so many points; default: 3")
    add("--renew", action="store_true", help="write the baseline instead of comparing with it")
    asking.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Evaluate and report."""
    try:
        return asyncio.run(_run(options))
    except (BadCases, BadBaseline) as error:
        raise CannotRun(str(error)) from None


async def _run(options: argparse.Namespace) -> int:
    if options.renew and options.baseline is None:
        raise CannotRun("--renew writes a baseline; say where, with --baseline FILE.")
    cases = read_cases(options.cases)
    tools = await _tools(options)
    check_tools(cases, tools)
    results = [await _select(name, tools, cases, options) for name in options.selector]
    earlier = await _earlier(options, cases) if options.against else []
    report = Report(_target(options), digest(cases), results, options.recall, options.against, earlier)
    _write(report, options)
    if any(result.unanswered for result in [*results, *earlier]):
        raise CannotRun("Some cases got no answer; run the same command again to ask only about those.")
    return _judge(report, options)


async def _tools(options: argparse.Namespace) -> list[ListedTool]:
    async with connection.connect(options) as server:
        return await server.list_tools()


async def _select(name: str, tools: Sequence[ListedTool], cases: Sequence[Case], options: argparse.Namespace) -> Result:
    if name == "chat":
        return await asking.select(tools, cases, options)
    try:
        selector = import_module(f"toolcharter.evaluate.{name}").Selector()
    except ImportError as error:
        raise CannotRun(f"{name} needs the extra: pip install 'toolcharter[evaluate]' ({error}).") from None
    scores = selector.score(tools, [case.utterance for case in cases])
    return choose(name, cases, [tool.name for tool in tools], scores)


async def _earlier(options: argparse.Namespace, cases: Sequence[Case]) -> list[Result]:
    """The results of an earlier report, or of the other server on the same cases."""
    if options.against.endswith(".json"):
        try:
            found = read_earlier(Path(options.against))
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise CannotRun(f"{options.against} cannot be read: {error}") from None
        if found is not None:
            return found
    other = argparse.Namespace(**vars(options) | {"server": options.against, "command": []})
    tools = await _tools(other)
    return [await _select(name, tools, cases, options) for name in options.selector]


def _write(report: Report, options: argparse.Namespace) -> None:
    if options.format is None and options.output is None:
        if sys.stdout.isatty():
            Console().print(Markdown(as_markdown.render(report)))
        else:
            print(as_markdown.render(report), end="")
        return
    if options.format == "json":
        text = json.dumps(to_json(report), indent=2, ensure_ascii=False) + "\n"
    else:
        text = (as_html if options.format == "html" else as_markdown).render(report)
    if options.output is None:
        print(text, end="")
        return
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRun(f"{options.output} cannot be written: {error}") from None


def _judge(report: Report, options: argparse.Namespace) -> int:
    faults: list[str] = []
    if options.at_least is not None:
        faults += [
            f"{name} selects the right tool in {found.accuracy.value:.1%} of cases, less than {options.at_least:g} %."
            for name, found in report.figures().items()
            if found.accuracy.value * 100 < options.at_least
        ]
    if options.renew:
        write_baseline(report, options.baseline)
    elif options.baseline is not None:
        faults += worse_than(report, options.baseline, options.tolerance)
    for fault in faults:
        print(fault, file=sys.stderr)
    return MISSED if faults else os.EX_OK


def _target(options: argparse.Namespace) -> str:
    return " ".join(options.command) if options.command else str(options.server)


def _selectors(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not names or set(names) - set(SELECTORS):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of {', '.join(SELECTORS)}")
    return names


def _ranks(text: str) -> tuple[int, ...]:
    try:
        ranks = tuple(sorted({int(word) for word in text.split(",")}))
    except ValueError:
        ranks = ()
    if not ranks or ranks[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers from 1 on, such as 1,5,10")
    return ranks
