"""The options of the selector `chat`, and the confirmation of its cost. Prefer the environment for the key."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import Progress

from mcp_core.declare.listed import ListedTool
from mcp_core.foreign.terminal import print_text
from toolcharter.commands import CannotRun, UsageError
from toolcharter.commands.questions import ask_on_terminal
from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.result import SelectorResult
from toolcharter.output.terminal import TerminalConsole

if TYPE_CHECKING:
    from toolcharter.evaluate.chat import ChatSelector, Estimate


@dataclass(frozen=True, slots=True)
class _Option:
    """An option that has an environment variable."""

    name: str
    variable: str
    help: str


_OPTIONS = (
    _Option("chat_url", "TOOLCHARTER_CHAT_URL", "an OpenAI-compatible endpoint, such as http://localhost:11434/v1"),
    _Option("chat_model", "TOOLCHARTER_CHAT_MODEL", "the model to ask"),
    _Option("chat_key", "TOOLCHARTER_CHAT_KEY", "its key, if it needs one"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the selector `chat`."""
    group = parser.add_argument_group("options of the selector chat")
    for option in _OPTIONS:
        flag = f"--{option.name.replace('_', '-')}"
        metavar = option.name.rpartition("_")[2].upper()
        group.add_argument(flag, metavar=metavar, help=f"{option.help} [{option.variable}]")
    add = group.add_argument
    add("--chat-timeout", type=float, default=60.0, metavar="SECONDS", help="time limit for one answer; default: 60")
    add("--retries", type=int, default=5, metavar="N", help="how often a failed request is repeated; default: 5")
    add("--concurrency", type=int, default=4, metavar="N", help="number of concurrent requests; default: 4")
    add("--no-temperature", action="store_true", help="send no temperature, for models that refuse one")
    add("--price-in", type=float, default=0.0, metavar="PRICE", help="price of a million input tokens")
    add("--price-out", type=float, default=0.0, metavar="PRICE", help="price of a million output tokens")
    add("--answers", type=Path, metavar="FILE", help="file for the answers; default: answers-MODEL.jsonl")
    add("--yes", action="store_true", help="start without asking")


async def select(tools: Sequence[ListedTool], cases: Sequence[Case], options: argparse.Namespace) -> SelectorResult:
    """Print the estimated cost, ask whether to start, and ask the model about each case."""
    from toolcharter.evaluate.chat import ChatFailed, ChatSelector, Endpoint  # noqa: PLC0415 - 40 ms: an HTTP client

    url, model, key = (getattr(options, option.name) or os.environ.get(option.variable) for option in _OPTIONS)
    if not url or not model:
        raise UsageError("chat needs --chat-url and --chat-model, or TOOLCHARTER_CHAT_URL and TOOLCHARTER_CHAT_MODEL.")
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--chat-url must begin with http:// or https://, not {url!r}.")
    endpoint = Endpoint(
        url,
        model,
        key,
        timeout=options.chat_timeout,
        retries=options.retries,
        concurrency=max(1, options.concurrency),
        temperature=None if options.no_temperature else 0.0,
    )
    answers = options.answers or Path(f"answers-{re.sub(r'[^A-Za-z0-9.-]+', '-', model)}.jsonl")
    selector = ChatSelector(endpoint, answers)
    await _confirm(selector.estimate(tools, cases), selector, options)
    try:
        answers.touch()
    except OSError as error:
        raise CannotRun(f"The answers cannot be saved: {error}. Name another file with --answers.") from None
    with Progress(console=TerminalConsole(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(model, total=len(cases))
        selector.on_answer = lambda: progress.advance(task)
        try:
            return await selector.select(tools, cases)
        except ChatFailed as error:
            raise CannotRun(str(error)) from None


async def _confirm(estimate: "Estimate", selector: "ChatSelector", options: argparse.Namespace) -> None:
    if not estimate.requests:
        return
    cost = estimate.cost(options.price_in, options.price_out)
    price = f", about {cost:.2f} at the given prices" if cost else ""
    print_text(
        f"{estimate.requests} requests to {selector.endpoint.model} at {selector.endpoint.url}: about "
        f"{estimate.tokens_in:,} tokens in and {estimate.tokens_out:,} out{price}. "
        f"Answers are saved in {selector.answers}.",
        file=sys.stderr,
    )
    if options.yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("There is no terminal to ask for confirmation. Use --yes to start without asking.")
    if not await ask_on_terminal("Start?"):
        raise CannotRun("Not started.")
