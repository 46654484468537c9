import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from examples.demo import TOOLS
from mcp_core import Deprecation, Example, RateLimit, ToolArguments, hints, tool
from mcp_core.declare.spec import REQUIRED, UNSET, Declaration, declaration_of, spec_of, spec_problems
from mcp_core.errors import DeclarationError

FULL: dict[str, Any] = {
    "permissions": ["cards:read"],
    "category": "query",
    "response_time": "fast",
    "cacheable": True,
    "cache_ttl": 60,
    "idempotent": True,
    "examples": [Example("Two", {"a": 2}, 2)],
    "tags": ["cards"],
}
WORDS = "Give a number back. Use this when the user wants the same number again."
assert len(WORDS) >= 50


def function(words: str = WORDS) -> Callable[..., Any]:
    async def get_number(a: Annotated[int, Field(description="Any number.")]) -> int:
        return a

    get_number.__doc__ = words
    return get_number


def problems_of(**changes: Any) -> tuple[str, ...]:
    """What importing a module with this declaration would say."""
    declared = {name: value for name, value in (FULL | changes).items() if value is not UNSET}
    with pytest.raises(DeclarationError) as refused:
        tool(**declared)(function())
    return refused.value.problems


# --- a good one ------------------------------------------------------------------------------------


@pytest.mark.requirement("DEF-1")
def test_a_full_declaration_becomes_a_complete_tool():
    declared = FULL | {
        "rate_limit": RateLimit(max_calls=5, window_ms=1000),
        "deprecated": Deprecation(since="2026-01-01", replacement="other", removal_date="2026-12-31"),
    }
    target = function()
    assert tool(**declared)(target) is target
    spec = spec_of(target)
    assert (spec.name, spec.description, spec.permissions, spec.category) == (
        "get_number",
        WORDS,
        ("cards:read",),
        "query",
    )
    assert (spec.response_time, spec.cache_ttl, spec.idempotent, spec.destructive) == ("fast", 60, True, False)
    assert (spec.examples, spec.tags) == ((Example("Two", {"a": 2}, 2),), ("cards",))
    assert spec.declaration == Declaration(**declared)
    assert (spec.governed, spec.named, spec.consent, spec.secret_fields) == (True, False, None, frozenset())
    assert spec.handler is target
    assert list(spec.parameters.model_fields) == ["a"]
    assert spec.source.startswith(str(Path(__file__)) + ":")
    assert spec_problems(spec) == []


@pytest.mark.requirement("DEF-1")
@pytest.mark.parametrize("category", ["query", "mutation", "analysis", "generation"])
@pytest.mark.parametrize("response_time", ["fast", "medium", "slow"])
def test_each_category_and_response_time_may_be_declared(category: str, response_time: str):
    changes = {"category": category, "response_time": response_time, "cacheable": False, "cache_ttl": None}
    assert spec_of(tool(**FULL | changes)(function())).category == category


@pytest.mark.requirement("DEF-1")
def test_permissions_may_be_empty():
    assert spec_of(tool(**FULL | {"permissions": []})(function())).permissions == ()


@pytest.mark.parametrize("target", TOOLS, ids=lambda target: target.__name__)
def test_the_examples_own_tools_are_declared_in_full(target):
    assert (spec_of(target).governed, spec_problems(spec_of(target))) == (True, [])


@pytest.mark.requirement("COL-6")
async def test_a_declared_tool_can_be_called_directly():
    target = tool(**FULL)(function())
    assert await target(3) == 3
    assert await target(a=4) == 4


# --- a bad one -------------------------------------------------------------------------------------


@pytest.mark.requirement("DEF-1", "DEF-2")
@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_that_is_missing_is_named_with_its_fix(field: str):
    changes = {field: UNSET} | ({"cache_ttl": None} if field == "cacheable" else {})
    assert problems_of(**changes) == (f"get_number: {field}: is missing; give {REQUIRED[field]}",)


NOT_90_DAYS = Deprecation(since="2026-01-01", replacement="other", removal_date="2026-03-31")


@pytest.mark.requirement("DEF-1", "DEF-2")
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"permissions": ["cards"]}, "permissions: 'cards' is not 'resource:action'; write for example 'cards:read'"),
        ({"permissions": ["Cards:Read"]}, "permissions: 'Cards:Read' is not 'resource:action'; write"),
        ({"permissions": ["a:b:c"]}, "permissions: 'a:b:c' is not 'resource:action'; write"),
        ({"permissions": "cards:read"}, "permissions: 'cards:read' will not do; give a list of 'resource:action'"),
        ({"permissions": None}, "permissions: None will not do; give a list of 'resource:action'"),
        ({"permissions": [1]}, "permissions: [1] will not do; give a list of 'resource:action'"),
        ({"category": "read"}, "category: 'read' is not known; use one of query, mutation, analysis, generation"),
        ({"category": ["query"]}, "category: ['query'] is not known; use one of query, mutation, analysis"),
        ({"response_time": "slowly"}, "response_time: 'slowly' is not known; use one of fast, medium, slow"),
        ({"cacheable": "yes"}, "cacheable: 'yes' is not True or False"),
        ({"cacheable": 1}, "cacheable: 1 is not True or False"),
        ({"cache_ttl": None}, "cache_ttl: is None; a cacheable tool needs a number of seconds above 0"),
        ({"cache_ttl": 0}, "cache_ttl: is 0; a cacheable tool needs a number of seconds above 0"),
        ({"cache_ttl": -1}, "cache_ttl: is -1; a cacheable tool needs a number of seconds above 0"),
        ({"cache_ttl": "60"}, "cache_ttl: '60' will not do; give a number of seconds above 0"),
        ({"cache_ttl": math.nan}, "cache_ttl: nan will not do; give a number of seconds above 0"),
        ({"cache_ttl": True}, "cache_ttl: True will not do; give a number of seconds above 0"),
        ({"cacheable": False}, "cache_ttl: is set, but cacheable is False; remove it, or set cacheable=True"),
        ({"category": "mutation"}, "cacheable: is True, but a mutation is never cached; set it to False"),
        ({"category": "generation"}, "cacheable: is True, but a generation is never cached; set it to False"),
        ({"idempotent": "no"}, "idempotent: 'no' is not True or False"),
        ({"idempotent": False}, "idempotent: is False, but a query has no side effects; set it to True"),
        ({"destructive": True}, "category: is query, but the tool is destructive; make it a mutation"),
        ({"examples": []}, "examples: is empty; give at least one Example(description, params, expected_result)"),
        ({"examples": [{"params": {}}]}, "examples: [{'params': {}}] will not do; give a list with at least one"),
        ({"examples": Example("x", {"a": 1}, 1)}, "examples: Example("),
        ({"examples": [Example(" ", {"a": 1}, 1)]}, "examples: [Example(description=' '"),
        ({"examples": [Example("x", [], 1)]}, "examples: [Example(description='x', params=[]"),
        ({"examples": [Example("x", {}, 1)]}, "examples: 'x' does not fit the schema: a: Field required"),
        ({"examples": [Example("x", {"a": 1, "b": 2}, 1)]}, "examples: 'x' does not fit the schema: b: Extra"),
        ({"examples": [Example("x", {"a": "1"}, 1)]}, "examples: 'x' does not fit the schema: a: Input should be"),
        ({"examples": [Example("x", {"a": object()}, 1)]}, "examples: 'x' has params that are no JSON: "),
        ({"refusals": {"b": "No b."}}, "refusals: speaks of b, which is no argument; begin with an argument's name"),
        ({"refusals": {"b.missing": "No b."}}, "refusals: speaks of b.missing, which is no argument; begin with an"),
        ({"refusals": {"a": " "}}, "refusals: {'a': ' '} will not do; give a sentence for each 'argument' or"),
        ({"refusals": "No."}, "refusals: 'No.' will not do; give a sentence for each 'argument' or"),
        ({"tags": []}, "tags: is empty; give at least one tag"),
        ({"tags": "cards"}, "tags: 'cards' will not do; give a list of tags, none of them empty"),
        ({"tags": [""]}, "tags: [''] will not do; give a list of tags, none of them empty"),
        ({"rate_limit": RateLimit(0, 1000)}, "rate_limit: max_calls and window_ms must be above 0"),
        ({"rate_limit": RateLimit(10, 0)}, "rate_limit: max_calls and window_ms must be above 0"),
        ({"rate_limit": (10, 1000)}, "rate_limit: (10, 1000) will not do; give a RateLimit(max_calls, window_ms)"),
        ({"rate_limit": RateLimit("10", 1000)}, "rate_limit: RateLimit(max_calls='10', window_ms=1000) will not do"),
        ({"deadline": 0}, "deadline: is 0; give seconds above 0"),
        ({"deadline": math.nan}, "deadline: nan will not do; give a number of seconds above 0"),
        ({"deadline": "5"}, "deadline: '5' will not do; give a number of seconds above 0"),
        ({"deprecated": NOT_90_DAYS}, "deprecated: is removed 89 days after since; not before 2026-04-01"),
        ({"deprecated": "soon"}, "deprecated: 'soon' will not do; give a Deprecation(since, replacement,"),
        ({"version": "1.2"}, "version: '1.2' is not a semantic version; write for example '1.2.3'"),
        ({"version": 2}, "version: 2 will not do; give a semantic version such as '1.2.3'"),
        ({"name": " "}, "name: ' ' will not do; give a name such as list_notes"),
        ({"description": "Short."}, "description: has 6 of 50 characters; say in the docstring what it does, when to"),
        ({"description": "." + " " * 60}, "description: has 1 of 50 characters; say in the docstring"),
        ({"confirm": "maybe"}, "confirm: 'maybe' is not known; use one of if_possible, required"),
        ({"question": "Drop {b}?"}, "question: speaks of b, which is no argument; use argument names in braces"),
        ({"question": "Drop {?"}, "question: speaks of Drop {?, which is no argument"),
        ({"consent": ""}, "consent: '' will not do; give the words that state it, such as 'DELETE_NOTE'"),
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


@pytest.mark.requirement("DEF-2")
def test_a_field_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(DeclarationError, match="get_number: ttl: no such field; there are permissions, category, "):
        tool(**FULL, ttl=5)(function())


@pytest.mark.requirement("DEF-2")
def test_a_handler_that_agents_cannot_call_is_refused():
    with pytest.raises(DeclarationError, match=r"^spread: takes \*numbers: int; agents send named arguments"):

        @tool(**FULL)
        def spread(*numbers: int):
            """Doc."""


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


CONSENT = FULL | {"category": "mutation", "cacheable": False, "cache_ttl": None}


@pytest.mark.requirement("CON-1")
def test_a_tool_that_demands_consent_is_destructive():
    declared = CONSENT | {"consent": "DROP", "examples": [Example("x", {"a": 1, "explicit_action": "DROP"}, 1)]}
    spec = spec_of(tool(**declared)(function()))
    assert (spec.consent, spec.destructive) == ("DROP", True)


@pytest.mark.requirement("CON-1", "DEF-2")
def test_a_literal_with_a_default_is_no_consent():
    class Wanted(ToolArguments):
        explicit_action: Literal["DROP"] = Field(default="DROP", description="Must be DROP.")

    with pytest.raises(DeclarationError, match="drop: consent: explicit_action has a default, which nobody has to"):

        @tool(**CONSENT | {"examples": [Example("x", {}, 1)]})
        def drop(args: Wanted):
            """Give a number back. Use this when the user wants the same number again."""


@pytest.mark.requirement("CON-1", "DEF-2")
def test_two_literals_that_differ_are_refused():
    class Wanted(ToolArguments):
        explicit_action: Literal["DROP"] = Field(description="Must be DROP.")

    with pytest.raises(DeclarationError, match="drop: consent: is 'OTHER', but explicit_action demands 'DROP'"):

        @tool(**CONSENT | {"consent": "OTHER", "examples": [Example("x", {"explicit_action": "DROP"}, 1)]})
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
        ("1.2.0", "2026-03-31", "since and removal_date are ISO dates such as 2026-07-28"),
        ("2026-01-01", "soon", "since and removal_date are ISO dates such as 2026-07-28"),
    ],
)
def test_a_removal_too_soon_or_without_a_date_is_refused(since: str, removal: str, problem: str):
    (found,) = problems_of(deprecated=Deprecation(since=since, replacement="other", removal_date=removal))
    assert found.startswith(f"get_number: deprecated: {problem}")


# --- bare functions --------------------------------------------------------------------------------


def test_a_bare_function_is_served_but_not_vouched_for_and_trusted_with_little():
    target = function("Short.")
    assert tool(target) is target
    spec = spec_of(target)
    assert spec.declaration == Declaration()
    assert (spec.governed, spec.category, spec.response_time, spec.idempotent) == (False, "mutation", "slow", False)
    assert (spec.permissions, spec.tags, spec.examples, spec.cache_ttl) == ((), (), (), None)


def test_declaring_a_tool_again_without_words_keeps_what_was_declared():
    target = tool(**FULL)(function())
    assert declaration_of(tool(target)) == Declaration(**FULL)


def test_a_function_that_is_no_tool_has_no_declaration():
    assert declaration_of(function()) is None
    assert repr(UNSET) == "unset"
