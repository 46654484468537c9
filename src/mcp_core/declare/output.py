"""The schema of a tool's value, from the return annotation of its function."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, PydanticInvalidForJsonSchema, PydanticUserError, TypeAdapter
from typing_extensions import is_typeddict

from mcp_core.content.blocks import Block, is_content
from mcp_core.declare.schema import JsonSchema, OutputSchemaGenerator, inline_references
from mcp_core.result import Result
from mcp_core.text import json_text
from mcp_core.tool_result import ToolResult

Write = Callable[[Any], str]

_PLAIN = (Any, NoneType, UnionType, object, Mapping, Sequence)
_BINARY = (bytes, bytearray, memoryview)
"""Written as text by pydantic, which fails at the first byte that is not UTF-8."""


def value_type(annotation: Any) -> Any:
    """The type of the value, inside a `Result` or `ToolResult` too; Any where nothing is promised."""
    if get_origin(annotation) in (Result, ToolResult):
        annotation = get_args(annotation)[0]
    if annotation in (None, Result, ToolResult) or isinstance(annotation, TypeVar) or is_content_type(annotation):
        return Any
    return annotation


def is_content_type(annotation: Any) -> bool:
    """Whether a function returns content blocks in place of a value, alone or in a list."""
    return any(issubclass(kind, Block) for kind in _classes_in(annotation))


def type_adapter(annotation: Any) -> TypeAdapter[Any] | None:
    """The adapter that checks a value of that type and knows its schema; None if there is nothing to check."""
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


def is_typed(annotation: Any) -> bool:
    """Whether an annotation says what clients get. Content blocks are for people and models, not for programs."""
    return bool(value_schema(annotation))


def writer(annotation: Any) -> Write:
    """The serializer of values of that type to JSON text.

    Plain data, models and objects that write themselves need no pydantic, which takes longer. All other values, also
    where the type says nothing of them as in `dict[str, Any]`, are written as pydantic has them.
    """
    adapter = type_adapter(annotation)
    if adapter is None:
        return json_text.to_text
    by_pydantic = partial(json_text.serialized_text, serializer=adapter.serializer)
    if any(map(_is_for_pydantic, _classes_in(value_type(annotation)))):
        return by_pydantic

    def write(value: Any) -> str:
        try:
            return json_text.to_text(value)
        except TypeError as error:
            if is_content(value):
                raise
            try:
                return by_pydantic(value)
            except TypeError:
                raise error from None

    return write


def types_without_json(annotation: Any) -> list[str]:
    """The names of types in an annotation whose values cannot be answered: pydantic cannot write them."""
    kinds = [kind for kind in _classes_in(annotation) if _is_for_pydantic(kind) and not _can_be_written(kind)]
    return [kind.__name__ for kind in dict.fromkeys(kinds)]


def _classes_in(annotation: Any, *outer: Any) -> Iterator[type]:
    """The classes that an annotation names, also inside typed dicts and named tuples."""
    origin = get_origin(annotation)
    if origin is Literal or annotation in outer:
        return
    if origin is Annotated:
        yield from _classes_in(get_args(annotation)[0], *outer)
        return
    kind: Any = origin or annotation
    if isinstance(kind, type):
        yield kind
    has_members = is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, tuple) and kind is not tuple)
    for part in (*get_args(annotation), *(get_type_hints(cast(Any, kind)).values() if has_members else ())):
        yield from _classes_in(part, *outer, annotation)


def _is_for_pydantic(kind: type) -> bool:
    """Whether values of a class are written by pydantic: neither plain data nor an object that writes itself."""
    if hasattr(kind, "to_dict") or hasattr(kind, "to_json") or is_typeddict(kind):
        return False
    return kind not in _PLAIN and not issubclass(kind, (BaseModel, str, int, float, list, tuple, dict))


def _can_be_written(kind: Any) -> bool:
    if issubclass(kind, _BINARY):
        return False
    try:
        TypeAdapter(kind).json_schema(mode="serialization")
    except PydanticUserError:
        return False
    return True
