"""The options of a chat model, and its cost before it is asked. A key is better given by the environment."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from mcp_core.declare.listed import ListedTool
from toolcharter.commands import CannotRun
from toolcharter.commands.connection import ask_terminal
from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.outcome import Result


@dataclass(frozen=True, slots=True)
class _Named:
    """An option that has an environment variable."""

    flag: str
    variable: str
    words: str


_NAMED = (
    _Named("chat_url", "TOOLCHARTER_CHAT_URL", "an OpenAI-compatible endpoint, such as http://localhost:11434/v1"),
    _Named("chat_model", "TOOLCHARTER_CHAT_MODEL", "the model to ask"),
    _Named("chat_key", "TOOLCHARTER_CHAT_KEY", "its key, if it needs one"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the selector `chat`."""
    group = parser.add_argument_group("the selector chat")
    for one in _NAMED:
        flag = f"--{one.flag.replace('_', '-')}"
        group.add_argument(flag, metavar=one.flag.rpartition("_")[2].upper(), help=f"{one.words} [{one.variable}]")
    add = group.add_argument
    add("--chat-timeout", type=float, default=60.0, metavar="SECONDS", help="for one answer; default: 60")
    add("--retries", type=int, default=5, metavar="N", help="how often a request that failed is sent again; default: 5")
    add("--at-once", type=int, default=4, metavar="N", help="requests at the same time; default: 4")
    add("--no-temperature", action="store_true", help="send no temperature, for models that refuse one")
    add("--price-in", type=float, default=0.0, metavar="PRICE", help="of a million tokens that are sent")
    add("--price-out", type=float, default=0.0, metavar="PRICE", help="of a million tokens that are answered")
    add("--answers", type=Path, metavar="FILE", help="where answers are kept; default: answers-MODEL.jsonl")
    add("--yes", action="store_true", help="do not ask before it starts")


async def select(tools: Sequence[ListedTool], cases: Sequence[Case], options: argparse.Namespace) -> Result:
    """Say what it will take, ask whether to start, and ask the model."""
    # Loaded only here: most runs need no HTTP client.
    chat = import_module("toolcharter.evaluate.chat")
    url, model, key = (getattr(options, one.flag) or os.environ.get(one.variable) for one in _NAMED)
    if not url or not model:
        raise CannotRun("chat needs --chat-url and --chat-model, or TOOLCHARTER_CHAT_URL and TOOLCHARTER_CHAT_MODEL.")
    if not url.startswith(("http://", "https://")):
        raise CannotRun(f"--chat-url must begin with http:// or https://, not {url!r}.")
    endpoint = chat.Endpoint(
        url,
        model,
        key,
        timeout=options.chat_timeout,
        retries=options.retries,
        at_once=max(1, options.at_once),
        temperature=None if options.no_temperature else 0.0,
    )
    answers = options.answers or Path(f"answers-{re.sub(r'[^A-Za-z0-9.-]+', '-', model)}.jsonl")
    selector = chat.Selector(endpoint, answers)
    await _agree(selector.estimate(tools, cases), endpoint, answers, options)
    try:
        answers.touch()
    except OSError as error:
        raise CannotRun(f"Answers cannot be kept: {error}. Name another file with --answers.") from None
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(model, total=len(cases))
        selector.told = lambda: progress.advance(task)
        try:
            return await selector.select(tools, cases)
        except chat.CannotAsk as error:
            raise CannotRun(str(error)) from None


async def _agree(estimate: Any, endpoint: Any, answers: Path, options: argparse.Namespace) -> None:
    if not estimate.requests:
        return
    cost = estimate.cost(options.price_in, options.price_out)
    price = f", about {cost:.2f} at the given prices" if cost else ""
    print(
        f"{estimate.requests} requests to {endpoint.model} at {endpoint.url}: about {estimate.tokens_in:,} tokens in "
        f"and {estimate.tokens_out:,} out{price}. Answers go to {answers}.",
        file=sys.stderr,
    )
    if options.yes:
        return
    if not sys.stdin.isatty():
        raise CannotRun("Nobody is here to agree to that; give --yes to start without being asked.")
    if not await ask_terminal("Start?"):
        raise CannotRun("Not started.")
