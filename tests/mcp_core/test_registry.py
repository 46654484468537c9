from datetime import date
from types import ModuleType
from typing import Annotated, Any

import pytest
from pydantic import Field

from examples import demo
from mcp_core import App, DeclarationError, Deprecation, Example, Naming, Settings, ToolRegistry, UnknownTool, tool
from mcp_core.declare.spec import spec_of

FULL: dict[str, Any] = {
    "permissions": [],
    "category": "query",
    "response_time": "fast",
    "idempotent": True,
    "examples": [Example("Two", {"a": 2}, 2)],
    "tags": ["numbers"],
}


def made(function_name: str, **changes: Any) -> Any:
    def function(a: Annotated[int, Field(description="Any number.")]) -> int:
        """Give a number back. Use this when the user wants the same number again."""
        return a

    function.__name__ = function_name
    return tool(**FULL | changes)(function)


# --- register and find -----------------------------------------------------------------------------


@pytest.mark.requirement("REG-1")
def test_a_registered_tool_is_found_by_its_name():
    registry = ToolRegistry(Naming("snake", "demo"))
    spec = registry.register(demo.add)
    assert (spec.name, spec.handler, spec.declaration) == ("add", demo.add, spec_of(demo.add).declaration)
    assert registry.get("add") is spec
    assert registry.get("demo_add") is None
    assert registry.find("demo_add") is registry.resolve("demo_add") is spec
    assert registry.find("add") is None
    assert (registry.final_name(spec), registry.final_names()) == ("demo_add", {"add": "demo_add"})


@pytest.mark.requirement("REG-1")
def test_tools_are_listed_in_the_order_of_registration_by_category_and_by_tag():
    registry = ToolRegistry()
    registry.register_all(demo.TOOLS)

    def names(specs: list[Any]) -> list[str]:
        return [spec.name for spec in specs]

    assert names(registry.get_all()) == [function.__name__ for function in demo.TOOLS]
    assert names(registry.get_by_category("mutation")) == ["create_note", "delete_note"]
    assert names(registry.get_by_category("generation")) == ["digest_notes"]
    assert names(registry.get_by_category("analysis")) == []
    assert names(registry.get_by_tag("math")) == ["add"]
    assert names(registry.get_by_tag("mat")) == []


@pytest.mark.requirement("REG-1")
def test_registries_share_nothing():
    first, second = ToolRegistry(), ToolRegistry()
    first.register(demo.add)
    assert (len(first.get_all()), second.get_all()) == (1, [])
    first.get_all().clear()
    assert len(first.get_all()) == 1


@pytest.mark.requirement("REG-1", "COL-4")
def test_a_module_stands_for_the_tools_declared_in_it():
    module, other = ModuleType("cards"), ModuleType("elsewhere")
    first, second, foreign = made("second_in_name"), made("first_in_name"), made("foreign")
    first.__module__ = second.__module__ = module.__name__
    foreign.__module__ = other.__name__
    vars(module).update(first=first, second=second, alias=first, foreign=foreign, helper=lambda: None, LIMIT=5)
    registry = ToolRegistry()
    registry.register_all([module, demo.add])
    assert [spec.name for spec in registry.get_all()] == ["second_in_name", "first_in_name", "add"]


@pytest.mark.requirement("REG-1")
def test_an_example_module_can_be_registered_whole():
    registry = ToolRegistry()
    registry.register_all([demo])
    assert [spec.handler for spec in registry.get_all()] == demo.TOOLS


# --- validate --------------------------------------------------------------------------------------


@pytest.mark.requirement("REG-1", "NAM-8")
@pytest.mark.parametrize(
    ("naming", "name", "problem"),
    [
        (Naming("kebab"), "add", "is not kebab-case verb-noun; rename it, or declare another style for the server"),
        (Naming("snake"), "add-up", "is not snake_case; rename it, or declare another style for the server"),
        (Naming("snake", "p" * 64), "add", "is 68 characters long with its prefix; clients allow 64"),
    ],
)
def test_a_name_against_the_servers_policy_is_found_and_refused(naming: Naming, name: str, problem: str):
    registry = ToolRegistry(naming)
    function = made("function", name=name)
    assert registry.validate(function) == registry.validate(spec_of(function)) == [f"{name}: name: {problem}"]
    with pytest.raises(DeclarationError, match=f"^{name}: name: {problem}$"):
        registry.register(function)
    assert registry.get_all() == []


@pytest.mark.requirement("REG-1")
def test_a_good_tool_has_no_problems():
    assert ToolRegistry().validate(demo.add) == []


@pytest.mark.requirement("REG-1", "DEF-2")
def test_a_faulty_specification_is_refused_at_registration_too():
    function = made("get_number")
    function.__toolcharter__ = type(function.__toolcharter__)(**FULL | {"tags": []})
    registry = ToolRegistry()
    with pytest.raises(DeclarationError, match=r"^get_number: tags: is empty; give at least one tag$"):
        registry.register(function)
    assert registry.get_all() == []


@pytest.mark.requirement("NAM-2", "NAM-8")
def test_a_kebab_case_server_spells_function_names_its_way_and_leaves_given_names():
    registry = ToolRegistry(Naming("kebab", "noema"))
    spelled = registry.register(made("create_card"))
    given = registry.register(made("whatever", name="list-decks"))
    assert [registry.final_name(spec) for spec in (spelled, given)] == ["noema-create-card", "noema-list-decks"]
    assert registry.get("create-card") is spelled
    with pytest.raises(DeclarationError, match=r"^list_decks: name: is not kebab-case verb-noun"):
        registry.register(made("whatever", name="list_decks"))


# --- names that collide ----------------------------------------------------------------------------


@pytest.mark.requirement("NAM-6")
@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ({"name": "x"}, {"name": "x"}, "demo_x"),
        ({"name": "x"}, {"name": "demo_x", "prefix": ""}, "demo_x"),
        ({"name": "x"}, {"name": "x", "prefix": "own"}, "own_x"),
    ],
)
def test_two_tools_of_one_name_are_refused_with_both_places(first: dict, second: dict, shown: str):
    registry = ToolRegistry(Naming("snake", "demo"))
    kept, refused = made("a", **first), demo_like(**second)
    registry.register(kept)
    places = f"{spec_of(kept).source} and {spec_of(refused).source}"
    assert spec_of(kept).source != spec_of(refused).source
    with pytest.raises(DeclarationError) as error:
        registry.register(refused)
    assert str(error.value) == f"{shown}: two tools have this name, at {places}; rename one"
    assert [spec.handler for spec in registry.get_all()] == [kept]


def demo_like(**changes: Any) -> Any:
    """A tool that is written in another place than those of `made`."""

    @tool(**FULL | changes)
    def function(a: Annotated[int, Field(description="Any number.")]) -> int:
        """Give a number back. Use this when the user wants the same number again."""
        return a

    return function


@pytest.mark.requirement("NAM-3")
def test_a_tools_own_prefix_makes_its_final_name():
    registry = ToolRegistry(Naming("snake", "guide"))
    registry.register(made("one", prefix=""))
    registry.register(made("two", prefix="own"))
    registry.register(made("three"))
    assert registry.final_names() == {"one": "one", "two": "own_two", "three": "guide_three"}


# --- links and unknown names -----------------------------------------------------------------------


@pytest.mark.requirement("VER-1")
def test_a_replacement_that_is_not_there_is_refused():
    old = Deprecation(since="2026-01-01", replacement="get_new", removal_date="2026-12-31")
    registry = ToolRegistry(Naming("snake", "demo"))
    registry.register(made("get_old", deprecated=old))
    with pytest.raises(DeclarationError) as error:
        registry.check_replacements()
    assert str(error.value) == "get_old: deprecated: the replacement 'get_new' is not a tool of this server"
    registry.register(made("get_new"))
    registry.check_replacements()
    assert registry.get("get_new") is not None


@pytest.mark.requirement("VER-1")
def test_a_tool_whose_removal_is_due_can_be_removed():
    old = Deprecation(since="1.4.0", replacement="get_new", removal_date="2026-01-01")
    registry = ToolRegistry()
    registry.register_all([made("get_old", deprecated=old), made("get_new")])
    assert registry.remove_due(date(2025, 12, 31)) == []
    assert [spec.name for spec in registry.remove_due(date(2026, 1, 1))] == ["get_old"]
    assert (registry.find("get_old"), [spec.name for spec in registry.get_all()]) == (None, ["get_new"])


@pytest.mark.requirement("VER-1")
async def test_a_server_warns_of_a_tool_whose_removal_is_due_or_hides_it(log):
    old = Deprecation(since="2020-01-01", replacement="get_new", removal_date="2021-01-01")
    tools = [made("get_old", deprecated=old), made("get_new")]
    async with App("demo", tools=tools, settings=Settings()) as app:
        assert [tool.name for tool in app.list_tools()] == ["get_old", "get_new"]
    assert "get_old was to be removed on 2021-01-01. Remove it, or set --hide-removed." in str(log.lines)
    app = App("demo", tools=tools, settings=Settings(hide_removed=True))
    assert [tool.name for tool in app.list_tools()] == ["get_new"]
    late = App("demo", tools=tools, settings=Settings())
    late.use_settings(Settings(hide_removed=True))
    assert [tool.name for tool in late.list_tools()] == ["get_new"]


def test_the_registry_has_the_names_of_the_interface_document():
    registry = ToolRegistry()
    registry.register_all([made("one"), made("two", tags=["pairs"])])
    assert [spec.name for spec in registry.getAll()] == ["one", "two"]
    assert [spec.name for spec in registry.getByTag("pairs")] == ["two"]
    assert registry.getByCategory("query") == registry.get_by_category("query")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [("lst_notes", ("list_notes",)), ("get_notes", ("get_note", "digest_notes")), ("zzzzzzzz", ()), ("", ())],
)
def test_an_unknown_name_is_answered_with_the_nearest(asked: str, nearest: tuple[str, ...]):
    registry = ToolRegistry()
    registry.register_all(demo.TOOLS)
    with pytest.raises(UnknownTool) as unknown:
        registry.resolve(asked)
    assert unknown.value.nearest[: len(nearest)] == nearest
    assert bool(unknown.value.nearest) is bool(nearest)


def test_an_unknown_name_of_any_length_is_answered():
    registry = ToolRegistry()
    registry.register(demo.add)
    with pytest.raises(UnknownTool, match=r"^Unknown tool: '(x{128})'\. tools/list shows all\.$"):
        registry.resolve("x" * 1_000_000)
