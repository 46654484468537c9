import asyncio
import importlib
import sys
import threading
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from mcp_core import (
    BrandedId,
    CommonMetadata,
    DateRange,
    DeclarationError,
    Example,
    ExtMcpToolDecorator,
    Pagination,
    Sorting,
    ToolArguments,
    UserId,
    tool,
)
from mcp_core.declare.collection import DECLARED_TOOLS
from mcp_core.declare.describe import full
from mcp_core.declare.schema import json_schema
from mcp_core.declare.spec import declaration_of, spec_of
from tests.mcp_core.type_checker import type_errors


@pytest.fixture(autouse=True)
def _empty_collection():
    ToolArguments.get_declared_tools()
    yield
    ToolArguments.get_declared_tools()


class CardId(BrandedId, prefix="card"):
    """The id of a card."""


class DeckId(BrandedId, prefix="deck"):
    """The id of a deck."""


# --- the model -------------------------------------------------------------------------------------


class Wanted(ToolArguments):
    name: str = Field(min_length=1, description="A name.")
    style: Literal["short", "long"] = Field(default="short", description="How to say it.")


@pytest.mark.requirement("ARG-1")
def test_unknown_arguments_are_refused():
    with pytest.raises(ValidationError, match="nmae\n  Extra inputs are not permitted"):
        Wanted.model_validate({"name": "x", "nmae": "y"})


@pytest.mark.requirement("ARG-1")
@pytest.mark.parametrize(("field", "value"), [("name", ""), ("name", 3), ("style", "medium"), ("other", 1)])
def test_assignments_are_validated_and_a_refused_one_changes_nothing(field: str, value: object):
    made = Wanted(name="x")
    with pytest.raises(ValidationError):
        setattr(made, field, value)
    assert made == Wanted(name="x")


@pytest.mark.requirement("ARG-2")
def test_the_schema_can_be_read_as_markdown():
    assert Wanted.to_schema_markdown() == (
        "## Arguments\n"
        "\n"
        "- **name** (string, required, at least 1 character): A name.\n"
        '- **style** ("short" | "long", optional, default: "short"): How to say it.'
    )


# --- descriptions ----------------------------------------------------------------------------------


@pytest.mark.requirement("ARG-3")
def test_a_bare_functions_description_is_its_docstring_and_its_schema():
    async def greet(args: Wanted) -> str:
        """Greet someone.

        Use this when someone comes.

        Returns:
            The greeting.
        """
        return args.name

    assert ToolArguments.build_tool_description(greet) == (
        f"Greet someone.\n\nUse this when someone comes.\n\nReturns the greeting.\n\n{Wanted.to_schema_markdown()}"
    )


@pytest.mark.requirement("ARG-3")
def test_a_function_without_a_docstring_is_described_by_its_schema():
    def silent():
        pass

    assert ToolArguments.build_tool_description(silent) == "## Arguments\n\nNone."


@pytest.mark.requirement("ARG-3")
def test_a_declared_tools_description_is_the_full_one():
    @tool(
        category="query",
        response_time="fast",
        permissions=[],
        idempotent=True,
        tags=["words"],
        examples=[Example("A name", {"name": "Ada"}, "Ada")],
    )
    def greet(args: Wanted) -> str:
        """Greet someone by name. Use this when someone comes in."""
        return args.name

    assert ToolArguments.build_tool_description(greet) == full(spec_of(greet))


# --- the collection --------------------------------------------------------------------------------


@pytest.mark.requirement("COL-1", "COL-6")
def test_declaring_adds_the_function_and_returns_it_unchanged():
    def greet(args: Wanted) -> str:
        """Greet."""
        return args.name

    declared = ToolArguments.declare(greet)
    assert declared is greet
    assert ToolArguments.get_declared_tools() == {"greet": greet}
    assert greet(Wanted(name="Ada")) == "Ada"


@pytest.mark.requirement("COL-1")
def test_declaring_with_words_keeps_them():
    @ToolArguments.declare(
        name="hail",
        category="query",
        response_time="fast",
        permissions=[],
        idempotent=True,
        tags=["words"],
        examples=[Example("A name", {"name": "Ada"}, "Ada")],
    )
    def greet(args: Wanted) -> str:
        """Greet someone by name. Use this when someone comes in."""
        return args.name

    assert ToolArguments.get_declared_tools() == {"hail": greet}
    assert (spec_of(greet).name, spec_of(greet).governed) == ("hail", True)


@pytest.mark.requirement("COL-1", "DEF-2")
def test_a_faulty_declaration_is_refused_and_not_collected():
    with pytest.raises(DeclarationError, match="greet: cache_ttl: is 60, but a mutation is never cached"):

        @ToolArguments.declare(category="mutation", cache_ttl=60)
        def greet(args: Wanted) -> str:
            """Greet."""
            return args.name

    assert ToolArguments.get_declared_tools() == {}


@pytest.mark.requirement("COL-1")
def test_collecting_a_tool_that_is_declared_already_keeps_its_declaration():
    @ToolArguments.declare
    @tool(
        category="query",
        response_time="fast",
        permissions=["words:read"],
        idempotent=True,
        tags=["words"],
        examples=[Example("A name", {"name": "Ada"}, "Ada")],
    )
    def greet(args: Wanted) -> str:
        """Greet someone by name. Use this when someone comes in."""
        return args.name

    assert ToolArguments.get_declared_tools() == {"greet": greet}
    assert spec_of(greet).permissions == ("words:read",)


@pytest.mark.requirement("COL-2")
def test_asking_for_the_declared_tools_empties_the_collection():
    @ToolArguments.declare
    def first():
        pass

    @ToolArguments.declare
    def second():
        pass

    collected = ToolArguments.get_declared_tools()
    assert list(collected.items()) == [("first", first), ("second", second)]
    assert ToolArguments.get_declared_tools() == {}
    assert collected == {"first": first, "second": second}


def named(name: str) -> Any:
    def made():
        pass

    made.__name__ = name
    return made


@pytest.mark.requirement("COL-3")
def test_threads_that_declare_and_collect_lose_and_double_nothing():
    start = threading.Barrier(8)
    taken: list[str] = []

    def work(number: int) -> None:
        start.wait()
        for i in range(300):
            ToolArguments.declare(named(f"tool_{number}_{i}"))
            if i % 3 == 0:
                taken.extend(ToolArguments.get_declared_tools())

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    taken.extend(ToolArguments.get_declared_tools())
    assert sorted(taken) == sorted(f"tool_{number}_{i}" for number in range(8) for i in range(300))


@pytest.mark.requirement("COL-3")
def test_a_tool_declared_while_the_collection_is_emptied_is_kept(monkeypatch: pytest.MonkeyPatch):
    declared = threading.Event()

    def declare() -> None:
        ToolArguments.declare(named("late"))
        declared.set()

    late = threading.Thread(target=declare)

    class Collection(dict[str, Any]):
        def clear(self) -> None:
            late.start()
            declared.wait(0.1)  # where the collection is guarded, it cannot get in between
            super().clear()

    monkeypatch.setattr(DECLARED_TOOLS, "_tools", Collection())
    ToolArguments.declare(named("early"))
    first = ToolArguments.get_declared_tools()
    late.join()
    assert (list(first), list(DECLARED_TOOLS._tools)) == (["early"], ["late"])


@pytest.mark.requirement("COL-3")
async def test_coroutines_and_threads_together_lose_and_double_nothing():
    taken: list[str] = []

    async def work(number: int) -> None:
        for i in range(50):
            ToolArguments.declare(named(f"tool_{number}_{i}"))
            await asyncio.sleep(0)
            taken.extend(ToolArguments.get_declared_tools())

    def work_in_a_thread(number: int) -> None:
        for i in range(50):
            ToolArguments.declare(named(f"tool_{number}_{i}"))
            taken.extend(ToolArguments.get_declared_tools())

    threads = [asyncio.to_thread(work_in_a_thread, number) for number in range(20, 24)]
    await asyncio.gather(*(work(number) for number in range(20)), *threads)
    assert ToolArguments.get_declared_tools() == {}
    assert sorted(taken) == sorted(f"tool_{number}_{i}" for number in range(24) for i in range(50))


@pytest.mark.requirement("COL-4")
async def test_importing_a_module_declares_its_tools_and_a_server_registers_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "greeting_tools.py").write_text('''
from pydantic import Field
from mcp_core import Result, ToolArguments

class Greet(ToolArguments):
    name: str = Field(description="Whom to greet.")

@ToolArguments.declare
async def greet(args: Greet) -> Result[str]:
    """Greet someone."""
    return Result.ok(f"Hello {args.name}")

@ToolArguments.declare
def count_words(text: str) -> Result[int]:
    """Count words.

    Args:
        text: Any text.
    """
    return Result.ok(len(text.split()))
''')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("MCP_TOOL_PREFIX", raising=False)
    assert ToolArguments.get_declared_tools() == {}
    module = importlib.import_module("greeting_tools")
    server = MCPServer("words")
    tools = ExtMcpToolDecorator(server)
    for name, function in ToolArguments.get_declared_tools().items():
        tools.tool(name)(function)
    async with Client(server, mode="legacy") as client:
        listed = {shown.name: shown.description for shown in (await client.list_tools()).tools}
        answer = await client.call_tool("greet", {"name": "Ada"})
    assert listed == {
        "greet": "Greet someone.\n\n## Arguments\n\n- **name** (string, required): Whom to greet.",
        "count_words": "Count words.\n\n## Arguments\n\n- **text** (string, required): Any text.",
    }
    assert answer.content[0].text == '{"success":true,"value":"Hello Ada"}'
    assert module.count_words("a b c").value == 3


def test_everything_can_be_done_without_an_event_loop():
    @ToolArguments.declare
    async def greet(args: Wanted) -> str:
        """Greet."""
        return args.name

    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    assert list(ToolArguments.get_declared_tools()) == ["greet"]
    assert ToolArguments.build_tool_description(greet).startswith("Greet.")
    assert declaration_of(greet) is not None


# --- branded ids -----------------------------------------------------------------------------------


@pytest.mark.requirement("DEF-3")
def test_an_id_knows_what_it_is_the_id_of():
    made = CardId("card_1")
    assert (made, type(made), isinstance(made, str)) == ("card_1", CardId, True)
    assert CardId(made) == made


@pytest.mark.requirement("DEF-3")
@pytest.mark.parametrize("value", ["deck_1", "card", "card_", "1", "", "Card_1", " card_1"])
def test_text_that_is_no_such_id_is_refused(value: str):
    with pytest.raises(ValueError, match=f"{value!r} is not a CardId: it must start with 'card_'"):
        CardId(value)
    with pytest.raises(ValidationError):
        TypeAdapter(CardId).validate_python(value)


@pytest.mark.requirement("DEF-3")
def test_a_card_id_is_not_accepted_where_a_deck_id_is_wanted():
    class Move(ToolArguments):
        card: CardId
        deck: DeckId

    moved = Move(card=CardId("card_1"), deck=DeckId("deck_1"))
    assert (type(moved.card), type(moved.deck)) == (CardId, DeckId)
    with pytest.raises(ValidationError, match="deck\n  Value error, a CardId is not a DeckId"):
        Move(card=CardId("card_1"), deck=CardId("card_1"))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValidationError, match="deck\n  String should match pattern"):
        Move.model_validate({"card": "card_1", "deck": "card_1"})
    with pytest.raises(ValidationError, match="a CardId is not a DeckId"):
        moved.deck = CardId("card_2")  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ValueError, match="'card_1' is a CardId, not a DeckId"):
        DeckId(CardId("card_1"))


@pytest.mark.requirement("DEF-3")
def test_another_brand_of_the_same_letters_is_still_another_brand():
    class OtherId(BrandedId, prefix="card"):
        """Also begins with card."""

    with pytest.raises(ValidationError, match="a OtherId is not a CardId"):
        TypeAdapter(CardId).validate_python(OtherId("card_1"))


@pytest.mark.requirement("DEF-3")
@given(st.from_regex(r"card_[A-Za-z0-9_-]{1,100}", fullmatch=True))
def test_an_id_goes_through_json_and_back(value: str):
    class Wrapped(BaseModel):
        id: CardId

    made = Wrapped.model_validate_json(Wrapped(id=CardId(value)).model_dump_json(), strict=True)
    assert (made.id, type(made.id)) == (value, CardId)
    assert type(made.model_dump()["id"]) is str


@pytest.mark.requirement("DEF-3")
def test_agents_see_the_form_of_an_id():
    class Wanted(ToolArguments):
        card: CardId = Field(description="Which card.")

    assert json_schema(Wanted)["properties"] == {
        "card": {"type": "string", "pattern": "^card_[A-Za-z0-9_-]+$", "maxLength": 128, "description": "Which card."}
    }


@pytest.mark.requirement("DEF-3")
def test_the_type_checker_tells_brands_apart_and_lets_the_right_one_through(tmp_path: Path):
    source = """
from mcp_core import BrandedId

class CardId(BrandedId, prefix="card"): ...
class DeckId(BrandedId, prefix="deck"): ...

def open_deck(deck: DeckId) -> None: ...

open_deck(DeckId("deck_1"))
open_deck(CardId("card_1"))
open_deck("deck_1")
"""
    assert type_errors(tmp_path, source) == [(10, "reportArgumentType"), (11, "reportArgumentType")]


# --- common fields ---------------------------------------------------------------------------------


@pytest.mark.requirement("REG-2")
def test_common_fields_have_their_defaults_and_limits():
    assert Pagination().model_dump() == {"limit": 20, "offset": 0, "cursor": None}
    assert Sorting().model_dump() == {"sort_by": None, "sort_order": "asc"}
    assert DateRange().model_dump(by_alias=True) == {"from": None, "to": None}
    assert UserId("user_1") == "user_1"
    for model, wrong in (
        (Pagination, {"limit": 0}),
        (Pagination, {"limit": 101}),
        (Pagination, {"offset": -1}),
        (Pagination, {"cursor": "x" * 513}),
        (Pagination, {"page": 1}),
        (Sorting, {"sort_order": "up"}),
        (Sorting, {"sort_by": "x" * 65}),
        (DateRange, {"from": "yesterday"}),
    ):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            model.model_validate(wrong)


@pytest.mark.requirement("REG-2")
def test_a_period_is_in_order_and_may_be_one_day():
    assert DateRange.model_validate({"from": "2026-01-02", "to": "2026-01-02"}).from_ == date(2026, 1, 2)
    with pytest.raises(ValidationError, match=r"the period ends \(2026-01-01\) before it begins \(2026-01-02\)"):
        DateRange.model_validate({"from": "2026-01-02", "to": "2026-01-01"})


@pytest.mark.requirement("REG-2")
def test_common_fields_are_inherited_together():
    class Search(Pagination, Sorting, DateRange):
        words: str = Field(description="What to look for.")

    assert set(json_schema(Search)["properties"]) == {
        *("words", "limit", "offset", "cursor", "sort_by", "sort_order", "from", "to"),
    }


@pytest.mark.requirement("REG-2", "ARG-6")
@pytest.mark.parametrize("model", [Pagination, Sorting, DateRange, CommonMetadata])
def test_every_common_field_is_described(model: type[BaseModel]):
    assert all(shown["description"] for shown in json_schema(model)["properties"].values())


@pytest.mark.requirement("REG-2")
def test_stored_things_have_common_metadata():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert CommonMetadata(created_at=now, updated_at=now).model_dump(mode="json") == {
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "tags": [],
    }
