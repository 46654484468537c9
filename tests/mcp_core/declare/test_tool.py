from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, DeclarationError, Example, tool
from mcp_core.declare.meta import META, declared_meta
from mcp_core.declare.spec import Declaration, declaration_of, spec_of
from tests.mcp_core.declared import FULL, function
from tests.mcp_core.type_checker import type_errors

ASKED: dict[str, Any] = {"permissions": ["cards:read"], "tags": ["cards"], "examples": [Example("Two", {"a": 2}, 2)]}
"""What no kind of tool can know beforehand."""


def declared(decorate: Any) -> Declaration:
    made = declaration_of(decorate(function()))
    assert made is not None
    return made


# --- the four kinds ------------------------------------------------------------------------------------


@pytest.mark.requirement("DEF-1")
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (tool.query, {"category": "query", "response_time": "fast", "idempotent": True}),
        (tool.mutation, {"category": "mutation", "response_time": "fast", "idempotent": False}),
        (tool.analysis, {"category": "analysis", "response_time": "medium", "idempotent": True}),
        (tool.generation, {"category": "generation", "response_time": "slow", "idempotent": False}),
    ],
    ids=["query", "mutation", "analysis", "generation"],
)
def test_a_kind_of_tool_brings_the_usual_values(kind: Any, values: dict[str, Any]):
    assert declared(kind(**ASKED)) == Declaration(**values, **ASKED)


@pytest.mark.requirement("DEF-1", "DEF-2")
@pytest.mark.parametrize("kind", [tool.query, tool.mutation, tool.analysis, tool.generation])
def test_a_strict_server_demands_permissions_examples_and_tags_of_each_kind_of_tool(kind: Any):
    for decorate in (kind, kind()):
        declared = decorate(function())
        with pytest.raises(DeclarationError) as refused:
            App("test", strict=True, tools=[declared])
        assert [line.split(": ")[1] for line in refused.value.problems] == ["permissions", "examples", "tags"]


def test_a_keyword_wins_over_the_usual_value():
    made = declared(tool.query(**ASKED, response_time="slow"))
    assert (made.category, made.response_time, made.idempotent) == ("query", "slow", True)


# --- presets -------------------------------------------------------------------------------------------


def test_a_server_makes_presets_of_its_own_and_presets_of_presets():
    reads = tool.query.preset(permissions=["cards:read"], tags=["cards"])
    slow_reads = reads.preset(response_time="slow")
    examples = ASKED["examples"]
    assert declared(reads(examples=examples)) == declared(tool.query(**ASKED))
    assert declared(slow_reads(examples=examples)) == declared(tool.query(**ASKED, response_time="slow"))
    assert declared(slow_reads(examples=examples, response_time="medium")).response_time == "medium"
    assert declared(reads(examples=examples)).response_time == "fast"


def test_a_preset_that_has_everything_can_be_used_without_parentheses():
    assert declared(tool.preset(**FULL)) == Declaration(**FULL)


@pytest.mark.requirement("DEF-2")
def test_a_typo_in_a_preset_is_found_where_it_is_used():
    with pytest.raises(
        DeclarationError, match="get_number: permission: is not a field of a declaration; did you mean "
    ):
        tool.query.preset(permission=["cards:read"])(function())


# --- caching -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options", "ttl"),
    [
        (tool.query, {}, None),
        (tool.query, {"cache_ttl": 60}, 60),
        (tool.query, {"cache_ttl": None}, None),
        (tool.query.preset(cache_ttl=60), {}, 60),
        (tool.query.preset(cache_ttl=60), {"cache_ttl": 5}, 5),
        (tool.query.preset(cache_ttl=60), {"cache_ttl": None}, None),
        (tool.analysis, {"cache_ttl": 60}, 60),
    ],
)
def test_a_cache_ttl_alone_says_that_the_tool_is_cacheable(kind: Any, options: dict[str, Any], ttl: float | None):
    spec = spec_of(kind(**ASKED, **options)(function()))
    published = {key: value for key, value in declared_meta(spec).items() if "cache" in key}
    assert spec.cache_ttl == ttl
    assert published == {META + "cacheable": ttl is not None} | ({META + "cacheTTL": ttl} if ttl else {})


@pytest.mark.requirement("DEF-2")
def test_a_mutation_is_not_cached_by_giving_it_a_ttl():
    with pytest.raises(DeclarationError, match="cache_ttl: is 60, but a mutation is never cached"):
        tool.mutation(**ASKED, cache_ttl=60)(function())


# --- what cannot be declared ---------------------------------------------------------------------------


@pytest.mark.requirement("DEF-2")
@pytest.mark.parametrize(
    ("typo", "fix"),
    [
        ("permisions", "did you mean permissions?"),
        ("ttl", "did you mean cache_ttl?"),
        ("wxyz", "use one of permissions, category, response_time, "),
    ],
)
def test_a_keyword_that_does_not_exist_is_refused_with_the_nearest_that_does(typo: str, fix: str):
    with pytest.raises(DeclarationError) as refused:
        tool(**FULL, **{typo: 5})(function())
    (problem,) = refused.value.problems
    assert problem.startswith(f"get_number: {typo}: is not a field of a declaration; {fix}")


@pytest.mark.requirement("DEF-2")
def test_a_name_by_position_is_refused():
    with pytest.raises(DeclarationError) as refused:
        tool("get_card")
    assert str(refused.value) == "'get_card' is not a function; give options by keyword, such as name='get_card'"


@pytest.mark.requirement("DEF-2")
def test_a_second_declaration_may_add_to_the_first_but_not_contradict_it():
    target = tool(**FULL)(function())
    with pytest.raises(DeclarationError) as refused:
        tool(permissions=["cards:write"], version="2.0.0")(target)
    (problem,) = refused.value.problems
    assert problem == (
        "get_number: permissions: is ['cards:write'] here, but the function declares ['cards:read']; remove one of them"
    )
    assert declaration_of(target) == Declaration(**FULL)
    assert spec_of(tool(version="2.0.0")(target)).declaration == Declaration(**FULL, version="2.0.0")


# --- for editors and type checkers ---------------------------------------------------------------------


@pytest.mark.requirement("DEF-2")
def test_the_type_checker_rejects_a_typo_and_a_wrong_value_and_keeps_the_type_of_the_function(tmp_path: Path):
    source = """
from toolcharter import App, Example, prompt, tool

app = App("notes", version="1.0.0")
reads = tool.query.preset(permissions=["notes:read"], tags=["notes"])

@reads(examples=[Example("Three", {"text": "a b c"}, 3)])
def count(text: str) -> int: return len(text.split())

@app.tool
def shout(text: str) -> str: return text.upper()

@app.prompt
def ask(text: str) -> str: return text

good: int = count("a b c") + len(shout("a")) + len(ask("a"))

tool(permisions=["notes:read"])
tool.query(category="reading")
reads.preset(cache_ttl="60")
app.tool(dedline=5)
prompt(permission=[])
bad: str = count("a b c")
"""
    assert type_errors(tmp_path, source) == [
        (18, "reportCallIssue"),
        (19, "reportArgumentType"),
        (20, "reportArgumentType"),
        (21, "reportCallIssue"),
        (22, "reportCallIssue"),
        (23, "reportAssignmentType"),
    ]
