import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from toolcharter_examples import demo

from mcp_core import (
    App,
    Caller,
    Confirm,
    DeclarationError,
    Deprecation,
    Naming,
    NotFound,
    Question,
    Request,
    Result,
    Settings,
    SuggestedAction,
    UnknownTool,
    hints,
    prompt,
    tool,
)
from mcp_core.calling.render import Format
from mcp_core.declare.spec import spec_of
from mcp_core.errors import Refused
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.protocol import Peer, RpcError
from tests.mcp_core.declared import Life, Number, mutation, query


@query({"n": 1}, tags=["math"], permissions=["math:use"], open_world=False)
async def double(n: Number) -> int:
    return 2 * n


@pytest.mark.requirement("VER-1")
async def test_the_deprecated_tool_of_the_demo_still_works_and_says_what_to_use(log):
    async with demo.build(Settings()) as app:
        made = json.loads((await app.call("find_notes", {"words": "welcome"})).text)
    assert made["data"] == ["note_1"]
    assert made["agentHints"]["warnings"] == [
        {
            "type": "deprecation",
            "severity": "high",
            "message": "Deprecated since 2026-09-01; use list_notes instead. Removal: 2027-03-01.",
            "suggestedFix": "Call list_notes instead.",
        }
    ]
    assert [level for level, message in log.messages if "find_notes is deprecated" in message] == ["WARNING"]


async def test_a_replacement_that_does_not_exist_stops_the_server():
    gone = Deprecation(since="2026-01-01", replacement="look_up", removal_date="2026-06-01")

    @query(deprecated=gone)
    async def find() -> int:
        return 1

    with pytest.raises(DeclarationError, match="find: deprecated: the replacement 'look_up' is not a tool"):
        await App("test", version="1.0.0", format="result", tools=[find]).__aenter__()


async def test_an_app_that_is_not_open_answers_no_call():
    app = App("test", version="1.0.0", format="result", tools=[double])
    with pytest.raises(RuntimeError, match="test is not open"):
        await app.call("double", {"n": 1})
    async with app:
        assert app.is_open
    with pytest.raises(RuntimeError, match="test is not open"):
        await app.call("double", {"n": 1})


async def test_what_is_made_for_the_server_exists_as_long_as_anyone_uses_the_app():
    done: list[str] = []

    async def open_life() -> AsyncIterator[Life]:
        done.append("open")
        yield Life()
        done.append("close")

    @query()
    async def log_it(life: Life) -> int:
        done.append("run")
        return len(done)

    app = App("test", version="1.0.0", format="result", tools=[log_it])
    app.provide(Life, open_life)
    async with app:
        async with app:
            await app.call("log_it")
        await app.call("log_it")
    assert done == ["open", "run", "run", "close"]
    async with app:
        await app.call("log_it")
    assert done == ["open", "run", "run", "close", "open", "run", "close"]


async def test_whoever_enters_while_the_app_is_opening_waits_until_it_is_open():
    opened, go_on = asyncio.Event(), asyncio.Event()

    async def open_life() -> AsyncIterator[Life]:
        opened.set()
        await go_on.wait()
        yield Life()

    app = App("test", version="1.0.0", format="result", tools=[double])
    app.provide(Life, open_life)

    async def use() -> Any:
        async with app:
            return json.loads((await app.call("double", {"n": 2})).text)["value"]

    both = [asyncio.create_task(use()) for _ in range(2)]
    await opened.wait()
    await asyncio.sleep(0)
    go_on.set()
    assert await asyncio.gather(*both) == [4, 4]
    assert not app.is_open


async def test_a_factory_that_fails_leaves_the_app_closed_and_it_can_be_opened_again():
    attempts: list[int] = []

    async def open_life() -> AsyncIterator[Life]:
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("no database")
        yield Life()

    app = App("test", version="1.0.0", format="result", tools=[double])
    app.provide(Life, open_life)
    with pytest.raises(ConnectionError):
        await app.__aenter__()
    assert not app.is_open
    async with app:
        assert not (await app.call("double", {"n": 1})).is_error


async def test_a_tool_is_run_under_its_final_name_and_called_by_its_own():
    async with App(
        "test", version="1.0.0", format="result", tools=[double], settings=Settings(tool_prefix="lib")
    ) as app:
        assert json.loads((await app.call("double", {"n": 2})).text)["value"] == 4
        answer = await app.answer(Request("lib_double", {"n": 2}, app.local_caller))
        assert not isinstance(answer, Question)
        assert json.loads(answer.text)["value"] == 4
        with pytest.raises(UnknownTool, match="Did you mean 'lib_double'"):
            await app.answer(Request("double", {"n": 2}, app.local_caller))
        assert app.input_schema("lib_double") is not None
        assert app.input_schema("double") is None


@pytest.mark.parametrize("format", ["result", "hints"])
async def test_texts_mention_tools_by_the_names_that_the_agent_sees(format: Format):
    step = SuggestedAction(action="find_note", data={"words": "find_note"}, description="Call find_note.")

    @query({"n": 1})
    async def find_note(n: Number) -> Result[int]:
        if n == 0:
            raise NotFound("No note. Call find_note.", message="Use find_note.", instruction="Then find_note.")
        if n == 1:
            return Result.failure("No note. Call find_note.", "NotFoundError", instruction="Then find_note.")
        return Result.ok(
            n, "Use find_note.", "Then find_note.", hints=hints.for_value(then=[step], why="By find_note.")
        )

    @prompt
    async def ask(n: str) -> Result[str]:
        """Ask for a note in the words of the user.

        Args:
            n: Which one.
        """
        if n == "0":
            raise NotFound("No note. Call find_note.")
        return Result.ok("find_note", "By find_note.", "Then find_note.")

    app = App(
        "test",
        version="1.0.0",
        tools=[find_note],
        prompts=[ask],
        format=format,
        instructions="Call find_note first.",
        settings=Settings(tool_prefix="lib"),
    )
    assert app.instructions == "Call lib_find_note first."
    async with app:
        for n in (0, 1, 2):
            said = json.loads((await app.call("find_note", {"n": n})).text)
            assert said["instruction"] == "Then lib_find_note."
            assert said.get("message") in ("Use lib_find_note.", None)
            if n < 2:
                error = said["error"] if format == "result" else said["error"]["message"]
                assert error == "No note. Call lib_find_note."
        if format == "hints":
            (suggested,) = said["agentHints"]["suggestedNextActions"]
            assert (suggested["action"], suggested["description"]) == ("lib_find_note", "Call lib_find_note.")
            assert suggested["data"] == {"words": "find_note"}
            assert said["agentHints"]["reasoning"].startswith("By lib_find_note.")
        wrong = (await app.call("find_note", {})).text
        assert "Invalid arguments for 'lib_find_note'" in wrong
        conversation = await app.library.prompt(Request("ask", {"n": "1"}, app.local_caller))
        assert [message.content for message in conversation.messages] == ["find_note", "Then lib_find_note."]
        assert conversation.description == "By lib_find_note."
        with pytest.raises(Refused, match="Call lib_find_note"):
            await app.library.prompt(Request("ask", {"n": "0"}, app.local_caller))


async def test_a_tool_is_listed_with_all_that_an_agent_needs():
    gone = Deprecation(since="2026-01-01", replacement="double", removal_date="2026-06-01")

    @mutation({"n": 1, "explicit_action": "DELETE"}, confirm=Confirm("DELETE"), title="Throw away", deprecated=gone)
    async def delete(n: Number) -> int:
        return n

    app = App("test", version="1.0.0", format="result", tools=[double, delete], naming=Naming(prefix="lib"))
    reading, deleting = app.list_tools()
    assert (reading.name, reading.title) == ("lib_double", "Double")
    assert reading.annotations == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert reading.input_schema == {
        "type": "object",
        "properties": {"n": {"type": "integer", "description": "A whole number."}},
        "required": ["n"],
        "additionalProperties": False,
    }
    assert (deleting.name, deleting.title) == ("lib_delete", "Throw away")
    assert deleting.annotations["destructiveHint"] is True
    assert deleting.annotations["readOnlyHint"] is False
    assert deleting.annotations["openWorldHint"] is True  # as the protocol assumes, where nobody says otherwise
    assert deleting.meta["dev.toolcharter/category"] == "mutation"
    assert "REQUIRES EXPLICIT USER INSTRUCTION" in deleting.description


def test_a_tool_that_does_not_say_what_it_does_is_not_called_harmless():
    app = App("test", version="1.0.0", format="result")

    @app.tool
    def delete_note(note_id: str) -> str:
        """Delete a note."""
        return note_id

    @app.tool(destructive=False)
    def rename_note(note_id: str) -> str:
        """Rename a note."""
        return note_id

    listed = {tool.name: tool.annotations["destructiveHint"] for tool in app.list_tools(app.local_caller)}
    assert listed == {"delete_note": True, "rename_note": False}


async def test_the_full_description_stays_reachable_where_the_list_is_compact():
    compact = App("test", version="1.0.0", format="result", tools=[double])
    full = App("test", version="1.0.0", format="result", tools=[double], settings=Settings(descriptions="full"))
    assert compact.documentation("double") == full.list_tools()[0].description
    assert len(compact.list_tools()[0].description) < len(full.list_tools()[0].description)
    with pytest.raises(UnknownTool):
        compact.documentation("treble")


async def test_a_function_registered_on_the_app_is_served_under_the_name_it_is_given():
    app = App("test", version="1.0.0", format="result", naming=Naming(prefix="lib"))

    @app.tool
    async def one() -> int:
        """One."""
        return 1

    @app.tool()
    async def another_one() -> int:
        """Another one."""
        return 1

    @app.tool(name="other_two", description="Two.")
    def two() -> int:
        return 2

    @app.tool(prefix="")
    def three() -> int:
        """Three."""
        return 3

    async with app:
        names = ["lib_one", "lib_another_one", "lib_other_two", "three"]
        assert [tool.name for tool in app.list_tools()] == names
        called = [await app.call(name) for name in ("one", "another_one", "other_two", "three")]
        assert [json.loads(answer.text)["value"] for answer in called] == [1, 1, 2, 3]
    assert await one() == 1
    assert two() == 2


@pytest.mark.requirement("VAL-2")
async def test_what_a_function_declares_holds_where_it_is_registered_and_may_be_added_to():
    app = App("test", version="1.0.0", format="result")
    assert app.tool(double) is double
    assert app.tool(name="twice", version="2.0.0")(double) is double
    first, second = app.registry.get_all()
    assert (first.name, first.permissions, first.declaration.version) == ("double", ("math:use",), "1.0.0")
    assert (second.name, second.permissions, second.declaration.version) == ("twice", ("math:use",), "2.0.0")
    async with app:
        refused = await app.call("twice", {"n": 1}, Caller())
    assert json.loads(refused.text)["error_type"] == "PermissionError"


@pytest.mark.requirement("DEF-2")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"permissions": ["math:own"]},
            "double: permissions: is ['math:own'] here, but the function declares ['math:use']; remove one of them",
        ),
        (
            {"permisions": ["math:use"]},
            "double: permisions: is not a field of a declaration; did you mean permissions?",
        ),
        ({"rate_limit": 5}, "double: rate_limit: 5 is not valid; give a RateLimit(max_calls, window_ms)"),
    ],
)
def test_a_contradiction_or_a_typo_at_the_registration_is_refused(options: dict[str, Any], problem: str):
    app = App("test", version="1.0.0", format="result")
    with pytest.raises(DeclarationError) as refused:
        app.tool(**options)(double)
    assert refused.value.problems == (problem,)
    assert app.registry.get_all() == []


@pytest.mark.requirement("DEF-2")
def test_a_wrong_value_is_refused_though_nothing_else_is_declared():
    async def note(text: str) -> str:
        """Note a text."""
        return text

    with pytest.raises(DeclarationError, match="note: permissions: 'notes:write' is not valid; give a list of"):
        App("test", version="1.0.0", format="result").tool(permissions="notes:write")(note)


@pytest.mark.parametrize("register", ["tool", "prompt"])
def test_a_name_by_position_is_refused(register: str):
    app = App("test", version="1.0.0", format="result")
    with pytest.raises(DeclarationError, match="'notes' is not a function; give options by keyword, such as name="):
        getattr(app, register)("notes")


async def test_a_prompt_is_registered_with_or_without_parentheses():
    app = App("test", version="1.0.0", format="result")

    @app.prompt
    def plain() -> str:
        """Plain words."""
        return "plain"

    @app.prompt(permissions=["notes:read"])
    def gated() -> str:
        """Gated words."""
        return "gated"

    @prompt(title="Told")
    def declared() -> str:
        """Declared words."""
        return "declared"

    assert app.prompt(permissions=["notes:read"])(declared) is declared
    assert [(one.name, one.title, one.permissions) for one in app.library.prompts] == [
        ("plain", "Plain", ()),
        ("gated", "Gated", ("notes:read",)),
        ("declared", "Told", ("notes:read",)),
    ]
    assert plain() == "plain"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"title": "Other"}, "told: title: is 'Other' here, but the function declares 'Told'; remove one of them"),
        ({"permission": []}, "told: permission: is not a field of a declaration; did you mean permissions?"),
        (
            {"category": "query"},
            "told: category: is not a field of a declaration; use one of name, title, description, ",
        ),
    ],
)
def test_a_contradiction_or_a_typo_at_a_prompt_is_refused(options: dict[str, Any], problem: str):
    @prompt(title="Told")
    def told() -> str:
        """Words."""
        return ""

    app = App("test", version="1.0.0", format="result")
    with pytest.raises(DeclarationError) as refused:
        app.prompt(**options)(told)
    assert str(refused.value).startswith(problem)
    assert app.library.prompts == []


async def test_tools_can_be_replaced_while_calls_are_running():
    started, go_on = asyncio.Event(), asyncio.Event()

    @tool
    async def old() -> str:
        """Wait."""
        started.set()
        await go_on.wait()
        return "from before"

    async def new() -> str:
        """Answer."""
        return "new"

    app = App("s", version="1", format="result", tools=[old])
    fast_path, peer = FastPath(app), Peer(Caller(), modern=False)
    async with app:
        assert '"name":"old"' in await fast_path.answer("tools/list", {}, peer)
        running = asyncio.create_task(app.call("old"))
        await started.wait()
        app.replace_tools([spec_of(new)])
        listed = json.loads(await fast_path.answer("tools/list", {}, peer))
        assert [tool["name"] for tool in listed["tools"]] == ["new"]
        assert '\\"new\\"' in await fast_path.answer("tools/call", {"name": "new"}, peer)
        with pytest.raises(RpcError, match="Unknown tool: 'old'"):
            await fast_path.answer("tools/call", {"name": "old"}, peer)
        go_on.set()
        assert "from before" in (await running).text


async def test_tools_that_cannot_be_registered_replace_nothing():
    @tool
    async def one() -> str:
        """Answer."""
        return "one"

    app = App("s", version="1", format="result", tools=[one])
    with pytest.raises(DeclarationError, match="two tools have this name"):
        app.replace_tools([spec_of(one), spec_of(one)])
    assert [tool.name for tool in app.list_tools()] == ["one"]
