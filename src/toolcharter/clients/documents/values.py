"""Values at a path of nested mappings."""

from collections.abc import Sequence
from typing import Any, cast


def find(data: Any, path: Sequence[str]) -> Any:
    """The value at a path; None if there is none."""
    for key in path:
        data = cast(dict[str, Any], data).get(key) if isinstance(data, dict) else None
    return data


def nest(path: Sequence[str], value: Any) -> Any:
    """A value inside a mapping for each key of a path."""
    for key in reversed(path):
        value = {key: value}
    return value


def with_value(data: Any, path: Sequence[str], value: Any) -> Any:
    """The data with a value at a path."""
    if not path:
        return value
    members = cast(dict[str, Any], data) if isinstance(data, dict) else {}
    return {**members, path[0]: with_value(members.get(path[0]), path[1:], value)}
