"""Call a tool and print its result. The exit code is 1 if the call failed, and 130 after Ctrl+C, which cancels it."""

import argparse
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mcp_core.calling.stages.idempotency import KEY
from mcp_core.foreign.terminal import escape_invisible, print_data, print_text
from mcp_core.process.interrupt import INTERRUPTED, run_interruptible
from toolcharter.commands import UsageError, connection, saved_files
from toolcharter.commands.answer_text import print_answer
from toolcharter.output.progress_line import ProgressLine

if TYPE_CHECKING:
    from mcp_core.calling.records import Answer

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    connection.add_arguments(parser, " TOOL [key=value ...]")
    parser.add_argument("tool", metavar="TOOL", help="the tool to call")
    pairs = parser.add_argument(
        "arguments",
        nargs="*",
        metavar="key=value",
        help="its arguments, or one JSON object of them; a value that is not a string is JSON",
    )
    pairs.required = False  # so that the error for a missing tool does not ask for them too
    parser.add_argument("--json", dest="json_object", metavar="OBJECT", help="all arguments as one JSON object")
    parser.add_argument(
        "--idempotency-key",
        metavar="KEY",
        help="carry a change out once: the same call with the same key gives the first answer again",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FOLDER",
        help="write the images, sounds and files of the answer into this folder",
    )
    connection.add_settings(parser)


def run(options: argparse.Namespace) -> int:
    """Call the tool, and print the result."""
    if options.command and options.server is not None:
        # The server is the command after `--`, so the first word is the tool.
        options.arguments = [options.tool, *options.arguments]
        options.server, options.tool = None, options.server
    if options.server is None and not options.command:
        raise UsageError(f"No tool was given. Write: toolcharter call {options.tool} TOOL [key=value ...]")
    if options.save is not None:
        saved_files.make_folder(options.save)
    call = _FollowedCall(options)
    try:
        return run_interruptible(call.run())
    except KeyboardInterrupt:
        done = "What it had done by then is not undone." if call.is_sent else "It had not been called yet."
        start = "\n" if sys.stderr.isatty() else ""  # after the ^C that the terminal shows
        print_text(f"{start}Cancelled: {escape_invisible(options.tool)}. {done}", file=sys.stderr)
        return INTERRUPTED


class _FollowedCall:
    """The call of one tool."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.is_sent = False
        self._progress = ProgressLine()

    async def run(self) -> int:
        # The log of a call has errors only, but its author is the one who can do something about this.
        logging.getLogger("mcp_core.calling.running").setLevel(logging.WARNING)
        options = self._options
        async with connection.connect(options, attended=True) as server:
            tool = connection.require_tool(options, await server.list_tools())
            arguments = _parse_object(options.json_object, "--json")
            arguments |= _parse_pairs(options.arguments, tool.input_schema)
            meta = None if options.idempotency_key is None else {KEY: options.idempotency_key}
            self.is_sent = True
            try:
                answer = await server.call(tool.name, arguments, self._progress.report, meta)
            finally:
                self._progress.end()
        return _show(answer, options.save, tool.name)


def _show(answer: "Answer", folder: Path | None, tool: str) -> int:
    """Print an answer, and write its files. In a pipe it is complete, whatever is written to files."""
    found = saved_files.attachments(answer.content())
    if sys.stdout.isatty():
        print_answer(answer, can_save=folder is None)
    elif found:
        connection.print_json(answer.content())
    else:
        texts = "\n".join(str(block.get("text", "")) for block in answer.content())
        print_data((answer.text or texts or answer.structured_json or "[]") + "\n")
    code = FAILED if answer.is_error else os.EX_OK
    for attachment in found if folder is not None else ():
        if not attachment.has_data:
            continue
        try:
            print_text(f"Saved: {saved_files.save(attachment, cast(Path, folder), tool)}", file=sys.stderr)
        except (ValueError, OSError) as error:
            print_text(f"Not saved: {escape_invisible(attachment.mime_type)}, {error}.", file=sys.stderr)
            code = FAILED
    return code


def _parse_object(text: str | None, what: str) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        value = json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise UsageError(f"{what} is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(what + ' takes an object, such as {"a": 1}')
    return cast(dict[str, Any], value)


def _parse_pairs(words: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for word in words:
        name, separator, text = word.partition("=")
        if word.startswith("{"):
            arguments |= _parse_object(word, "The argument")
            continue
        if not separator:
            raise UsageError(f"{word!r} is not key=value. Write {word}=VALUE.")
        arguments[name] = _parse_value(text, schema.get("properties", {}).get(name, {}))
    return arguments


def _parse_value(text: str, schema: Mapping[str, Any]) -> Any:
    """A string stays a string if the schema wants one. Any other text is JSON if it can be parsed as JSON."""
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
