"""`response_fields`: an answer with the fields that were asked for, and no others."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, cast

from mcp_atl.answers.listing import Shape
from mcp_atl.client.connection import Json
from toolcharter import InvalidArguments

MAX_NAMED = 60


def select(values: Sequence[Json], fields: Sequence[str], shape: Shape | None = None) -> list[Json]:
    """The values with these fields. A dotted path reaches inside, also into each item of a list."""
    known = shape if shape is not None else _shape_of(values)
    for field in fields:
        _check(field, known)
    return [_pick(value, fields) for value in values]


def first_names(fields: Iterable[str]) -> list[str]:
    """The outermost names of dotted paths, each once."""
    return list(dict.fromkeys(field.partition(".")[0] for field in fields))


def without_empty(value: Any) -> Any:
    """The value without nulls, empty texts, lists and objects: they carry nothing, and cost tokens."""
    if isinstance(value, dict):
        inner = {key: without_empty(part) for key, part in cast(Json, value).items()}
        return {key: part for key, part in inner.items() if part not in (None, "", [], {})}
    if isinstance(value, list):
        return [without_empty(part) for part in cast(list[Any], value)]
    return value


def _check(field: str, shape: Shape) -> None:
    known, path = shape, ""
    for name in field.split("."):
        if name not in known:
            raise _unknown(field, name, path, list(known))
        inner, path = known[name], f"{path}{name}."
        if inner is None:  # nothing is known about what is inside
            return
        known = inner


def _unknown(field: str, name: str, path: str, known: list[str]) -> InvalidArguments:
    nearest = difflib.get_close_matches(name, known, n=1)
    guess = f" Did you mean {path}{nearest[0]!s}?" if nearest else ""
    names = ", ".join(f"{path}{one}" for one in known[:MAX_NAMED])
    more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
    return InvalidArguments(
        f"response_fields: {field!r} is not a field of this answer.{guess} It has: {names}{more}.",
        fields=("response_fields",),
    )


def _shape_of(values: Sequence[Json]) -> Shape:
    """The fields that these values have."""
    shape: dict[str, Any] = {}
    for value in values:
        for key, part in value.items():
            inside = cast(list[Any], part) if isinstance(part, list) else [part]
            objects = [cast(Json, one) for one in inside if isinstance(one, dict)]
            shape[key] = {**(shape.get(key) or {}), **_shape_of(objects)} if objects else shape.get(key)
    return shape


def _pick(value: Any, fields: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_pick(part, fields) for part in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    inner: dict[str, list[str]] = {}
    for field in fields:
        name, _, rest = field.partition(".")
        inner.setdefault(name, []).append(rest)
    shown = cast(Json, value)
    # A field that was asked for and has no value is null: left out, it would look like a fault.
    return {name: shown.get(name) if "" in rests else _pick(shown.get(name), rests) for name, rests in inner.items()}
