"""The form of a model, and what is taken as an answer to it."""

from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from mcp_core.schema.forms import form_schema, read_answer, read_form


class Size(Enum):
    SMALL = "s"
    VERY_LARGE = "xl"


class Order(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=20, description="Who orders.")]
    size: Size = Size.SMALL
    colour: Literal["red", "blue"]
    toppings: Annotated[list[Literal["nuts", "jam"]], Field(max_length=1)] = []
    boxes: Annotated[list[Size], Field(description="Sizes.")] = []
    count: Annotated[int, Field(ge=1, le=9)] = 1
    price: float | None = None
    gift: bool = False
    by: date | None = None

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name == "nobody":
            raise ValueError("is not a customer")
        return name


GIVEN: dict[str, Any] = {"name": "Ana", "colour": "red"}


def test_a_model_is_shown_as_a_flat_form():
    sizes = [{"const": "s", "title": "Small"}, {"const": "xl", "title": "Very large"}]
    assert form_schema(Order) == {
        "type": "object",
        "required": ["name", "colour"],
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "Who orders.", "minLength": 1, "maxLength": 20},
            "size": {"type": "string", "title": "Size", "default": "s", "oneOf": sizes},
            "colour": {"type": "string", "title": "Colour", "enum": ["red", "blue"]},
            "toppings": {
                "type": "array",
                "title": "Toppings",
                "maxItems": 1,
                "default": [],
                "items": {"type": "string", "enum": ["nuts", "jam"]},
            },
            "boxes": {
                "type": "array",
                "title": "Boxes",
                "description": "Sizes.",
                "default": [],
                "items": {"anyOf": sizes},
            },
            "count": {"type": "integer", "title": "Count", "minimum": 1, "maximum": 9, "default": 1},
            "price": {"type": "number", "title": "Price"},
            "gift": {"type": "boolean", "title": "Gift", "default": False},
            "by": {"type": "string", "title": "By", "format": "date"},
        },
    }


class Nested(BaseModel):
    inner: Order


class Tags(BaseModel):
    tags: list[str]


class Number(BaseModel):
    number: Literal[1, 2]


@pytest.mark.parametrize("model", [Nested, Tags, Number])
def test_a_model_that_the_protocol_has_no_form_for_is_an_error(model: type[BaseModel]):
    with pytest.raises(TypeError, match=rf"{model.__name__}\.\w+: "):
        form_schema(model)


def test_an_answer_becomes_the_model():
    answer = {**GIVEN, "size": "xl", "toppings": ["jam"], "by": "2026-11-19", "price": 2, "extra": "ignored"}
    order = Order(name="Ana", colour="red", size=Size.VERY_LARGE, toppings=["jam"], by=date(2026, 11, 19), price=2)
    assert read_form(Order, answer) == order


def test_what_a_client_writes_as_text_is_read():
    read = read_form(Order, {**GIVEN, "colour": "Red", "count": "3", "gift": "true"})
    assert read == Order(name="Ana", colour="red", count=3, gift=True)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a missing field": ({"name": "Ana"}, "colour: is required"),
    "a null": ({"name": "Ana", "colour": None}, "colour: is required"),
    "another type": ({**GIVEN, "count": "many"}, "count: must be a whole number"),
    "a boolean for a number": ({**GIVEN, "count": True}, "count: must be a whole number"),
    "a list for a text": ({**GIVEN, "name": ["Ana"]}, "name: is a list"),
    "another choice": ({**GIVEN, "colour": "green"}, "colour: must be one of red, blue"),
    "another titled choice": ({**GIVEN, "size": "m"}, "size: must be one of s, xl"),
    "another choice in a list": ({**GIVEN, "toppings": ["salt"]}, "toppings: must be one of nuts, jam"),
    "too many choices": ({**GIVEN, "toppings": ["jam", "nuts"]}, "toppings: must have at most 1 choices"),
    "too short": ({**GIVEN, "name": ""}, "name: must have at least 1 characters"),
    "too much": ({**GIVEN, "count": 10}, "count: must be at most 9"),
    "no date": ({**GIVEN, "by": "tomorrow"}, "by: must be a date such as 2026-11-19"),
    "what the model refuses": ({**GIVEN, "name": "nobody"}, "name: is not a customer"),
    "an object": ({**GIVEN, "name": {"first": "Ana"}}, "name: must be a text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_answer_that_is_not_valid_is_refused_by_its_field(name: str):
    answer, problem = WRONG[name]
    assert read_form(Order, answer) == [problem]


def test_the_answer_to_a_form_of_json_schema_is_checked_as_well():
    schema = {
        "type": "object",
        "properties": {"mail": {"type": "string", "format": "email"}, "old": {"type": "string", "enum": ["a", "b"]}},
        "required": ["mail"],
    }
    assert read_answer(schema, {"mail": "ana@example.org", "old": "B"}) == ({"mail": "ana@example.org", "old": "b"}, [])
    assert read_answer(schema, {"mail": "ana", "old": "c"})[1] == [
        "mail: must be an email address",
        "old: must be one of a, b",
    ]
