import math
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from mcp_core import App, Confirm, DeclarationError, Deprecation, Example, RateLimit, ToolArguments, hints, tool
from mcp_core.declare.checks import REQUIRED, spec_problems, value_problems
from mcp_core.declare.spec import UNSET, Declaration, spec_of
from tests.mcp_core.declared import FULL, function


def problems_of(**changes: Any) -> tuple[str, ...]:
    """The error of a strict server for a tool with this declaration, which may come at its import."""
    declared = {name: value for name, value in (FULL | changes).items() if value is not UNSET}
    with pytest.raises(DeclarationError) as refused:
        App("test", strict=True).tool(tool(**declared)(function()))
    return refused.value.problems


def test_a_full_declaration_has_no_problems():
    assert spec_problems(spec_of(tool(**FULL)(function()))) == []


# --- a bad one -------------------------------------------------------------------------------------


@pytest.mark.requirement("DEF-1", "DEF-2")
@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_that_is_missing_is_named_with_its_fix(field: str):
    assert problems_of(**{field: UNSET}) == (f"get_number: {field}: is missing; give {REQUIRED[field]}",)


@pytest.mark.requirement("RES-4")
def test_a_return_type_without_a_json_form_is_refused_before_any_call():
    async def get_names() -> set[bytes]:
        """Get the names of everything that this test has made up for itself."""
        return {b"Emma"}

    fix = "return a dataclass, a pydantic model or an object with to_dict\\(\\); for a picture, an Image"
    with pytest.raises(DeclarationError, match=f"get_names: return type: bytes has no JSON form; {fix}"):
        tool(**{**FULL, "examples": [Example("All", {}, [])]})(get_names)


NOT_90_DAYS = Deprecation(since="2026-01-01", replacement="other", removal_date="2026-03-31")


@pytest.mark.requirement("DEF-1", "DEF-2")
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"permissions": ["cards"]}, "permissions: 'cards' is not 'resource:action'; write for example 'cards:read'"),
        ({"permissions": ["Cards:Read"]}, "permissions: 'Cards:Read' is not 'resource:action'; write"),
        ({"permissions": ["a:b:c"]}, "permissions: 'a:b:c' is not 'resource:action'; write"),
        ({"permissions": "cards:read"}, "permissions: 'cards:read' is not valid; give a list of 'resource:action'"),
        ({"permissions": None}, "permissions: None is not valid; give a list of 'resource:action'"),
        ({"permissions": [1]}, "permissions: [1] is not valid; give a list of 'resource:action'"),
        ({"category": "read"}, "category: 'read' is not known; use one of query, mutation, analysis, generation"),
        ({"category": ["query"]}, "category: ['query'] is not known; use one of query, mutation, analysis"),
        ({"response_time": "slowly"}, "response_time: 'slowly' is not known; use one of fast, medium, slow"),
        ({"cache_ttl": 0}, "cache_ttl: is 0; give a number of seconds above 0"),
        ({"cache_ttl": -1}, "cache_ttl: is -1; give a number of seconds above 0"),
        ({"cache_ttl": "60"}, "cache_ttl: '60' is not valid; give a number of seconds above 0"),
        ({"cache_ttl": math.nan}, "cache_ttl: nan is not valid; give a number of seconds above 0"),
        ({"cache_ttl": True}, "cache_ttl: True is not valid; give a number of seconds above 0"),
        ({"category": "mutation"}, "cache_ttl: is 60, but a mutation is never cached; remove it"),
        ({"category": "generation"}, "cache_ttl: is 60, but a generation is never cached; remove it"),
        ({"read_only": "yes"}, "read_only: 'yes' is not valid; give True or False"),
        ({"read_only": False}, "read_only: is False, but a query changes nothing; remove one of them"),
        (
            {"category": "mutation", "cache_ttl": None, "read_only": True},
            "read_only: is True, but a mutation changes something; remove one of them",
        ),
        (
            {"confirm": Confirm(ask=True)},
            "category: is query, but confirm makes the tool destructive; make it a mutation, or not destructive",
        ),
        ({"idempotent": "no"}, "idempotent: 'no' is not True or False"),
        ({"destructive": "no"}, "destructive: 'no' is not valid; give True or False"),
        ({"open_world": None}, "open_world: None is not valid; give True or False"),
        ({"title": ""}, "title: '' is not valid; give a title such as 'List notes'"),
        ({"prefix": 5}, "prefix: 5 is not valid; give a prefix such as 'notes', or the empty text for none"),
        ({"idempotent": False}, "idempotent: is False, but a query has no side effects; set it to True"),
        ({"destructive": True}, "category: is query, but the tool is destructive; make it a mutation"),
        ({"examples": []}, "examples: is empty; give at least one Example(description, params, expected_result)"),
        ({"examples": [{"params": {}}]}, "examples: [{'params': {}}] is not valid; give a list with at least one"),
        ({"examples": Example("x", {"a": 1}, 1)}, "examples: Example("),
        ({"examples": [Example(" ", {"a": 1}, 1)]}, "examples: [Example(description=' '"),
        ({"examples": [Example("x", [], 1)]}, "examples: [Example(description='x', params=[]"),
        ({"examples": [Example("x", {}, 1)]}, "examples: 'x' does not match the schema: a: Field required"),
        ({"examples": [Example("x", {"a": 1, "b": 2}, 1)]}, "examples: 'x' does not match the schema: b: Extra"),
        ({"examples": [Example("x", {"a": "1"}, 1)]}, "examples: 'x' does not match the schema: a: Input should be"),
        (
            {"examples": [Example("x", {"a": 1}, {1})]},
            "examples: 'x' has an expected_result that is not JSON: value: set",
        ),
        ({"examples": [Example("x", {"a": object()}, 1)]}, "examples: 'x' has params that are not JSON: "),
        (
            {"error_messages": {"b": "No b."}},
            "error_messages: names b, which is not an argument; begin with an argument's name",
        ),
        (
            {"error_messages": {"b.missing": "No b."}},
            "error_messages: names b.missing, which is not an argument; begin with an",
        ),
        (
            {"error_messages": {"a": " "}},
            "error_messages: {'a': ' '} is not valid; give a sentence for each 'argument' or",
        ),
        ({"error_messages": "No."}, "error_messages: 'No.' is not valid; give a sentence for each 'argument' or"),
        ({"tags": []}, "tags: is empty; give at least one tag"),
        ({"tags": "cards"}, "tags: 'cards' is not valid; give a list of tags, none of them empty"),
        ({"tags": [""]}, "tags: [''] is not valid; give a list of tags, none of them empty"),
        ({"rate_limit": RateLimit(0, 1000)}, "rate_limit: max_calls and window_ms must be above 0"),
        ({"rate_limit": RateLimit(10, 0)}, "rate_limit: max_calls and window_ms must be above 0"),
        ({"rate_limit": (10, 1000)}, "rate_limit: (10, 1000) is not valid; give a RateLimit(max_calls, window_ms)"),
        ({"rate_limit": RateLimit("10", 1000)}, "rate_limit: RateLimit(max_calls='10', window_ms=1000) is not valid"),
        ({"response_time": 0}, "response_time: is 0; give seconds above 0"),
        ({"response_time": math.nan}, "response_time: nan is not known; use one of fast, medium, slow, or a number of"),
        ({"response_time": "5"}, "response_time: '5' is not known; use one of fast, medium, slow, or a number of"),
        ({"deprecated": NOT_90_DAYS}, "deprecated: is removed 89 days after since; not before 2026-04-01"),
        ({"deprecated": "soon"}, "deprecated: 'soon' is not valid; give a Deprecation(since, replacement,"),
        ({"version": "1.2"}, "version: '1.2' is not a semantic version; write for example '1.2.3'"),
        ({"version": 2}, "version: 2 is not valid; give a semantic version such as '1.2.3'"),
        ({"name": " "}, "name: ' ' is not valid; give a name such as list_notes"),
        ({"description": "Short."}, "description: has 6 of 50 characters; say in the docstring what it does, when to"),
        ({"description": "." + " " * 60}, "description: has 1 of 50 characters; say in the docstring"),
        ({"confirm": "maybe"}, "confirm: 'maybe' is not valid; give a Confirm, such as Confirm("),
        (
            {"confirm": Confirm(required="yes")},
            "confirm: Confirm(literal=None, ask=False, target=None, required='yes')",
        ),
        ({"confirm": Confirm(""), "destructive": False}, "confirm: Confirm(literal='', ask=False"),
        ({"confirm": Confirm(), "destructive": False}, "confirm: has no literal and asks nobody; give a literal, ask="),
        (
            {"confirm": Confirm(ask="Drop {b}?"), "destructive": False},
            "confirm: ask names b, which is not an argument; use argument names in braces",
        ),
        (
            {"confirm": Confirm(ask="Drop {?"), "destructive": False},
            "confirm: ask names Drop {?, which is not an argument",
        ),
        ({"hints": hints.for_value()}, "hints: "),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_broken_field_is_named_with_the_tool_and_the_fix(changes: dict[str, Any], problem: str):
    found = problems_of(**changes)
    name = changes.get("name", "get_number")
    assert len(found) == 1
    assert found[0].startswith(f"{name}: {problem}")


@pytest.mark.requirement("DEF-1", "DEF-2")
def test_a_description_of_49_characters_is_too_short_and_one_of_50_will_do():
    with pytest.raises(DeclarationError, match="get_number: description: has 49 of 50 characters"):
        tool(**FULL)(function("x" * 49))
    assert spec_of(tool(**FULL)(function("x" * 50))).description == "x" * 50


@pytest.mark.requirement("DEF-2")
def test_everything_that_is_wrong_is_said_at_once():
    found = problems_of(category="read", tags=[], examples=[], version="one")
    assert [line.split(": ")[1] for line in found] == ["version", "category", "examples", "tags"]


@pytest.mark.requirement("ARG-6", "DEF-2")
def test_an_argument_without_a_description_is_refused_at_any_depth():
    class Place(BaseModel):
        x: int

    class Wanted(ToolArguments):
        a: int
        place: Place = Field(description="Where.")

    with pytest.raises(DeclarationError) as refused:

        @tool(**FULL | {"examples": [Example("x", {"a": 1, "place": {"x": 1}}, 1)]})
        def locate(args: Wanted):
            """Give a number back. Use this when the user wants the same number again."""

    fix = "has no description; say what it is for and which values it takes"
    assert refused.value.problems == (f"locate: argument a: {fix}", f"locate: argument place.x: {fix}")


# --- consent ---------------------------------------------------------------------------------------


CONSENT = FULL | {"category": "mutation", "cache_ttl": None}


@pytest.mark.requirement("CON-1")
def test_a_tool_that_demands_consent_is_destructive():
    declared = CONSENT | {
        "confirm": Confirm("DROP"),
        "examples": [Example("x", {"a": 1, "explicit_action": "DROP"}, 1)],
    }
    spec = spec_of(tool(**declared)(function()))
    assert (spec.consent, spec.destructive) == ("DROP", True)


@pytest.mark.requirement("CON-1", "DEF-2")
def test_a_literal_with_a_default_is_no_consent():
    class Wanted(ToolArguments):
        explicit_action: Literal["DROP"] = Field(default="DROP", description="Must be DROP.")

    with pytest.raises(
        DeclarationError, match="drop: confirm: explicit_action has a default, so nobody has to state it"
    ):

        @tool(**CONSENT | {"examples": [Example("x", {}, 1)]})
        def drop(args: Wanted):
            """Give a number back. Use this when the user wants the same number again."""


@pytest.mark.requirement("CON-1", "DEF-2")
def test_two_literals_that_differ_are_refused():
    class Wanted(ToolArguments):
        explicit_action: Literal["DROP"] = Field(description="Must be DROP.")

    with pytest.raises(DeclarationError, match="drop: confirm: is 'OTHER', but explicit_action demands 'DROP'"):

        @tool(**CONSENT | {"confirm": Confirm("OTHER"), "examples": [Example("x", {"explicit_action": "DROP"}, 1)]})
        def drop(args: Wanted):
            """Give a number back. Use this when the user wants the same number again."""


# --- deprecation -----------------------------------------------------------------------------------


@pytest.mark.requirement("VER-1")
def test_a_removal_90_days_after_since_is_early_enough():
    deprecated = Deprecation(since="2026-01-01", replacement="other", removal_date="2026-04-01")
    assert spec_of(tool(**FULL, deprecated=deprecated)(function())).declaration.deprecated == deprecated
    assert deprecated.sentence() == "Deprecated since 2026-01-01; use other instead. Removal: 2026-04-01."


@pytest.mark.requirement("VER-1", "DEF-2")
@pytest.mark.parametrize(
    ("since", "removal", "problem"),
    [
        ("2026-01-01", "2026-03-31", "is removed 89 days after since; not before 2026-04-01"),
        ("2026-01-01", "2025-12-31", "is removed -1 days after since; not before 2026-04-01"),
        ("lately", "2026-03-31", "since is an ISO date such as 2026-07-28 or a version such as 1.4.0, removal_date is"),
        ("1.2.0", "soon", "since is an ISO date such as 2026-07-28 or a version such as 1.4.0, removal_date is"),
    ],
)
def test_a_removal_too_soon_or_without_a_date_is_refused(since: str, removal: str, problem: str):
    (found,) = problems_of(deprecated=Deprecation(since=since, replacement="other", removal_date=removal))
    assert found.startswith(f"get_number: deprecated: {problem}")


# --- values of a declaration that is not full ------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "problems"),
    [
        ({}, []),
        ({"response_time": 0.2}, []),
        ({"permissions": "cards:read"}, ["permissions: 'cards:read' is not valid; give a list of 'resource:action', "]),
        ({"permissions": ["cards"]}, ["permissions: 'cards' is not 'resource:action'; write for example 'cards:read'"]),
        ({"response_time": "slowly"}, ["response_time: 'slowly' is not known; use one of fast, medium, slow"]),
        ({"rate_limit": RateLimit(0, 1)}, ["rate_limit: max_calls and window_ms must be above 0"]),
        (
            {"confirm": Confirm(ask="Drop {b}?")},
            ["confirm: ask names b, which is not an argument; use argument names in braces"],
        ),
    ],
)
def test_a_value_is_checked_though_the_declaration_is_not_full(declared: dict[str, Any], problems: list[str]):
    found = value_problems(spec_of(function(), Declaration(**declared)))
    assert len(found) == len(problems)
    assert all(line.startswith(f"get_number: {start}") for line, start in zip(found, problems, strict=True))
