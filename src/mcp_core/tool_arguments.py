"""`ToolArguments`: the base class of argument models, the collection of declared tools, and common fields."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, ClassVar, Literal, Self, TypeVar, Unpack, overload

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema, core_schema

from mcp_core.declare import describe
from mcp_core.declare.collection import DECLARED_TOOLS
from mcp_core.declare.spec import ToolOptions, spec_of
from mcp_core.declare.tool import check_function, tool

F = TypeVar("F", bound=Callable[..., Any])


class ToolArguments(BaseModel):
    """The arguments of a tool. Unknown ones are refused; assignments are validated too."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    @overload
    @staticmethod
    def declare(function: F, /) -> F: ...
    @overload
    @staticmethod
    def declare(**options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
    @staticmethod
    def declare(function: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Declare a tool, as `tool` does, and add it to the collection, also if it is not at the top of a module.

        The function is returned as it is.
        """

        def collect(target: F) -> F:
            declared = tool(**options)(target) if options else tool(target)
            DECLARED_TOOLS.add(declared)
            return declared

        return collect if function is None else collect(check_function(function))

    @staticmethod
    def get_declared_tools() -> dict[str, Callable[..., Any]]:
        """All tools declared since the last call, by name. The collection is empty afterwards."""
        return DECLARED_TOOLS.take()

    @classmethod
    def to_schema_markdown(cls) -> str:
        """The arguments as Markdown, under a `## Arguments` heading."""
        return describe.schema_markdown(cls)

    @staticmethod
    def build_tool_description(function: Callable[..., Any]) -> str:
        """A function's docstring joined with its schema: in four sections where the tool is fully declared."""
        spec = spec_of(function)
        return describe.full(spec) if spec.governed else describe.with_arguments(spec)


# --- common fields, written once ---------------------------------------------------------------------------


class BrandedId(str):
    """An id whose prefix says what it identifies: `card_123` is a CardId and never a DeckId.

    Make your own with `class CardId(BrandedId, prefix="card")`.
    """

    __slots__ = ()
    prefix: ClassVar[str] = ""

    def __init_subclass__(cls, *, prefix: str, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.prefix = prefix

    def __new__(cls, value: str) -> Self:
        if isinstance(value, BrandedId) and type(value) is not cls:
            raise ValueError(f"{value!r} is a {type(value).__name__}, not a {cls.__name__}")
        if not value.startswith(f"{cls.prefix}_") or len(value) <= len(cls.prefix) + 1:
            raise ValueError(f"{value!r} is not a {cls.__name__}: it must start with '{cls.prefix}_'")
        return super().__new__(cls, value)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = core_schema.str_schema(pattern=f"^{cls.prefix}_[A-Za-z0-9_-]+$", max_length=128)
        # The brand is checked first: an id of another brand is refused even if its text would be valid.
        branded = core_schema.no_info_before_validator_function(cls._same_brand, text)
        return core_schema.no_info_after_validator_function(
            cls, branded, serialization=core_schema.plain_serializer_function_ser_schema(str.__str__)
        )

    @classmethod
    def _same_brand(cls, value: Any) -> Any:
        if isinstance(value, BrandedId) and type(value) is not cls:
            raise ValueError(f"a {type(value).__name__} is not a {cls.__name__}")
        return value


class UserId(BrandedId, prefix="user"):
    """The id of a user."""


class Pagination(ToolArguments):
    """For tools that list: inherit from it."""

    limit: int = Field(default=20, ge=1, le=100, description="How many items to return, 1 to 100.")
    offset: int = Field(default=0, ge=0, description="How many items to skip; ignored when a cursor is given.")
    cursor: str | None = Field(default=None, max_length=512, description="Where to continue, from the previous answer.")


class Sorting(ToolArguments):
    """For tools that sort: inherit from it, and narrow `sort_by` to the fields there are."""

    sort_by: str | None = Field(default=None, max_length=64, description="The field to sort by.")
    sort_order: Literal["asc", "desc"] = Field(default="asc", description="Ascending (asc) or descending (desc).")


class DateRange(ToolArguments):
    """For tools that take a period: inherit from it. Both ends are included."""

    from_: date | None = Field(default=None, alias="from", description="First day of the period, YYYY-MM-DD.")
    to: date | None = Field(default=None, description="Last day of the period, YYYY-MM-DD.")

    @model_validator(mode="after")
    def _in_order(self) -> "DateRange":
        if self.from_ and self.to and self.from_ > self.to:
            raise ValueError(f"the period ends ({self.to}) before it begins ({self.from_})")
        return self


class CommonMetadata(BaseModel):
    """Common metadata of anything that is stored."""

    created_at: datetime = Field(description="When it was created, UTC.")
    updated_at: datetime = Field(description="When it was last changed, UTC.")
    tags: list[str] = Field(default_factory=list, description="Labels for finding it.")
