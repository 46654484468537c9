"""Questions of a server to the person at the terminal: a yes or no, an address to open, or a form to fill in."""

import asyncio
import sys
from collections.abc import Mapping
from textwrap import indent
from typing import Any, cast

from mcp_core.foreign.terminal import escape_invisible, print_text
from mcp_core.hosts.names import CONFIRM
from mcp_core.schema.fields import Schema, list_at, object_at, string_at
from mcp_core.schema.forms import MAX_FIELDS, read_answer

DECLINED: Mapping[str, Any] = {"action": "decline"}
_YES, _NO = ("y", "yes", "true"), ("n", "no", "false")
_TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "yes or no", "array": "list"}
_FORMATS = {"email": "email address", "uri": "URI", "date": "date, such as 2026-11-19", "date-time": "time"}
_MAX_CHOICES_SHOWN = 100


async def ask_on_terminal(question: str) -> bool:
    """Ask the person at the terminal. Anything but yes means no."""
    _say(f"{question} [y/N] ", end="")
    return (await _read_line()).strip().lower() in ("y", "yes")


class AnswersOnTerminal:
    """Answers what a server asks with `elicitation/create`: the result is that of the protocol."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()

    async def __call__(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the person. A server may ask several things at once."""
        async with self._one_at_a_time:
            _say("")  # below a line of progress
            return await _answer(params)


async def _answer(params: Mapping[str, Any]) -> Mapping[str, Any]:
    message, fields = string_at(params, "message"), _fields(params)
    if params.get("mode") == "url":
        address = escape_invisible(string_at(params, "url"))
        accepted = await ask_on_terminal(f"{message}\nTo go on, open this address in a browser: {address}\nGo on?")
        return {"action": "accept"} if accepted else DECLINED
    if fields.keys() <= {CONFIRM}:
        return {"action": "accept", "content": {CONFIRM: True}} if await ask_on_terminal(message) else DECLINED
    if len(fields) > MAX_FIELDS:
        _say(f"The form has {len(fields)} fields; {MAX_FIELDS} are allowed. It was declined.")
        return DECLINED
    _say(f"{message}\nEnter takes a default, or skips what is optional. Ctrl+D declines the form.")
    return await _fill_in(fields, _required(params))


async def decline_with_reason(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Decline where no terminal is there, and print what would have been asked."""
    required = _required(params)
    _say(f"The tool asks: {string_at(params, 'message')}")
    for name, field in list(_fields(params).items())[:MAX_FIELDS]:
        _say(indent(_describe(name, field, is_required=name in required), "  "))
    _say("Nobody can answer here. Call the tool in a terminal.")
    return {"action": "cancel"}


def _fields(params: Mapping[str, Any]) -> dict[str, Schema]:
    properties = object_at(object_at(params, "requestedSchema"), "properties")
    return {name: object_at(properties, name) for name in properties}


def _required(params: Mapping[str, Any]) -> list[Any]:
    return list_at(object_at(params, "requestedSchema"), "required")


async def _fill_in(fields: Mapping[str, Schema], required: list[Any]) -> Mapping[str, Any]:
    """Ask for each field until its answer is valid."""
    content: dict[str, Any] = {}
    for name, field in fields.items():
        _say(f"\n{_describe(name, field, is_required=name in required)}")
        while True:
            _say(f"{escape_invisible(name)}{_default(field)}: ", end="")
            line = await _read_line()
            if not line:
                _say("\nDeclined.")
                return DECLINED
            given = _parse(line.strip(), field)
            form = {"properties": {name: field}, "required": [name] if name in required else []}
            read, problems = read_answer(form, {} if given is None else {name: given})
            if not problems:
                content |= read
                break
            problem = "; ".join(problem.removeprefix(f"{name}: ") for problem in problems)
            _say(f"  This {problem}.")
    return {"action": "accept", "content": content}


def _describe(name: str, field: Schema, *, is_required: bool) -> str:
    """A field: its title, type and description, and its choices, one a line."""
    kind = _FORMATS.get(string_at(field, "format")) or _TYPES.get(string_at(field, "type"), "text")
    choices = _choices(field)
    if choices:
        kind = "choose several, with commas between them" if string_at(field, "type") == "array" else "choose one"
    limits = [
        f"{word} {field[key]}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"))
        if isinstance(field.get(key), int | float)
    ]
    words = ", ".join([kind, *limits, "required" if is_required else "optional"])
    description = string_at(field, "description")
    lines = [f"{string_at(field, 'title') or name} ({words})" + (f": {description}" if description else "")]
    for number, (value, title) in enumerate(choices[:_MAX_CHOICES_SHOWN], 1):
        lines.append(f"  {number}) {title}" + (f" ({value})" if title != value else ""))
    return "\n".join(lines)


def _choices(field: Schema) -> list[tuple[str, str]]:
    """The values to choose from, with their titles."""
    holder = object_at(field, "items") if string_at(field, "type") == "array" else field
    titled = [cast(Schema, one) for key in ("oneOf", "anyOf") for one in list_at(holder, key) if isinstance(one, dict)]
    if titled:
        return [(str(one.get("const")), string_at(one, "title") or str(one.get("const"))) for one in titled]
    values, titles = list_at(holder, "enum"), list_at(holder, "enumNames")
    return [(str(value), str(titles[at] if at < len(titles) else value)) for at, value in enumerate(values)]


def _default(field: Schema) -> str:
    default = field.get("default")
    if default in (None, "", []):
        return ""
    if isinstance(default, bool):
        default = "yes" if default else "no"
    text = ", ".join(map(str, cast(list[Any], default))) if isinstance(default, list) else str(default)
    return f" [{escape_invisible(text)}]"


def _parse(line: str, field: Schema) -> Any:
    """The answer to a field as the protocol has it, not yet checked. None for an empty line without a default."""
    if not line:
        return field.get("default")
    kind = string_at(field, "type")
    if kind == "array":
        return [_choose(word.strip(), field) for word in line.split(",") if word.strip()]
    if kind == "boolean":
        word = line.lower()
        return True if word in _YES else False if word in _NO else line
    return _choose(line, field)


def _choose(word: str, field: Schema) -> str:
    """The value that a person chose by itself, by its title or by its number."""
    choices = _choices(field)
    if any(word == value for value, _ in choices):
        return word
    for value, title in choices:
        if word.casefold() in (value.casefold(), title.casefold()):
            return value
    return choices[int(word) - 1][0] if word.isdecimal() and 0 < int(word) <= len(choices) else word


def _say(text: str, end: str = "\n") -> None:
    """Write to stderr; stdout is for the result."""
    print_text(text, end=end, file=sys.stderr, flush=True)


async def _read_line() -> str:
    """The next line that is typed; empty at the end of input.

    A thread that waits for a line could not be stopped by Ctrl+C.
    """
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[None] = loop.create_future()
    try:
        number = sys.stdin.fileno()
        loop.add_reader(number, lambda: typed.done() or typed.set_result(None))
    except (OSError, ValueError):  # not a terminal: there is no waiting
        return sys.stdin.readline()
    except NotImplementedError:  # Windows
        return await asyncio.to_thread(sys.stdin.readline)
    try:
        await typed
    finally:
        loop.remove_reader(number)
    return sys.stdin.readline()
