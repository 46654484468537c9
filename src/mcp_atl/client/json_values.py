"""Values inside the JSON of a site, where any part may be missing or null."""

from typing import Any, cast

Json = dict[str, Any]


def at(value: Any, *keys: str) -> Any:
    """The value at a path of keys; None where a part of the path is missing."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = cast(Json, value).get(key)
    return value


def object_at(value: Any, *keys: str) -> Json:
    """The object at a path; empty where there is none."""
    found = at(value, *keys)
    return cast(Json, found) if isinstance(found, dict) else {}


def list_at(value: Any, *keys: str) -> list[Json]:
    """The objects of the list at a path; empty where there is none."""
    found = at(value, *keys)
    items = cast(list[Any], found) if isinstance(found, list) else []
    return [cast(Json, item) for item in items if isinstance(item, dict)]
