import sys
import typing
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, SecretBytes, SecretStr, ValidationError
from pydantic.json_schema import SkipJsonSchema

from examples.demo import TOOLS
from mcp_core import ToolArguments, ToolContext
from mcp_core.declare.schema import (
    UnreadableSignature,
    consent_literal,
    json_schema,
    read_signature,
    secret_fields,
    undescribed,
)
from mcp_core.declare.spec import spec_of


class Store:
    """What an app provides."""


class Open(BaseModel):
    """A model that lets anything in, as pydantic models do."""

    a: int = Field(description="The a.")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A place."""

    x: int = Field(description="To the right.")


class Node(BaseModel):
    name: str
    children: list["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


# --- signatures ------------------------------------------------------------------------------------


@pytest.mark.requirement("ARG-4", "ARG-5")
def test_a_model_and_plain_hints_make_the_same_flat_schema():
    class Wanted(ToolArguments):
        a: int = Field(ge=1, description="The a.")
        b: Literal["x", "y"] = Field(default="x", description="The b.")

    def with_model(args: Wanted):
        pass

    def with_hints(a: Annotated[int, Field(ge=1)], b: Literal["x", "y"] = "x"):
        """Do.

        Args:
            a: The a.
            b: The b.
        """

    expected = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 1, "description": "The a."},
            "b": {"type": "string", "enum": ["x", "y"], "default": "x", "description": "The b."},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    for function in (with_model, with_hints):
        assert json_schema(read_signature(function).model) == expected


@pytest.mark.requirement("ARG-5")
@pytest.mark.parametrize(
    "wrong", [{}, {"a": "x"}, {"a": 0}, {"a": 1, "b": "z"}, {"a": 1, "c": 1}, {"a": None}, {"args": {"a": 1}}]
)
def test_a_model_and_plain_hints_refuse_the_same_with_the_same_words(wrong: dict[str, Any]):
    class Wanted(ToolArguments):
        a: int = Field(ge=1, description="The a.")
        b: Literal["x", "y"] = Field(default="x", description="The b.")

    def with_model(args: Wanted):
        pass

    def with_hints(a: Annotated[int, Field(ge=1)], b: Literal["x", "y"] = "x"):
        pass

    refusals = []
    for function in (with_model, with_hints):
        with pytest.raises(ValidationError) as refused:
            read_signature(function).model.model_validate(wrong)
        refusals.append(refused.value.errors())
    assert refusals[0] == refusals[1]


def test_what_the_app_gives_is_no_argument():
    async def handler(a: int, store: Store, context: ToolContext | None = None) -> list[int]:
        return []

    signature = read_signature(handler)
    assert list(signature.model.model_fields) == ["a"]
    assert (signature.model_parameter, dict(signature.needs)) == (None, {"store": Store})
    assert (signature.context_parameter, signature.returns, signature.is_async) == ("context", list[int], True)


@pytest.mark.requirement("ARG-4")
def test_one_model_beside_what_the_app_gives_is_still_flat():
    def handler(args: Open, context: ToolContext, store: Store):
        pass

    signature = read_signature(handler)
    assert (signature.model_parameter, signature.context_parameter, signature.is_async) == ("args", "context", False)
    assert json_schema(signature.model)["properties"] == {"a": {"type": "integer", "description": "The a."}}


@pytest.mark.requirement("ARG-1")
@pytest.mark.parametrize("extra", ["allow", "ignore", None])
def test_a_model_that_lets_anything_in_is_closed(extra: Any):
    class Lax(Open):
        model_config = ConfigDict(extra=extra) if extra else ConfigDict()

    def handler(args: Lax):
        pass

    model = read_signature(handler).model
    assert issubclass(model, Lax)
    assert json_schema(model)["additionalProperties"] is False
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        model.model_validate({"a": 1, "b": 2})


def test_an_argument_without_a_hint_may_be_anything():
    def handler(a, b=2):
        pass

    assert json_schema(read_signature(handler).model)["properties"] == {"a": {}, "b": {"default": 2}}


@pytest.mark.parametrize("name", ["schema", "json", "copy", "dict", "validate", "model_name", "self"])
def test_an_argument_may_have_the_name_of_a_pydantic_method(name: str):
    made: dict[str, Any] = {}
    exec(f"def handler({name}: int): pass", made)
    assert read_signature(made["handler"]).model.model_validate({name: 3}).__dict__ == {name: 3}


@pytest.mark.requirement("DEF-2")
@pytest.mark.parametrize("name", ["_private", "model_config", "model_fields", "model_dump"])
def test_a_name_that_cannot_be_an_argument_is_refused_not_dropped(name: str):
    made: dict[str, Any] = {}
    exec(f"def handler({name}: int): pass", made)
    with pytest.raises(UnreadableSignature, match=f"takes {name}, which is not a valid argument name; rename it"):
        read_signature(made["handler"])


@pytest.mark.requirement("DEF-2")
def test_signatures_that_agents_cannot_call_are_refused():
    def many(*numbers: int):
        pass

    def named(**options: int):
        pass

    def positional(a: int, /):
        pass

    def missing(a: "NoSuchType"):  # noqa: F821
        pass

    def thing(a: list[Store]):
        pass

    for function, words in (
        (many, r"takes \*numbers: int; agents send named arguments"),
        (named, r"takes \*\*options: int; agents send named arguments"),
        (positional, "takes a: int; agents send named arguments"),
        (missing, "a type hint that cannot be resolved .*NoSuchType.*; import the type"),
        (thing, "an argument that JSON cannot hold .*Store.*; use plain types"),
    ):
        with pytest.raises(UnreadableSignature, match=words):
            read_signature(function)


# --- consent ---------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("kind", ["model", "hints"])
def test_the_demanded_literal_is_a_required_argument(kind: str):
    def with_model(args: Open):
        pass

    def with_hints(a: int):
        pass

    model = read_signature(with_model if kind == "model" else with_hints, "DELETE_NOTE").model
    shown = json_schema(model)
    assert shown["required"] == ["a", "explicit_action"]
    assert shown["properties"]["explicit_action"] == {
        "type": "string",
        "enum": ["DELETE_NOTE"],
        "description": "Must be 'DELETE_NOTE' to confirm that the user asked for this action.",
    }
    assert consent_literal(model) == "DELETE_NOTE"
    assert model.model_validate({"a": 1, "explicit_action": "DELETE_NOTE"})


@pytest.mark.requirement("CON-1")
@given(st.text() | st.none() | st.booleans() | st.integers() | st.lists(st.just("DELETE_NOTE"), max_size=1))
def test_any_other_value_is_refused(value: object):
    def handler(a: int):
        pass

    model = read_signature(handler, "DELETE_NOTE").model
    if value != "DELETE_NOTE":
        with pytest.raises(ValidationError, match="explicit_action"):
            model.model_validate({"a": 1, "explicit_action": value})


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("wrong", [{}, {"explicit_action": "delete_note"}, {"explicit_action": "DELETE_NOTE "}])
def test_nothing_near_the_literal_will_do(wrong: dict[str, str]):
    def handler():
        pass

    with pytest.raises(ValidationError, match="explicit_action"):
        read_signature(handler, "DELETE_NOTE").model.model_validate(wrong)


def test_a_literal_that_the_author_wrote_is_found_and_kept():
    class Own(ToolArguments):
        explicit_action: Literal["GO"] = Field(description="Own words.")

    def handler(args: Own):
        pass

    assert read_signature(handler, "GO").model is Own
    assert consent_literal(Own) == "GO"


@pytest.mark.parametrize("hint", [str, Literal["A", "B"], Literal[1], Literal["A"] | None])
def test_a_field_that_takes_several_values_is_no_consent(hint: Any):
    class Own(ToolArguments):
        explicit_action: hint

    assert consent_literal(Own) is None


# --- secrets ---------------------------------------------------------------------------------------


@pytest.mark.requirement("LOG-6")
def test_secrets_are_found_by_type_by_name_and_by_declaration_at_any_depth():
    class Login(BaseModel):
        pin: SecretStr
        user: str

    class Wanted(ToolArguments):
        api_key: str
        clientSecret: str  # noqa: N815 - as some APIs call it
        raw: SecretBytes
        maybe: SecretStr | None = None
        several: list[SecretStr] | None = None
        by_name: dict[str, SecretStr]
        said: str = Field(json_schema_extra={"secret": True})
        renamed: SecretStr = Field(alias="code")
        logins: list[Login] | None = None
        max_tokens: int = 5
        title: Annotated[str, Field(json_schema_extra={"secret": False})] | None = None

    assert secret_fields(Wanted) == {
        *("api_key", "clientSecret", "raw", "maybe", "several", "by_name", "said", "renamed", "code", "pin"),
    }


def test_a_model_inside_itself_has_its_secrets_found_once():
    class Chain(ToolArguments):
        token: str
        following: "Chain | None" = None

    assert secret_fields(Chain) == {"token"}


# --- JSON Schema -----------------------------------------------------------------------------------


def test_null_is_no_default_where_the_schema_shows_no_null():
    class Wanted(ToolArguments):
        """Not shown."""

        note: str | SkipJsonSchema[None] = Field(default=None, description="May be left out.")

    assert json_schema(Wanted)["properties"] == {"note": {"type": "string", "description": "May be left out."}}


def test_the_schema_is_flat_plain_and_without_references():
    class Wanted(ToolArguments):
        """Not shown."""

        title: str = Field(description="A field that is called title.")
        colour: Colour = Field(default=Colour.RED, description="Which.")
        where: Point
        places: list[Point] = Field(default_factory=list, description="Where.")
        day: date | None = Field(default=None, description="When.")
        note: int | None = Field(description="May be null.")

    assert json_schema(Wanted) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "A field that is called title."},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red", "description": "Which."},
            "where": {
                "type": "object",
                "properties": {"x": {"type": "integer", "description": "To the right."}},
                "required": ["x"],
                "description": "A place.",
            },
            "places": {
                "type": "array",
                "maxItems": 1000,
                "items": {
                    "type": "object",
                    "properties": {"x": {"type": "integer", "description": "To the right."}},
                    "required": ["x"],
                    "description": "A place.",
                },
                "description": "Where.",
            },
            "day": {"type": "string", "format": "date", "description": "When."},
            "note": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "May be null."},
        },
        "required": ["title", "where", "note"],
        "additionalProperties": False,
    }


def test_a_tool_without_arguments_has_an_empty_list_of_them():
    def handler(context: ToolContext):
        pass

    assert json_schema(read_signature(handler).model) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_a_model_inside_itself_has_a_finite_schema():
    def handler(args: Node):
        pass

    assert json_schema(read_signature(handler).model)["properties"]["children"] == {
        "type": "array",
        "maxItems": 1000,
        "default": [],
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {
                    "type": "array",
                    "maxItems": 1000,
                    "default": [],
                    "items": {"type": "object", "description": "Another Node, of the same form."},
                },
            },
            "required": ["name"],
        },
    }


def test_a_choice_of_models_points_to_nothing_that_is_not_there():
    class Wanted(ToolArguments):
        pet: Annotated[Cat | Dog, Field(discriminator="kind", description="Whom.")]

    shown = json_schema(Wanted)
    assert "$defs" not in str(shown)
    assert list(shown["properties"]["pet"]) == ["description", "oneOf"]
    assert Draft202012Validator(shown).is_valid({"pet": {"kind": "dog", "tricks": []}})
    assert not Draft202012Validator(shown).is_valid({"pet": {"kind": "dog", "lives": 9}})


@pytest.mark.parametrize("function", TOOLS, ids=lambda function: function.__name__)
def test_the_examples_schemas_are_valid_and_take_their_examples(function):
    spec = spec_of(function)
    Draft202012Validator.check_schema(spec.input_schema)
    for example in spec.examples:
        Draft202012Validator(spec.input_schema).validate(dict(example.params))


@pytest.mark.requirement("ARG-6")
def test_fields_without_a_description_are_found_at_any_depth():
    class Bare(BaseModel):
        x: int

    class Wanted(ToolArguments):
        a: int
        b: Bare = Field(description="d")
        c: list[Bare] = Field(description="d")
        d: dict[str, Bare] = Field(description="d")
        e: Bare | None = Field(description="d")
        f: tuple[Bare, int] = Field(description="d")
        g: Point

    assert list(undescribed(json_schema(Wanted))) == ["a", "b.x", "c.x", "d.x", "e.x", "f.x"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic reads any TypedDict there")
@pytest.mark.parametrize("place", ["argument", "return"])
def test_a_typed_dict_that_pydantic_cannot_read_is_refused(place: str):
    class Row(typing.TypedDict):
        id: int

    def count(rows: Any) -> Any:
        return 1

    count.__annotations__["rows" if place == "argument" else "return"] = list[Row] | None
    with pytest.raises(UnreadableSignature, match=r"^uses Row, a typing\.TypedDict; import it from typing_extensions"):
        read_signature(count)


def test_consent_can_be_demanded_inside_an_argument():
    class Options(BaseModel):
        explicit_action: Literal["DROP"] = Field(description="Must be DROP.")

    def drop(name: str, options: Annotated[Options, Field(description="How.")]) -> None: ...

    model = read_signature(drop, "DROP").model
    assert consent_literal(model) == "DROP"
    assert "explicit_action" not in model.model_fields
