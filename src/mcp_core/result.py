"""`Result`: the answer of a tool, with one channel for the person and one for the agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from mcp_core import json_text
from mcp_core.hints import AgentHints

T = TypeVar("T")

_SETTABLE = frozenset({"message", "instruction", "hints"})


class Image(NamedTuple):
    """A picture in an answer or in a message of a prompt."""

    data: bytes
    mime_type: str = "image/png"


@dataclass
class Result(Generic[T]):
    """A success or a failure, never both: a result with an `error` is a failure.

    `message` is for the person, `instruction` for the agent. They, and `hints`, may be set later;
    what makes it a success or a failure may not.
    """

    value: T | None = None
    error: str | None = None
    error_type: str | None = None
    exception: BaseException | str | None = None
    message: str | None = None
    instruction: str | None = None
    hints: AgentHints | None = None
    images: Sequence[Image] = ()
    """Shown beside the value, in content blocks of their own."""

    def __post_init__(self) -> None:
        if self.error is None and (self.error_type is not None or self.exception is not None):
            raise ValueError("a failure needs an error: Result.failure(error, error_type)")
        if self.error is not None and not self.error_type:
            raise ValueError("a failure needs an error_type: Result.failure(error, error_type)")
        if self.error is not None and self.value is not None:
            raise ValueError("a Result has a value or an error, not both")
        if self.error is not None and self.images:
            raise ValueError("a failure has no images")

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
        images: Sequence[Image] = (),
    ) -> "Result[T]":
        """A success."""
        return cls(value=value, message=message, instruction=instruction, hints=hints, images=images)

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
        fields: dict[str, Any] = {"success": self.success}
        if self.value is not None:
            fields["value"] = json_text.to_plain(self.value)
        if self.error is not None:
            fields |= {"error": self.error, "error_type": self.error_type}
        if isinstance(self.exception, BaseException):
            fields |= {"exception_type": type(self.exception).__name__, "exception_message": str(self.exception)}
        elif self.exception is not None:
            fields |= {"exception_type": "Exception", "exception_message": self.exception}
        if self.message is not None:
            fields["message"] = self.message
        if self.instruction is not None:
            fields["instruction"] = self.instruction
        return fields

    def to_json_str(self) -> str:
        """The same as compact JSON text. Raises TypeError when the value has no JSON form."""
        return json_text.to_text(self.to_json())
