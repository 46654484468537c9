"""YAML text and plain data. Import it when the first file is read: the library takes 14 ms."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard, cast

import yaml


class YamlError(Exception):
    """The text is not valid YAML. `line` counts from 1."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


def load(text: str) -> Any:
    """Parse a YAML text. Raises YamlError."""
    try:
        return _construct(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        # A missing bracket is reported after the last line.
        last = max(1, len(text.splitlines()))
        raise YamlError(problem or "cannot be parsed", min(mark.line + 1, last) if mark else last) from None
    except yaml.YAMLError as error:
        raise YamlError(str(error).splitlines()[0], 1) from None
    except (ValueError, RecursionError) as error:  # for example a date with month 13
        raise YamlError(f"contains an invalid value: {error}", 1) from None


def _construct(text: str) -> Any:
    loader = _loader(text)
    node = loader.get_single_node()
    if node is None:
        return None
    _refuse_repeated_keys(node)
    return loader.construct_document(node)


def _loader(text: str) -> Any:
    return (yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)(text)


def _refuse_repeated_keys(node: yaml.Node) -> None:
    """The library would silently drop the first one, and the next write would lose it."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise YamlError(f"the name {key.value!r} occurs twice", key.start_mark.line + 1)
            seen.add(str(key.value))
            _refuse_repeated_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_repeated_keys(value)


def dump(data: Any) -> str:
    """Write plain data as YAML, in its order."""
    dumper = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
    return yaml.dump(data, Dumper=dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=120)


def find_line(text: str, path: Sequence[str | int]) -> int:
    """The line of the value at a path; that of the nearest parent if the value is missing."""
    node, line = _loader(text).get_single_node(), 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            entry = next(((key, value) for key, value in node.value if key.value == step), None)
            if entry is None:
                break
            line, node = entry[0].start_mark.line + 1, entry[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


# --- changing a text that a person may have written -----------------------------------------------------


def revise(text: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    """Replace the entries of a text that differ between two states of its data.

    All others keep their text, order and comments. The caller must check the outcome: anchors and unusual layouts
    can make it wrong.
    """
    node = _loader(text).get_single_node()
    if node is None:
        return f"{text.rstrip()}\n{dump(after)}".lstrip()
    if not _is_block(node):
        return dump(after)
    lines = text.splitlines()
    edits = sorted(_edits(node, before, after), key=lambda edit: edit.start)
    # From the bottom up, so that line numbers stay valid.
    for edit in reversed(edits):
        lines[edit.start : edit.end] = edit.lines
    return "\n".join([*lines, ""])


class _Edit(NamedTuple):
    """Replaces lines `start` to `end`, counted from 0, without `end`."""

    start: int
    end: int
    lines: list[str]


def _edits(node: yaml.MappingNode, before: dict[str, Any], after: dict[str, Any]) -> list[_Edit]:
    """The edits of a mapping in block style. Those inside an entry come before those after it."""
    entries = {key.value: (key, value) for key, value in node.value}
    column, end = node.start_mark.column, _end(node)
    edits: list[_Edit] = []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if old == new and (name in before) == (name in after):
            continue
        lines = [] if name not in after else _indent(dump({name: new}), column)
        if name not in entries:
            edits.append(_Edit(end, end, lines))
        elif _is_block(entries[name][1]) and isinstance(old, dict) and isinstance(new, dict):
            edits += _edits(entries[name][1], cast(dict[str, Any], old), cast(dict[str, Any], new))
        else:
            key, value = entries[name]
            edits.append(_Edit(key.start_mark.line, max(_end(value), key.start_mark.line + 1), lines))
    return edits


def _is_block(node: yaml.Node | None) -> TypeGuard[yaml.MappingNode]:
    return isinstance(node, yaml.MappingNode) and not node.flow_style and bool(node.value)


def _end(node: Any) -> int:
    """The line after the last line of a node. The end mark of the library may be after comments."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]  # an item, or a key with its value
        return max(map(_end, last)) if isinstance(node, yaml.MappingNode) else _end(last)
    mark = node.end_mark
    return mark.line if mark.column == 0 and mark.line > node.start_mark.line else mark.line + 1


def _indent(text: str, column: int) -> list[str]:
    return [" " * column + line for line in text.splitlines()]
