from pathlib import Path
from typing import Any, get_type_hints

import pytest

from examples.demo import TOOLS
from mcp_core import Confirm, DeclarationError, Deprecation, Example, RateLimit, tool
from mcp_core.declare.checks import spec_problems
from mcp_core.declare.meta import META, declared_meta
from mcp_core.declare.spec import UNSET, Declaration, ToolOptions, declaration_of, spec_of
from tests.mcp_core import declared as declared_tools
from tests.mcp_core.declared import FULL, WORDS, function


@pytest.mark.requirement("DEF-1")
def test_the_keywords_of_tool_are_the_fields_of_a_declaration():
    assert get_type_hints(ToolOptions) == get_type_hints(Declaration)


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
    assert (spec.governed, spec.has_own_name, spec.consent, spec.secret_fields) == (True, False, None, frozenset())
    assert spec.handler is target
    assert list(spec.parameters.model_fields) == ["a"]
    assert spec.source.startswith(str(Path(declared_tools.__file__)) + ":")


@pytest.mark.requirement("DEF-1")
@pytest.mark.parametrize("category", ["query", "mutation", "analysis", "generation"])
@pytest.mark.parametrize("response_time", ["fast", "medium", "slow"])
def test_each_category_and_response_time_may_be_declared(category: str, response_time: str):
    changes = {"category": category, "response_time": response_time, "cache_ttl": None}
    assert spec_of(tool(**FULL | changes)(function())).category == category


@pytest.mark.parametrize(
    ("seconds", "name"), [(0.2, "fast"), (1, "fast"), (1.5, "medium"), (10, "medium"), (60, "slow"), (600.0, "slow")]
)
def test_seconds_are_the_deadline_and_have_the_first_name_with_a_deadline_that_is_not_shorter(seconds, name: str):
    spec = spec_of(tool(**FULL | {"response_time": seconds})(function()))
    assert (spec.deadline, spec.response_time, declared_meta(spec)[META + "responseTime"]) == (seconds, name, name)
    named = spec_of(tool(**FULL | {"response_time": name})(function()))
    assert (named.deadline, named.response_time) == (None, name)


@pytest.mark.requirement("AUT-2")
@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        ({}, ("mutation", False, True, False)),
        ({"read_only": True}, ("query", True, False, True)),
        ({"read_only": False}, ("mutation", False, True, False)),
        ({"cache_ttl": 60}, ("query", True, False, True)),
        ({"tags": ["cards"]}, ("mutation", False, True, False)),
        ({"category": "query"}, ("query", True, False, True)),
        ({"category": "analysis"}, ("analysis", True, False, False)),
        ({"category": "mutation"}, ("mutation", False, False, False)),
        ({"category": "generation", "read_only": True}, ("generation", True, False, False)),
        ({"confirm": Confirm("DROP")}, ("mutation", False, True, False)),
    ],
    ids=str,
)
def test_what_a_tool_does_follows_from_what_is_declared(declared: dict[str, Any], shown: tuple[Any, ...]):
    spec = spec_of(function(), Declaration(**declared))
    assert (spec.category, spec.reads_only, spec.destructive, spec.idempotent) == shown


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


@pytest.mark.requirement("DEF-2")
def test_a_handler_that_agents_cannot_call_is_refused():
    with pytest.raises(DeclarationError, match=r"^spread: takes \*numbers: int; agents send named arguments"):

        @tool(**FULL)
        def spread(*numbers: int):
            """Doc."""


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
