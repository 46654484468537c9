import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar, cast
from uuid import UUID

import jsonschema
import pytest
from pydantic import BaseModel, Field, PlainSerializer, computed_field
from typing_extensions import TypedDict

from mcp_core import Result, ToolResult
from mcp_core.declare.output import types_without_json, value_schema, writer

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
CARD_JSON = {"Front": "a", "back": None, "due": "2026-11-18", "length": 1}
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


class Colour(Enum):
    RED = "red"


class Word(StrEnum):
    RED = "red"


@dataclass
class Loan:
    book: str
    due: date
    colours: set[Colour] = field(default_factory=set)
    fee: Decimal | None = None


@dataclass
class Page(Generic[T]):
    items: list[T]
    more: bool = False


class Stamped(TypedDict):
    at: datetime
    loans: NotRequired[list[Loan]]


class Span(NamedTuple):
    first: date
    last: date


Euro = Annotated[Decimal, PlainSerializer(lambda value: f"{value} EUR", return_type=str)]

NOON, DAY = datetime(2026, 11, 18, 12, tzinfo=UTC), date(2026, 11, 18)
LOAN = Loan("Dune", DAY, {Colour.RED}, Decimal("1.50"))
LOAN_JSON = {"book": "Dune", "due": "2026-11-18", "colours": ["red"], "fee": "1.50"}
NUMBER = UUID("12345678-1234-5678-1234-567812345678")


@pytest.mark.parametrize(
    ("annotation", "value", "written"),
    [
        (Loan, LOAN, LOAN_JSON),
        (Result[Loan], LOAN, LOAN_JSON),
        (list[Loan] | None, [LOAN], [LOAN_JSON]),
        (Loan | None, None, None),
        (Page[Loan], Page([LOAN]), {"items": [LOAN_JSON], "more": False}),
        (Page[int], Page([1], more=True), {"items": [1], "more": True}),
        (Stamped, {"at": NOON, "loans": [LOAN]}, {"at": "2026-11-18T12:00:00Z", "loans": [LOAN_JSON]}),
        (Span, Span(DAY, DAY), ["2026-11-18", "2026-11-18"]),
        (dict[str, datetime], {"at": NOON}, {"at": "2026-11-18T12:00:00Z"}),
        (dict[date, int], {DAY: 1}, {"2026-11-18": 1}),
        (time, time(9, 30), "09:30:00"),
        (timedelta, timedelta(hours=1), "PT1H"),
        (Colour, Colour.RED, "red"),
        (Word, Word.RED, "red"),
        (set[int], {1}, [1]),
        (frozenset[Colour], frozenset({Colour.RED}), ["red"]),
        (UUID, NUMBER, str(NUMBER)),
        (tuple[Decimal, Path], (Decimal("0.1"), Path("a/b")), ["0.1", "a/b"]),
        (Euro, Decimal("1.50"), "1.50 EUR"),
        (dict[str, date | Own], {"a": DAY, "b": Own()}, {"a": "2026-11-18", "b": {}}),
        (dict[str, Card | date], {"a": Card(Front="a", due=DAY)}, {"a": CARD_JSON}),
        (dict[str, Any], {"at": NOON, "loan": LOAN}, {"at": "2026-11-18T12:00:00Z", "loan": LOAN_JSON}),
        (list, [{NUMBER}], [[str(NUMBER)]]),
        (list[Opaque], [Opaque()], [{}]),
    ],
)
def test_a_value_is_written_as_pydantic_has_it_and_as_its_schema_says(annotation: Any, value: Any, written: Any):
    text = writer(annotation)(value)
    assert json.loads(text) == written
    jsonschema.validate(written, value_schema(annotation), format_checker=jsonschema.FormatChecker())
    assert types_without_json(annotation) == []


@pytest.mark.parametrize(
    ("annotation", "value", "problem"),
    [
        (Loan, Loan("Dune", cast(Any, "soon")), "Expected `date`"),
        (list[float | date], [float("nan")], r"value\[0\] is nan, which JSON cannot hold"),
        (dict[str, Any], {"a": {"b": object()}}, r"value\['a'\]\['b'\]: object is not JSON"),
        (dict[str, Any], {"a": b"\xff"}, r"value\['a'\]: bytes is not JSON"),
        (Any, {1}, "set is not JSON"),
    ],
)
def test_a_value_that_is_not_what_its_type_says_is_not_written(annotation: Any, value: Any, problem: str):
    with pytest.raises(TypeError, match=problem):
        writer(annotation)(value)


def test_half_a_character_is_replaced_in_what_pydantic_writes_too():
    assert json.loads(writer(Loan)(Loan("a\ud800b", DAY)))["book"] == "a?b"


class Handle:
    """Something that is not data."""


@dataclass
class Open:
    handle: Handle


@pytest.mark.parametrize(
    ("annotation", "names"),
    [
        (Handle, ["Handle"]),
        (Open, ["Open"]),
        (list[Open] | None, ["Open"]),
        (dict[str, Handle], ["Handle"]),
        (Annotated[bytes, "a picture"], ["bytes"]),
        (tuple[bytes, bytearray], ["bytes", "bytearray"]),
        (Callable[[], int], ["Callable"]),
    ],
)
def test_types_that_cannot_be_answered_are_found_before_a_call(annotation: Any, names: list[str]):
    assert types_without_json(annotation) == names


@pytest.mark.parametrize("annotation", [Any, T, Card, list[Card], Row, Own, Opaque, Word, Literal["a"], int | None])
def test_types_that_can_be_answered_pass(annotation: Any):
    assert types_without_json(annotation) == []


class Back(TypedDict):
    inside: "list[Back]"
    at: NotRequired[date]


def test_a_typed_dict_that_contains_itself_is_read_to_its_end():
    assert json.loads(writer(Back)({"inside": [], "at": DAY})) == {"inside": [], "at": "2026-11-18"}
