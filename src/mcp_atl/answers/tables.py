"""Lists as tables of rows: the names of the columns once, instead of in each item."""

from collections.abc import Sequence
from typing import Any, cast

from mcp_atl.client.connection import Json


def table(items: Sequence[Json]) -> Json:
    """Columns and rows. A user, a status or another short object is shown by its name."""
    columns = list(dict.fromkeys(name for item in items for name in item))
    return {"columns": columns, "rows": [[_cell(item.get(column)) for column in columns] for item in items]}


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        shown = cast(Json, value)
        return next((shown[key] for key in ("name", "key", "title", "id") if key in shown), shown)
    if isinstance(value, list):
        parts = [_cell(part) for part in cast(list[Any], value)]
        return ", ".join(map(str, parts)) if all(isinstance(part, (str, int)) for part in parts) else parts
    return value
