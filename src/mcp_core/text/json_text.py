"""JSON as it goes over the wire: compact and valid. A value without a JSON form is an error with its path."""

import json
from collections.abc import Mapping
from json.encoder import encode_basestring as _quoted
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, SchemaSerializer, to_json

JsonObject = dict[str, Any]

ALLOWED = "str, int, float, bool, None, list, dict, tuple, a pydantic model, or an object with to_dict() or to_json()"
"""The values that are written without a declared type."""


def _to_data(value: Any) -> Any:
    """The plain data of a pydantic model, or of an object that can convert itself."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    for method in ("to_dict", "to_json"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            data = convert()
            # Some classes return JSON text from to_json().
            return json.loads(data) if method == "to_json" and isinstance(data, str) else data
    raise TypeError(f"{type(value).__name__} is not JSON; use {ALLOWED}")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_to_data).encode


_LONG = 100
"""Longer texts are quoted by pydantic, in half the time; shorter ones by Python."""


def quoted(text: str) -> str:
    """A text as JSON. Lone surrogates stay as they are."""
    if len(text) > _LONG and text.isascii():
        return to_json(text).decode()
    return _quoted(text)


def to_text(value: Any) -> str:
    """Compact JSON text. Raises TypeError, with the path, for a value without a JSON form."""
    kind = type(value)  # pyright: ignore[reportUnknownVariableType] - a cast would take longer than the rest
    try:
        if kind is int:
            return str(value)
        text = quoted(value) if kind is str else _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(_explain(value, error)) from error
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        # A lone surrogate (file names can hold one) has no UTF-8 form. It is replaced, so that the answer can be sent.
        text = text.encode("utf-8", "replace").decode()
    return text


def serialized_text(value: Any, serializer: SchemaSerializer) -> str:
    """The JSON text of a value of a type, as pydantic has it. Raises TypeError also for a value of another type."""
    try:
        plain = serializer.to_python(value, mode="json", by_alias=True, warnings="error", fallback=_to_data)
    except (PydanticSerializationError, ValueError) as error:
        raise TypeError(str(error).removeprefix("Pydantic serializer warnings:").strip()) from error
    return to_text(plain)


def to_bytes(value: Any) -> bytes:
    """The same as UTF-8, in a quarter of the time for values that were read from JSON."""
    try:
        data = to_json(value)
    except PydanticSerializationError:
        return to_text(value).encode()
    # Numbers that JSON does not have are refused there, and texts with these words are not.
    return to_text(value).encode() if b"NaN" in data or b"Infinity" in data else data


def to_plain(value: Any) -> Any:
    """The value as dicts, lists and scalars only."""
    return json.loads(to_text(value))


def _explain(value: Any, error: Exception) -> str:
    if isinstance(error, RecursionError) or "Circular" in str(error):
        return "the value contains itself or is nested too deeply to be written as JSON"
    return _find_fault(value, "value") or f"the value cannot be written as JSON: {error}"


def _find_fault(value: Any, path: str) -> str | None:
    """The first place that cannot be written. Slow, and called only after encoding has failed."""
    if isinstance(value, Mapping):
        for key, item in cast(Mapping[Any, Any], value).items():
            if not isinstance(key, str | int | float | bool | None):
                return f"{path} has a key of type {type(key).__name__}; JSON keys are strings"
            if fault := _find_fault(item, f"{path}[{key!r}]"):
                return fault
        return None
    if isinstance(value, list | tuple):
        places = enumerate(cast(list[Any], value))
        return next((fault for i, item in places if (fault := _find_fault(item, f"{path}[{i}]"))), None)
    try:
        _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(value, float):
            return f"{path} is {value}, which JSON cannot hold"
        return f"{path}: {error}"
    return None
