"""Call a tool and print its answer. The exit code is 1 when the tool failed, 2 when it could not be called."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolcharter.commands import CannotRun, connection
from toolcharter.commands.show import show

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    connection.add_arguments(parser)
    parser.add_argument("tool", metavar="TOOL", help="the tool to call")
    parser.add_argument(
        "arguments", nargs="*", metavar="key=value", help="its arguments; values that are no text as JSON"
    )
    parser.add_argument("--json", dest="whole", metavar="OBJECT", help="all arguments as one JSON object")


def run(options: argparse.Namespace) -> int:
    """Call and print the answer."""
    if options.command and options.server is not None:
        # The server stands after `--`, so the first word is the tool already.
        options.arguments = [options.tool, *options.arguments]
        options.server, options.tool = None, options.server
    return asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> int:
    async with connection.connect(options) as server:
        tool = connection.meant(options.tool, await server.list_tools())
        arguments = _whole(options.whole) | _pairs(options.arguments, tool.input_schema if tool else {})
        answer = await server.call(tool.name if tool else options.tool, arguments)
    if sys.stdout.isatty():
        show(answer)
    else:
        print(answer.text)
    return FAILED if answer.is_error else os.EX_OK


def _whole(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        value = json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise CannotRun(f"--json is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise CannotRun('--json takes an object, such as {"a": 1}')
    return cast(dict[str, Any], value)


def _pairs(words: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator:
            raise CannotRun(f"{word!r} is not key=value")
        found[name] = _value(text, schema.get("properties", {}).get(name, {}))
    return found


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """Text stays text where the tool wants text; elsewhere it is read as JSON, if it is any."""
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
