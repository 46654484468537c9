"""YAML text and plain data. Loaded when the first file is read: the library takes 20 ms."""

from collections.abc import Sequence
from typing import Any

import yaml


class YamlError(Exception):
    """The text is no YAML that we take. `line` counts from 1."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


def load(text: str) -> Any:
    """The data of a YAML text; YamlError where it is broken."""
    try:
        return _construct(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = " ".join(word for word in (error.context, error.problem) if word)
        raise YamlError(words or "cannot be read", mark.line + 1 if mark else 1) from None
    except yaml.YAMLError as error:
        raise YamlError(str(error).splitlines()[0], 1) from None
    except (ValueError, RecursionError) as error:  # such as a date with a 13th month
        raise YamlError(f"holds a value that cannot be read: {error}", 1) from None


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
    """The library would drop the first one without a word, and the next writing would lose it."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise YamlError(f"the name {key.value!r} is written twice", key.start_mark.line + 1)
            seen.add(str(key.value))
            _refuse_repeated_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_repeated_keys(value)


def dump(data: Any) -> str:
    """The text of plain data, in its order."""
    dumper = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
    return yaml.dump(data, Dumper=dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=120)


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line on which the value at a path begins; the nearest one around it where it has none."""
    node, line = _loader(text).get_single_node(), 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == step), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def revise(text: str, before: Any, after: Any) -> str:
    """The text with what differs between two states of its data replaced."""
    return text if before == after else dump(after)
