"""JSON with comments and trailing commas, as editors and agents write their settings."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, cast

from toolcharter.clients.documents import layout
from toolcharter.clients.documents.errors import BrokenDocument, CannotEdit, position
from toolcharter.clients.documents.values import nest

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*(?:(?!/\*).)*?\*/", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_BLANK = "\ufeff \t\r\n"
_DECODER = json.JSONDecoder()
MAX_DEPTH = 200


class Member(NamedTuple):
    """A member of an object, and where it is written."""

    key: str
    start: int
    value: "JsoncNode"
    comma: int | None
    """The place of the comma after it."""


@dataclass(frozen=True, slots=True)
class JsoncNode:
    """A value, and where it is written."""

    value: Any
    start: int
    end: int
    members: tuple[Member, ...] = field(default=())

    def member(self, key: str) -> Member | None:
        """The last member of that name, which is the one that counts."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def read(text: str) -> dict[str, Any]:
    """The settings in a text. Raises BrokenDocument."""
    return cast(dict[str, Any], _parse(text).value)


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path, which is created where it does not exist."""
    text = text if text.strip(_BLANK) else f"{text.rstrip()}{{}}\n"
    node = _parse(text)
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise CannotEdit(f"{'.'.join(path[:depth])} is not an object")
        member = node.member(key)
        if member is None:
            return _insert(text, node, key, nest(path[depth + 1 :], value))
        node = member.value
    if node.value == value:
        return text
    is_inline = "\n" not in text[node.start : node.end]
    written = _write(value, text, layout.indentation(text, node.start), is_inline=is_inline)
    return text[: node.start] + written + text[node.end :]


def remove(text: str, path: Sequence[str]) -> str:
    """The text without what is at a path. An object that has nothing else in it goes too, but not the outermost."""
    nodes = [_parse(text)]
    for key in path:
        member = nodes[-1].member(key)
        if member is None:
            return text
        nodes.append(member.value)
    text = _delete(text, nodes[-2], path[-1])
    parent = path[:-1]
    if parent and _is_empty(text, parent):
        return remove(text, parent)
    return text


def _is_empty(text: str, path: Sequence[str]) -> bool:
    node = _parse(text)
    for key in path:
        member = node.member(key)
        if member is None:
            return False
        node = member.value
    return node.value == {} and not text[node.start + 1 : node.end - 1].strip()


# --- writing ------------------------------------------------------------------------------------------


def _write(value: Any, text: str, indent: str, *, is_inline: bool) -> str:
    if is_inline:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, indent=layout.unit(text), ensure_ascii=False).split("\n")
    return f"{layout.newline(text)}{indent}".join(lines)


def _insert(text: str, node: JsoncNode, key: str, value: Any) -> str:
    """Add a member after the last one, in the layout of the others."""
    close = node.end - 1
    last = node.members[-1] if node.members else None
    # What is added to an empty object is laid out in lines, unless everything is in one line.
    inside = text[node.start : close] if last else "\n" if node.start == _skip(text, 0) else text.strip()
    is_inline = "\n" not in inside
    outer = layout.indentation(text, node.start)
    indent = layout.indentation(text, last.start) if last and not is_inline else outer + layout.unit(text)
    before = (" " if last else "") if is_inline else layout.newline(text) + indent
    written = _write(value, text, indent, is_inline=is_inline)
    member = f"{before}{json.dumps(key, ensure_ascii=False)}: {written}"
    anchor = layout.end_before(text, close)
    if last is None:
        ending = "" if is_inline or "\n" in text[anchor:close] else layout.newline(text) + outer
        return text[:anchor] + member + ending + text[anchor:]
    if last.comma is not None:
        return text[:anchor] + member + "," + text[anchor:]
    return text[: last.value.end] + "," + text[last.value.end : anchor] + member + text[anchor:]


def _delete(text: str, node: JsoncNode, key: str) -> str:
    index = max(at for at, member in enumerate(node.members) if member.key == key)
    member = node.members[index]
    before = cast(int, node.members[index - 1].comma) + 1 if index else node.start + 1
    start = _after_comment(text, before, member)
    cuts = [(start, member.value.end)]
    if member.comma is not None:
        cuts.append((member.comma, member.comma + 1))
    elif index > 0:
        comma = cast(int, node.members[index - 1].comma)
        cuts.append((comma, comma + 1))
    rest = text[node.start + 1 : start] + text[member.value.end : node.end - 1]
    if len(node.members) == 1 and not rest.strip(", \t\r\n"):
        cuts = [(node.start + 1, node.end - 1)]
    for begin, end in sorted(cuts, reverse=True):
        text = text[:begin] + text[end:]
    return text


def _after_comment(text: str, before: int, member: Member) -> int:
    """The place to cut before a member: after the line of a comment that would hide what follows on the line."""
    start = layout.end_before(text, member.start)
    comments = _COMMENT.findall(text, before, start)
    end = member.value.end if member.comma is None else member.comma + 1
    follows = text[member.value.end : layout.next_line(text, end)].strip(", \t\r\n")
    return layout.next_line(text, start) if follows and comments and comments[-1].startswith("//") else start


# --- reading ------------------------------------------------------------------------------------------


def _parse(text: str) -> JsoncNode:
    if not text.strip(_BLANK):
        return JsoncNode({}, 0, 0)
    node = _value(text, _skip(text, 0), 0)
    end = _skip(text, node.end)
    if end < len(text):
        _fail(text, end, "there is more after the end of the object")
    if not isinstance(node.value, dict):
        _fail(text, node.start, "the file does not have an object")
    return node


def _value(text: str, start: int, depth: int) -> JsoncNode:
    if depth > MAX_DEPTH:
        _fail(text, start, f"more than {MAX_DEPTH} values are inside each other")
    match text[start : start + 1]:
        case "{":
            return _object(text, start, depth)
        case "[":
            return _array(text, start, depth)
        case '"':
            value, end = _string(text, start)
            return JsoncNode(value, start, end)
        case _:
            scalar = _SCALAR.match(text, start)
            if scalar is None:
                _fail(text, start, "a value is missing")
            return JsoncNode(json.loads(scalar[0]), start, scalar.end())


def _object(text: str, start: int, depth: int) -> JsoncNode:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            _fail(text, at, 'a name in double quotes or "}" is missing')
        begin = at
        key, at = _string(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            _fail(text, at, f'":" is missing after "{key}"')
        value = _value(text, _skip(text, at + 1), depth + 1)
        at, comma = _separator(text, value.end, "}")
        members.append(Member(key, begin, value, comma))
    found: Mapping[str, Any] = {member.key: member.value.value for member in members}
    return JsoncNode(found, start, at + 1, tuple(members))


def _array(text: str, start: int, depth: int) -> JsoncNode:
    values: list[Any] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        value = _value(text, at, depth + 1)
        values.append(value.value)
        at, _ = _separator(text, value.end, "]")
    return JsoncNode(values, start, at + 1)


def _separator(text: str, at: int, close: str) -> tuple[int, int | None]:
    """The place of the next element or the closing bracket, and the comma before it."""
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1), at
    if text[at : at + 1] != close:
        _fail(text, at, f'"," or "{close}" is missing')
    return at, None


def _string(text: str, start: int) -> tuple[str, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        _fail(text, error.pos, error.msg)


def _skip(text: str, at: int) -> int:
    """The end of white space and comments."""
    end = cast(re.Match[str], _SPACE.match(text, at)).end()
    if text.startswith("/*", end):
        _fail(text, end, "the comment does not end")
    return end


def _fail(text: str, index: int, problem: str) -> NoReturn:
    raise BrokenDocument(problem, *position(text, index))
