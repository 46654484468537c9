"""Reads JSON files that other people wrote."""

import json
from pathlib import Path
from typing import Any, cast

from toolcharter.commands import CannotRun, UsageError, require_file

MAX_DEPTH = 250
"""Deeper values exceed the recursion limit of Python somewhere. Real tools have a few dozen levels."""


def read_json(file: Path) -> Any:
    """The value in a file. Raises CannotRun."""
    require_file(file)
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        if not _is_flat(value):
            raise RecursionError
    except (OSError, ValueError) as error:
        raise CannotRun(f"{file}: {error}") from None
    except RecursionError:
        raise UsageError(f"{file}: the JSON is nested more than {MAX_DEPTH} levels deep.") from None
    return value


def _is_flat(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _items(outer)]
        if not level:
            return True
    return False


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast(dict[str, Any], value).values())
    return cast(list[Any], value) if isinstance(value, list) else []
