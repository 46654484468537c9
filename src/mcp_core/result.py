"""`Result`: the answer of a tool, with one channel for the person and one for the agent. `Body`: the same, checked."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar

from pydantic import ConfigDict, Field, WithJsonSchema, model_serializer
from pydantic_core import SchemaSerializer, core_schema

from mcp_core.content.blocks import TextOrBlock
from mcp_core.errors import ErrorKind
from mcp_core.hints import AgentHints
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject

T = TypeVar("T")

_SETTABLE = frozenset({"message", "instruction", "hints"})
_NOT_SENT = Field(exclude=True)


@dataclass
class Result(Generic[T]):
    """A success or a failure, never both: a result with an `error` is a failure.

    `message` is for the person, `instruction` for the agent. They, and `hints`, may be set later;
    what makes it a success or a failure may not.

    Pydantic serializes it as `to_json` has it, with the value as its type says. So FastMCP and the SDK's MCPServer,
    which serialize with pydantic what a tool returns, send this JSON.
    """

    value: T | None = None
    error: str | None = None
    error_type: str | None = None
    exception: Annotated[BaseException | str | None, _NOT_SENT, WithJsonSchema({})] = None
    message: str | None = None
    instruction: str | None = None
    hints: Annotated[AgentHints | None, _NOT_SENT] = None
    content: Annotated[Sequence[TextOrBlock], _NOT_SENT, WithJsonSchema({})] = ()
    """Images, sounds, files, links and texts: blocks of their own, beside the value or without one."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)
    __pydantic_serializer__: ClassVar[SchemaSerializer]
    """For results whose annotation is not known: `pydantic_core.to_json` looks for it."""

    def __post_init__(self) -> None:
        if self.error is None and (self.error_type is not None or self.exception is not None):
            raise ValueError("a failure needs an error: Result.failure(error, error_type)")
        if self.error is not None and not self.error_type:
            raise ValueError("a failure needs an error_type: Result.failure(error, error_type)")
        if self.error is not None and self.value is not None:
            raise ValueError("a Result has a value or an error, not both")
        if self.error is not None and self.content:
            raise ValueError("a failure has no content")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _SETTABLE and name in self.__dict__:
            raise AttributeError(f"{name} is fixed once a Result is made; make a new Result")
        super().__setattr__(name, value)

    @classmethod
    def ok(
        cls,
        value: T | None = None,
        message: str | None = None,
        instruction: str | None = None,
        hints: AgentHints | None = None,
        content: Sequence[TextOrBlock] = (),
    ) -> "Result[T]":
        """A success."""
        return cls(value=value, message=message, instruction=instruction, hints=hints, content=content)

    @classmethod
    def failure(
        cls,
        error: str,
        error_type: str = "ToolError",
        exception: BaseException | str | None = None,
        message: str | None = None,
        instruction: str | None = None,
    ) -> "Result[T]":
        """A failure: what went wrong, and of which type."""
        return cls(error=error, error_type=error_type, exception=exception, message=message, instruction=instruction)

    @property
    def success(self) -> bool:
        """Whether the call did what was asked."""
        return self.error is None

    def is_ok(self) -> bool:
        """Whether this is a success."""
        return self.error is None

    def is_failure(self) -> bool:
        """Whether this is a failure."""
        return self.error is not None

    def to_json(self) -> dict[str, Any]:
        """Plain data; optional fields only when present."""
        return self._fields(None if self.value is None else json_text.to_plain(self.value))

    def _fields(self, value: Any) -> dict[str, Any]:
        fields: dict[str, Any] = {"success": self.success}
        if value is not None:
            fields["value"] = value
        if self.error is not None:
            fields |= {"error": self.error, "error_type": self.error_type}
        if isinstance(self.exception, BaseException):
            fields |= {"exception_type": type(self.exception).__name__, "exception_message": str(self.exception)}
        elif self.exception is not None:
            fields["exception_message"] = self.exception
        if self.message is not None:
            fields["message"] = self.message
        if self.instruction is not None:
            fields["instruction"] = self.instruction
        return fields

    def to_json_str(self) -> str:
        """The same as compact JSON text. Raises TypeError when the value has no JSON form."""
        return json_text.to_text(self.to_json())

    @model_serializer(mode="wrap")
    def _serialize(self, handler: Callable[["Result[T]"], dict[str, Any]]) -> dict[str, Any]:
        return self._fields(handler(self).get("value"))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Callable[[Any], JsonObject]) -> JsonObject:
        """The schema of its JSON: the fields that are sent, each only when it is present."""
        value = handler(schema | {"serialization": None})["properties"]["value"]
        texts = ("error", "error_type", "exception_type", "exception_message", "message", "instruction")
        properties = {"success": {"type": "boolean"}, "value": value} | {name: {"type": "string"} for name in texts}
        return {"type": "object", "properties": properties, "required": ["success"]}


_ANY = core_schema.plain_serializer_function_ser_schema(lambda result: result._fields(result.value))
Result.__pydantic_serializer__ = SchemaSerializer(core_schema.any_schema(serialization=_ANY))


class Failure(NamedTuple):
    """Why a call failed, in texts that may leave the server."""

    error: str
    error_type: str
    kind: ErrorKind
    error_id: str | None = None
    exception_type: str | None = None


class Body(NamedTuple):
    """A checked result, as caches and idempotency stores keep it, before it is put into a wire format.

    `data`, `hints` and `blocks` are JSON texts.
    """

    data: str | None = None
    failure: Failure | None = None
    message: str | None = None
    instruction: str | None = None
    hints: str | None = None
    blocks: str = ""
    """Content blocks, such as images, with commas between them."""
    is_content: bool = False
    """Whether the blocks are the value itself; `data` is then their text form."""
    verbatim: bool = False
    """Whether the blocks are the whole answer, as another server gave it; `data` is its structured content."""
    meta: str | None = None
    """The `_meta` that another server gave, as JSON text."""

    def rename_tools(self, rename: Callable[[str], str]) -> "Body":
        """The same, with other names of tools in the texts. Hints have these names already."""
        return self._replace(
            failure=self.failure and self.failure._replace(error=rename(self.failure.error)),
            message=self.message and rename(self.message),
            instruction=self.instruction and rename(self.instruction),
        )

    def to_text(self) -> str:
        """The form in which stores outside of this process keep it."""
        return json.dumps(self._asdict() | {"failure": self.failure and self.failure._asdict()})

    @classmethod
    def from_text(cls, text: str) -> "Body":
        """The opposite of `to_text`. Raises ValueError, TypeError or KeyError for another text."""
        fields = json.loads(text)
        failure = fields["failure"] and Failure(**fields["failure"])
        return cls(**fields | {"failure": failure})
