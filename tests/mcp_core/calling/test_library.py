import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcp_core import (
    App,
    Caller,
    Content,
    DeclarationError,
    Message,
    NotFound,
    Request,
    Resource,
    ResourcePage,
    ResourceSource,
    Result,
    Settings,
    ToolContext,
    instructions,
    page_of,
)
from mcp_core.calling.library import Conversation, Reading
from mcp_core.calling.pipeline import Pipeline
from mcp_core.errors import Refused

ALL = Caller(grants=frozenset({"*"}))


def app(*prompts: Callable[..., Any], resources: Any = (), settings: Settings | None = None) -> App:
    return App("library", version="1.0.0", format="result", prompts=prompts, resources=resources, settings=settings)


async def refused_by(asked: Any) -> Refused:
    with pytest.raises(Refused) as raised:
        await asked
    return raised.value


# ---- what a prompt may return ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "given"),
    [
        ("text", Conversation([Message("text")], "Say it.")),
        (Message("text", "assistant"), Conversation([Message("text", "assistant")], "Say it.")),
        ([Message("a"), Message("b")], Conversation([Message("a"), Message("b")], "Say it.")),
        (Result.ok("text"), Conversation([Message("text")], "Say it.")),
        (Result.ok({"a": 1}), Conversation([Message('{"a":1}')], "Say it.")),
        (
            Result.ok("text", message="For you.", instruction=instructions.NO_CHANGES),
            Conversation([Message("text"), Message(instructions.NO_CHANGES)], "For you."),
        ),
        (Result.ok(instruction="Go on."), Conversation([Message("Go on.")], "Say it.")),
    ],
)
async def test_what_a_prompt_returns_becomes_messages(returned: Any, given: Conversation):
    async def say() -> Any:
        """Say it."""
        return returned

    async with app(say) as opened:
        assert await opened.library.prompt(Request("say", {})) == given


@pytest.mark.parametrize("returned", [None, [], {1, 2}, [Message(5)], [Message("x", "nobody")], Result.ok()])
async def test_a_prompt_that_gives_no_messages_is_the_servers_fault(returned: Any):
    async def say() -> Any:
        return returned

    async with app(say) as opened:
        refused = await refused_by(opened.library.prompt(Request("say", {})))
    assert (refused.kind, refused.data["errorType"]) == ("system", "ResultError")


async def test_a_failure_that_a_prompt_returns_is_an_error_with_its_text():
    async def say() -> Result[str]:
        return Result.failure("There is no such tale.", "NotFoundError")

    async with app(say) as opened:
        refused = await refused_by(opened.library.prompt(Request("say", {})))
    assert (str(refused), refused.kind, refused.data) == (
        "There is no such tale.",
        "business",
        {"errorType": "NotFoundError"},
    )


async def test_a_prompt_past_its_deadline_is_stopped():
    async def say() -> str:
        await asyncio.Event().wait()
        return ""

    async with app(say, settings=Settings(deadline=0.05)) as opened:
        refused = await refused_by(opened.library.prompt(Request("say", {})))
    assert (str(refused), refused.data) == (
        "'say' took longer than 0.05 seconds and was stopped.",
        {"errorType": "DeadlineError"},
    )


async def test_what_a_prompt_needs_is_opened_for_each_request():
    class Session:
        pass

    seen: list[str] = []

    @asynccontextmanager
    async def session(context: ToolContext) -> AsyncIterator[Session]:
        assert context.read_only
        seen.append("opened")
        yield Session()
        seen.append("closed")

    async def say(session: Session) -> str:
        seen.append(type(session).__name__)
        return "said"

    made = app(say)
    made.provide(Session, session, scope="call")
    async with made:
        await made.library.prompt(Request("say", {}))
    assert seen == ["opened", "Session", "closed"]


async def test_a_need_that_nothing_provides_is_refused_at_the_start():
    class Shelf: ...

    async def say(shelf: Shelf) -> str:
        return ""

    with pytest.raises(DeclarationError, match=r"say: shelf: nothing provides Shelf; call app\.provide"):
        await app(say).__aenter__()


def test_two_prompts_of_one_name_are_refused():
    async def say() -> str:
        return ""

    with pytest.raises(DeclarationError, match="say: two prompts have this name; rename one"):
        app(say, say)


async def test_a_secret_argument_is_neither_logged_nor_answered(caplog: pytest.LogCaptureFixture):
    async def say(password: str) -> str:
        raise NotFound(f"No user with {password}.")

    async with app(say) as opened:
        with caplog.at_level(1):
            refused = await refused_by(opened.library.prompt(Request("say", {"password": "hunter2hunter2"})))
    assert str(refused) == "No user with [redacted]."
    assert "hunter2hunter2" not in caplog.text


async def test_a_caller_without_permission_is_refused_before_anything_runs(caplog: pytest.LogCaptureFixture):
    seen: list[str] = []

    async def read(uri: str) -> str:
        seen.append(uri)
        return ""

    source = ResourceSource("note://", read=read, permissions=["notes:read"])
    async with app(resources=[source]) as opened:
        with caplog.at_level(logging.WARNING):
            refused = await refused_by(opened.library.read(Request("note://1", {})))
        assert await opened.library.read(Request("note://1", {}, ALL)) == Reading(Content("", "text/plain"), 0)
    assert refused.data == {"errorType": "PermissionError", "uri": "note://1"}
    assert "note://1 refused: 'note://' needs the permission notes:read" in caplog.text
    assert seen == ["note://1"]


async def test_a_prompt_checks_arguments_and_permission_in_the_order_of_the_pipeline():
    async def greet(name: str) -> str:
        """Greet somebody by their name, in one sentence.

        Args:
            name: Whom to greet.
        """
        return name

    options = {"permissions": ["people:greet"]}
    opened = App("test", version="1.0.0", format="result", settings=Settings(grants=()))
    opened.prompt(**options)(greet)
    opened.tool(**options)(greet)
    async with opened:
        for arguments in ({}, {"name": "Ann"}):
            refused = await refused_by(opened.library.prompt(Request("greet", arguments)))
            answer = json.loads((await opened.call("greet", arguments)).text)
            assert refused.data["errorType"] == answer["error_type"]


# ---- resources -------------------------------------------------------------------------------------------


async def test_the_sources_are_listed_in_turn_and_each_page_says_where_to_go_on():
    def few() -> list[Resource]:
        return [Resource("few://1", "1")]

    def many(cursor: str | None = None) -> ResourcePage:
        return page_of([Resource(f"many://{n}", str(n)) for n in range(3)], cursor, size=2)

    def read(uri: str) -> None:
        return None

    sources = [
        ResourceSource("few://", read=read, list=few),
        ResourceSource("none://", read=read),
        ResourceSource("many://", read=read, list=many),
        ResourceSource("last://", read=read, list=lambda: [Resource("last://1", "1")]),
    ]
    async with app(resources=sources) as opened:
        request = Request("resources/list", {}, ALL)
        first = await opened.library.list_changing(None, request)
        second = await opened.library.list_changing(first.next_cursor, request)
    assert [resource.uri for resource in first.resources] == ["few://1", "many://0", "many://1"]
    assert [resource.uri for resource in second.resources] == ["many://2", "last://1"]
    assert second.next_cursor is None


async def test_a_source_that_fails_is_not_shown_as_empty():
    def broken() -> list[Resource]:
        raise RuntimeError("the disk is gone")

    def read(uri: str) -> None:
        return None

    async with app(resources=[ResourceSource("note://", read=read, list=broken)]) as opened:
        refused = await refused_by(opened.library.list_changing(None, Request("resources/list", {})))
    assert (refused.kind, "disk" in str(refused)) == ("system", False)


@pytest.mark.parametrize("returned", [None, "text", ["note://1"], [("note://1", "1")]])
async def test_a_list_of_something_else_is_the_servers_fault(returned: Any):
    def read(uri: str) -> None:
        return None

    async with app(resources=[ResourceSource("note://", read=read, list=lambda: returned)]) as opened:
        refused = await refused_by(opened.library.list_changing(None, Request("resources/list", {})))
    assert refused.data["errorType"] == "ResultError"


@pytest.mark.parametrize("returned", [5, ["text"], {"a": 1}])
async def test_content_of_something_else_is_the_servers_fault(returned: Any):
    async def read(uri: str) -> Any:
        return returned

    async with app(resources=[ResourceSource("note://", read=read)]) as opened:
        refused = await refused_by(opened.library.read(Request("note://1", {})))
    assert refused.data == {"errorType": "ResultError", "errorId": refused.data["errorId"], "uri": "note://1"}


async def test_a_source_says_how_long_its_content_may_be_kept():
    async def read(uri: str) -> bytes:
        return b"x"

    async with app(resources=[ResourceSource("note://", read=read, ttl_ms=5000)]) as opened:
        assert await opened.library.read(Request("note://1", {})) == Reading(
            Content(b"x", "application/octet-stream"), 5000, "private"
        )


@pytest.mark.parametrize("prefix", ["note://", "note://a/", "toolcharter://", "toolcharter://tools/add"])
def test_an_address_belongs_to_one_source(prefix: str):
    def read(uri: str) -> None:
        return None

    with pytest.raises(DeclarationError, match="prefix: overlaps with"):
        app(resources=[ResourceSource("note://", read=read), ResourceSource(prefix, read=read)])


# ---- the pipeline ----------------------------------------------------------------------------------------


@pytest.mark.requirement("AUT-5")
async def test_tools_prompts_and_resources_run_through_the_same_function(monkeypatch: pytest.MonkeyPatch):
    async def add(a: int, b: int) -> int:
        return a + b

    async def greet() -> str:
        """Greet somebody."""
        return "Hello"

    async def read(uri: str) -> str:
        return uri

    async def show() -> list[Resource]:
        return [Resource("notes://1", "one")]

    source = ResourceSource("notes://", read, permissions=("notes:read",), list=show)
    ran: list[str] = []
    carry_out = Pipeline.carry_out

    async def watched(self: Pipeline, call: Any, *given: Any) -> Any:
        ran.append(call.request.tool)
        return await carry_out(self, call, *given)

    monkeypatch.setattr(Pipeline, "carry_out", watched)
    made = app(greet, resources=[source])
    made.tool(add)
    async with made:
        await made.call("add", {"a": 1, "b": 2})
        await made.library.prompt(Request("greet", {}, ALL))
        await made.library.read(Request("notes://1", {}, ALL))
        await made.library.list_changing(None, Request("", {}, ALL))
        assert (await refused_by(made.library.read(Request("notes://1", {}, Caller())))).data == {
            "errorType": "PermissionError",
            "uri": "notes://1",
        }
    assert ran == ["add", "greet", "notes://1", "notes://", "notes://1"]
