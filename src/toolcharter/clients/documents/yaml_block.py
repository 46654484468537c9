"""YAML, in which each server is an entry of a mapping: `extensions:` of Goose."""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from toolcharter.clients.documents import layout
from toolcharter.clients.documents.errors import BrokenDocument, CannotEdit
from toolcharter.clients.documents.values import find, nest

Entry = tuple[Node, Node]
"""The name and the value of an entry."""
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


def read(text: str) -> dict[str, Any]:
    """The settings in a text. Raises BrokenDocument."""
    try:
        data: Any = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise BrokenDocument(error.problem or "it is not YAML", line, column) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BrokenDocument(str(error).splitlines()[0], 1, 1) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise BrokenDocument("the file does not have a mapping", 1, 1)
    return cast(dict[str, Any], data)


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path, which is created where it does not exist."""
    if find(read(text), path) == value:
        return text
    mapping, indent = _root(text), ""
    for depth, key in enumerate(path):
        rest = path[depth + 1 :]
        if mapping is None:
            return _add_first(text, len(text), indent, nest(path[depth:], value))
        if not isinstance(mapping, MappingNode):
            raise CannotEdit(f"{'.'.join(path[:depth])} is not a mapping")
        entry = _find(mapping, key)
        if entry is None:
            return _add(text, mapping, {key: nest(rest, value)})
        name, node = entry
        if rest and _is_null(node):
            inner = " " * name.start_mark.column + layout.unit(text)
            return _add_first(text, layout.next_line(text, name.end_mark.index), inner, nest(rest, value))
        if not rest:
            return _replace(text, entry, value)
        mapping = node
    return text


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the entry at a path. A mapping that has nothing else in it goes too."""
    mapping: Node | None = _root(text)
    entries: list[Entry] = []
    for key in path:
        entry = _find(mapping, key) if isinstance(mapping, MappingNode) else None
        if entry is None:
            return text
        entries.append(entry)
        mapping = entry[1]
    while len(entries) > 1 and _is_only_entry(text, entries[-2], entries[-1]):
        entries.pop()
    return _delete(text, entries)


def write(value: Any) -> str:
    """A value in block style."""
    return yaml.safe_dump(value, default_flow_style=False, sort_keys=False, allow_unicode=True, width=10_000)


def _root(text: str) -> Node | None:
    return cast("Node | None", yaml.compose(text, yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]


def _entries(mapping: MappingNode) -> list[Entry]:
    return cast(list[Entry], mapping.value)


def _find(mapping: MappingNode, key: str) -> Entry | None:
    found = [entry for entry in _entries(mapping) if isinstance(entry[0], ScalarNode) and entry[0].value == key]
    return found[-1] if found else None


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _block(text: str, value: Any, indent: str) -> str:
    """Lines in block style."""
    lines = write(value).removesuffix("\n").split("\n")
    return "".join(f"{indent}{line}{layout.newline(text)}" for line in lines)


def _inline(value: Any) -> str:
    """A value as JSON, which is YAML too, but for the characters that YAML wants to be escaped."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _add_first(text: str, index: int, indent: str, value: Any) -> str:
    return layout.insert_lines(text, index, _block(text, value, indent))


def _add(text: str, mapping: MappingNode, value: dict[str, Any]) -> str:
    entries = _entries(mapping)
    if mapping.flow_style:
        return _add_in_braces(text, mapping, value)
    indent = " " * entries[0][0].start_mark.column
    return layout.insert_lines(text, _end(text, entries[-1]), _block(text, value, indent))


def _add_in_braces(text: str, mapping: MappingNode, value: dict[str, Any]) -> str:
    close = mapping.end_mark.index - 1
    written = _inline(value)[1:-1]
    anchor = layout.end_before(text, close)
    comma = "" if text[anchor - 1] in "{," else ", "
    return text[:anchor] + comma + written + text[anchor:]


def _end(text: str, entry: Entry) -> int:
    """The end of the lines of an entry."""
    name, value = entry
    if value.start_mark.index < name.end_mark.index:  # an alias: the value is written elsewhere
        return layout.next_line(text, name.end_mark.index)
    if isinstance(value, MappingNode | SequenceNode) and not value.flow_style and value.value:
        last: Any = value.value[-1]
        return _end(text, cast(Entry, last) if isinstance(last, tuple) else (name, last))
    end = value.end_mark.index
    is_literal = isinstance(value, ScalarNode) and value.style in ("|", ">")
    return end if is_literal else layout.next_line(text, end)


def _replace(text: str, entry: Entry, value: Any) -> str:
    """Put a value in the place of another."""
    name, node = entry
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style:
        end = layout.end_before(text, _end(text, entry))
    elif isinstance(node, ScalarNode) and node.style in ("|", ">"):
        end = layout.end_before(text, end)
    # A list may begin below its name, where nothing else may.
    is_below = node.start_mark.line > name.end_mark.line
    space = layout.unit(text) if is_below else "" if text[start - 1].isspace() else " "
    return text[:start] + space + _inline(value) + text[end:]


def _is_only_entry(text: str, outer: Entry, inner: Entry) -> bool:
    """Whether a mapping has one entry and no comment of its own."""
    name, mapping = outer
    between = text[name.end_mark.index : inner[0].start_mark.index]
    return len(_entries(cast(MappingNode, mapping))) == 1 and not between.strip(": \t\r\n{")


def _delete(text: str, entries: list[Entry]) -> str:
    name, value = entries[-1]
    start = layout.line_start(text, name.start_mark.index)
    if text[start : name.start_mark.index].strip():  # inside braces
        return _delete_in_braces(text, name, value)
    return layout.delete_lines(text, start, _end(text, entries[-1]))


def _delete_in_braces(text: str, name: Node, value: Node) -> str:
    start, end = layout.end_before(text, name.start_mark.index), value.end_mark.index
    if text[start - 1] == ",":
        return text[: start - 1] + text[end:]
    after = len(text) - len(text[end:].lstrip())
    end = after + 1 if text[after : after + 1] == "," else end
    return text[:start] + text[end:].removeprefix(" ")
