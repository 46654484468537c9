"""The schema of a tool's value, from the return annotation of its function."""

from dataclasses import is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin
from uuid import UUID

from pydantic import ConfigDict, PydanticInvalidForJsonSchema, PydanticUserError, TypeAdapter

from mcp_core.declare.schema import JsonSchema, OutputSchemaGenerator, inline_references
from mcp_core.result import Image, Result
from mcp_core.tool_result import ToolResult

_NOT_JSON = (set, frozenset, bytes, bytearray, date, time, timedelta, Decimal, UUID, PurePath)


def value_type(annotation: Any) -> Any:
    """The type of the value, inside a `Result` or `ToolResult` too; Any where nothing is promised."""
    if get_origin(annotation) in (Result, ToolResult):
        annotation = get_args(annotation)[0]
    if annotation is Image:
        return str  # its type and size; the picture is a content block of its own
    return Any if annotation in (None, Result, ToolResult) or isinstance(annotation, TypeVar) else annotation


def type_adapter(annotation: Any) -> TypeAdapter[Any] | None:
    """What checks a value of that type and knows its schema; None where there is nothing to check."""
    of = value_type(annotation)
    if of is Any or of is type(None):
        return None
    # A model, dataclass or TypedDict brings its own configuration, and takes no other.
    for config in (ConfigDict(arbitrary_types_allowed=True), None):
        try:
            return TypeAdapter(of, config=config)
        except PydanticUserError:
            continue
    return None


def value_schema(annotation: Any) -> JsonSchema:
    """The schema of the value as it is answered; the empty one, which allows anything, where nothing is known."""
    adapter = type_adapter(annotation)
    if adapter is None:
        return {}
    try:
        schema = adapter.json_schema(mode="serialization", by_alias=True, schema_generator=OutputSchemaGenerator)
    except PydanticInvalidForJsonSchema:
        return {}  # an object that turns itself into JSON
    return inline_references(schema)


def types_without_json(annotation: Any) -> list[str]:
    """The names of types in an annotation whose values cannot be answered."""
    origin = get_origin(annotation)
    if origin is Literal:
        return []
    if origin is Annotated:
        return types_without_json(get_args(annotation)[0])
    parts = [name for part in get_args(annotation) for name in types_without_json(part)]
    kind = origin or annotation
    if not isinstance(kind, type) or not _has_no_json(kind):
        return parts
    return [kind.__name__, *parts]


def _has_no_json(kind: type) -> bool:
    if hasattr(kind, "to_dict") or hasattr(kind, "to_json"):
        return False
    if is_dataclass(kind) or issubclass(kind, _NOT_JSON):
        return True
    return issubclass(kind, Enum) and not issubclass(kind, str | int | float)
