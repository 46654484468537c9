from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypeVar

import pytest
from pydantic import BaseModel, Field, computed_field
from typing_extensions import TypedDict

from mcp_core import Result, ToolResult
from mcp_core.declare.output import types_without_json, value_schema

T = TypeVar("T")


class Card(BaseModel):
    """A card."""

    front: str = Field(alias="Front", description="What is asked.")
    back: str | None = None
    due: date

    @computed_field
    @property
    def length(self) -> int:
        return len(self.front)


class Row(TypedDict):
    id: int
    note: NotRequired[str]


class Tree(BaseModel):
    below: list["Tree"]


@dataclass
class Own:
    """Turns itself into JSON."""

    def to_dict(self) -> dict[str, int]:
        return {}


class Opaque:
    def to_json(self) -> str:
        return "{}"


CARD = {
    "type": "object",
    "description": "A card.",
    "properties": {
        "Front": {"type": "string", "description": "What is asked."},
        "back": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "due": {"type": "string", "format": "date"},
        "length": {"type": "integer", "readOnly": True},
    },
    "required": ["Front", "due", "length"],
}
ROW = {"type": "object", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}}, "required": ["id"]}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (int, {"type": "integer"}),
        (Literal["a"], {"enum": ["a"], "type": "string"}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Card, CARD),
        (Result[Card], CARD),
        (ToolResult[list[Row]], {"type": "array", "items": ROW}),
        (Any, {}),
        (None, {}),
        (type(None), {}),
        (Result, {}),
        (Result[Any], {}),
        (Result[T], {}),
        (Opaque, {}),
        (list[Opaque], {}),
    ],
    ids=str,
)
def test_the_schema_of_a_value_is_that_of_its_annotation(annotation: Any, schema: dict[str, Any]):
    assert value_schema(annotation) == schema


def test_a_type_that_contains_itself_is_written_out_once():
    (inner,) = [value_schema(Tree)["properties"]["below"]["items"]]
    assert inner == {"type": "object", "description": "Another Tree, of the same form."}


@dataclass
class Plain:
    name: str


class Colour(Enum):
    RED = "red"


class Word(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("annotation", "names"),
    [
        (Plain, ["Plain"]),
        (list[Plain] | None, ["Plain"]),
        (dict[str, datetime], ["datetime"]),
        (tuple[Decimal, set[Path]], ["Decimal", "set", "Path"]),
        (Annotated[bytes, "a picture"], ["bytes"]),
        (Colour, ["Colour"]),
    ],
)
def test_types_that_cannot_be_answered_are_found_before_a_call(annotation: Any, names: list[str]):
    assert types_without_json(annotation) == names


@pytest.mark.parametrize("annotation", [Any, T, Card, list[Card], Row, Own, Opaque, Word, Literal["a"], int | None])
def test_types_that_can_be_answered_pass(annotation: Any):
    assert types_without_json(annotation) == []
