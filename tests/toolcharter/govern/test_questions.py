"""What an upstream asks the person, its progress, and the end of a call: in every combination of eras."""

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError

from mcp_core.context import ToolContext
from mcp_core.errors import Conflict
from tests.toolcharter.govern.governed import CLIENTS, OFFERING, UPSTREAMS, connected
from toolcharter.govern.callers_person import CallersPerson
from toolcharter.govern.charter import UpstreamTable
from toolcharter.govern.upstream.errors import UpstreamRefused
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.upstream import Upstream

BLUE = {"colour": "blue"}


@dataclass
class Chooser:
    """Fills in forms, opens pages, and remembers what was asked."""

    asked: list[tuple[str, str]] = field(default_factory=list)

    async def __call__(self, _: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append((params.mode, params.message))
        if isinstance(params, types.ElicitRequestURLParams):
            assert params.url == "https://pay.example/1"
            return types.ElicitResult(action="accept")
        assert params.requested_schema["required"] == ["colour"]
        return types.ElicitResult(action="accept", content=BLUE)


def said(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", CLIENTS)
async def test_a_question_of_every_upstream_reaches_the_person_of_every_client(
    connection: str, served: tuple[Path, str]
):
    person = Chooser()
    async with connected(connection, *served, elicitation_callback=person) as client:
        for name in UPSTREAMS:
            assert said(await client.call_tool(f"{name}_ask", {})) == "accept:blue"
            assert said(await client.call_tool(f"{name}_ask_twice", {})) == "accept:blue accept:blue"
            assert said(await client.call_tool(f"{name}_open_page", {})) == "accept"
    assert person.asked == [
        question
        for name in UPSTREAMS
        for question in (
            *[("form", f"{name}: Which {what}?") for what in ("colour", "colour", "size")],
            ("url", f"{name}: Please pay."),
        )
    ]


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", CLIENTS)
async def test_a_question_before_a_prompt_or_a_resource_reaches_the_person(connection: str, served: tuple[Path, str]):
    person = Chooser()
    async with connected(connection, *served, elicitation_callback=person) as client:
        for name in UPSTREAMS:
            (message,) = (await client.get_prompt(f"{name}_asking")).messages
            assert message.content == types.TextContent(type="text", text="accept:blue accept:blue")
        for name in UPSTREAMS[:2]:  # the address of the others is the same
            (content,) = (await client.read_resource(f"{name}://asking")).contents
            assert isinstance(content, types.TextResourceContents)
            assert content.text == "accept:blue"
    prompts = [("form", f"{name}: Which {what}?") for name in UPSTREAMS for what in ("colour", "size")]
    assert person.asked == [*prompts, ("form", "pipe: Which colour?"), ("form", "old-pipe: Which colour?")]


@pytest.mark.parametrize("connection", CLIENTS)
async def test_a_prompt_or_resource_that_asks_is_refused_if_nobody_can_be_asked(
    connection: str, served: tuple[Path, str]
):
    code = -32021 if "2026" in connection else -32602
    async with connected(connection, *served) as client:
        for name in UPSTREAMS:
            with pytest.raises(MCPError) as refused:
                await client.get_prompt(f"{name}_asking")
            words = f"'{name}_asking' has a question to the user, and this client cannot ask them."
            assert (refused.value.error.code, refused.value.error.message[: len(words)]) == (code, words)
        with pytest.raises(MCPError, match="'pipe://asking' has a question to the user"):
            await client.read_resource("pipe://asking")


@pytest.mark.parametrize("connection", ["http-legacy", "http-2026-07-28"])
async def test_a_client_that_cannot_be_asked_gets_an_error_that_says_so(connection: str, served: tuple[Path, str]):
    async with connected(connection, *served) as client:
        for name in UPSTREAMS:
            words = f"'{name}_ask' has a question to the user, and this client cannot ask them."
            if connection == "http-legacy":
                answer = json.loads(said(await client.call_tool(f"{name}_ask", {})))
                assert answer["error_type"] == "ConsentError"
                assert answer["error"].startswith(words)
            else:
                with pytest.raises(MCPError) as refused:
                    await client.call_tool(f"{name}_ask", {})
                assert (refused.value.error.code, refused.value.error.message.startswith(words)) == (-32021, True)


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", ["stdio-legacy", "http-legacy"])
async def test_a_client_that_opens_addresses_gets_the_error_that_tells_it_to(connection: str, served: tuple[Path, str]):
    async with connected(connection, *served, elicitation_callback=Chooser()) as client:
        for request in (
            *(partial(client.call_tool, f"{name}_pay", {}) for name in UPSTREAMS),
            partial(client.read_resource, "pipe://paid"),
        ):
            with pytest.raises(MCPError) as refused:
                await request()
            required = UrlElicitationRequiredError.from_error(refused.value.error)
            (asked,) = required.elicitations  # an address that is not safe is left out
            assert (asked.url, asked.elicitation_id) == ("https://pay.example/1", "e1")
            assert asked.message.endswith("pipe: Please pay.") or asked.message.endswith("web: Please pay.")
            await request()


class Heard:
    """The questions of which a client hears that the person has finished with their addresses."""

    def __init__(self) -> None:
        self.numbers: list[str] = []
        self.event = asyncio.Event()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, types.ElicitCompleteNotification):
            self.numbers.append(message.params.elicitation_id)
            self.event.set()


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", ["stdio-legacy", "http-legacy"])
async def test_the_client_that_was_asked_hears_that_the_person_has_finished(connection: str, served: tuple[Path, str]):
    heard, other = Heard(), Heard()
    async with (
        connected("http-legacy", *served, elicitation_callback=Chooser(), message_handler=other) as bystander,
        connected(connection, *served, elicitation_callback=Chooser(), message_handler=heard) as client,
    ):
        await bystander.list_prompts()
        for name in ("old-pipe", "old-web"):
            heard.event.clear()
            async with asyncio.timeout(60):
                # The first notice may come before anybody listens.
                while not heard.event.is_set():
                    with pytest.raises(MCPError):
                        await client.call_tool(f"{name}_pay", {})
                    await client.call_tool(f"{name}_pay", {})
                    await client.call_tool(f"{name}_finish", {})
                    with suppress(TimeoutError):
                        await asyncio.wait_for(heard.event.wait(), 1)
        await bystander.list_prompts()
    assert set(heard.numbers) == {"e1"}  # the server also names one that nobody was asked
    assert other.numbers == []


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", ["stdio-2026-07-28", "http-2026-07-28"])
async def test_where_the_protocol_has_no_such_error_the_person_is_asked_and_the_call_made_again(
    connection: str, served: tuple[Path, str]
):
    person = Chooser()
    async with connected(connection, *served, elicitation_callback=person) as client:
        for name in UPSTREAMS:
            assert said(await client.call_tool(f"{name}_pay", {})) == "paid"
        await client.read_resource("pipe://paid")
    assert person.asked == [("url", f"{name}: Please pay.") for name in (*UPSTREAMS, "pipe")]


@pytest.mark.parametrize("connection", CLIENTS)
async def test_a_client_that_cannot_open_addresses_gets_the_address_in_the_error(
    connection: str, served: tuple[Path, str]
):
    words = "needs the user to open an address first. {name}: Please pay. https://pay.example/1"
    async with connected(connection, *served) as client:
        for name in UPSTREAMS:
            answer = json.loads(said(await client.call_tool(f"{name}_pay", {})))
            assert answer["error"] == f"'{name}' {words.format(name=name)}"
            assert "Show the user the address" in answer["instruction"]
            assert said(await client.call_tool(f"{name}_pay", {})) == "paid"
        with pytest.raises(MCPError) as refused:
            await client.read_resource("pipe://paid")
        assert refused.value.error.message == f"'pipe' {words.format(name='pipe')}"
        await client.read_resource("pipe://paid")


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", CLIENTS)
async def test_progress_and_the_end_of_a_call_pass_through(connection: str, served: tuple[Path, str]):
    reports: list[tuple[float, float | None, str | None]] = []
    counted, waiting = asyncio.Event(), asyncio.Event()

    async def note(done: float, total: float | None, message: str | None) -> None:
        reports.append((done, total, message))
        if message == "2 of 2":
            counted.set()
        if message == "waiting":
            waiting.set()

    async with connected(connection, *served) as client:
        for name in UPSTREAMS:
            reports.clear()
            counted.clear()
            before = said(await client.call_tool(f"{name}_count", {}, progress_callback=note))
            async with asyncio.timeout(60):
                await counted.wait()
            assert reports == [(1, 2, "1 of 2"), (2, 2, "2 of 2")]
            waiting.clear()
            call = asyncio.create_task(client.call_tool(f"{name}_wait", {}, progress_callback=note))
            async with asyncio.timeout(60):
                await waiting.wait()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            async with asyncio.timeout(60):
                while said(await client.call_tool(f"{name}_count", {})) == before:
                    pass


def caller(name: str, asked: list[Any]) -> CallersPerson:
    async def answer(params: Any) -> dict[str, Any]:
        asked.append((name, params["message"]))
        return {"action": "accept", "content": BLUE}

    both = frozenset({"form", "url"})
    return CallersPerson("pipe", ToolContext("", "", "", "", "", caller_key=name, elicit=answer, modes=both))


@pytest.mark.requirement("GOV-6")
async def test_a_process_that_several_callers_use_cannot_ask_the_wrong_one(tmp_path: Path):
    table = UpstreamTable(command=[sys.executable, OFFERING, "stdio", "pipe"], handshake=True)
    groups = ProcessGroups()
    upstream = Upstream("pipe", table, groups, tmp_path)
    asked: list[Any] = []
    started = asyncio.Event()

    async def note(_: Any) -> None:
        started.set()

    async def call(tool: str, name: str) -> Any:
        return await upstream.call_tool(
            name, tool, {}, seconds=60, meta={}, on_progress=note, person=caller(name, asked)
        )

    try:
        waiting = asyncio.create_task(call("wait", "ann"))
        async with asyncio.timeout(60):
            await started.wait()
        with pytest.raises(UpstreamRefused, match="it is not clear whom to ask"):
            await call("ask", "bob")
        assert asked == []
        assert (await call("ask", "ann"))["content"][0]["text"] == "accept:blue"
        assert asked == [("ann", "pipe: Which colour?")]
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    finally:
        await upstream.close()
        groups.close()


@pytest.mark.parametrize(
    ("request_of_upstream", "expected"),
    [
        ({"method": "sampling/createMessage"}, "'pipe' asks for 'sampling/createMessage', which is not offered."),
        ({"mode": "url", "message": "m", "url": "javascript:alert(1)"}, "url must begin with https://"),
        ({"mode": "url", "message": "m", "url": "http://evil.example"}, "url must begin with https://"),
        ({"message": "m" * 5000, "requestedSchema": {}}, "message must be a text of at most 4000 characters"),
        ({"message": "m", "requestedSchema": [1]}, "requestedSchema must be an object"),
        *(
            ({"message": "m", "requestedSchema": {"properties": {name: field}}}, f"a form must not ask for {name!r}")
            for name, field in (
                ("password", {"type": "string"}),
                ("apiKey", {"type": "string"}),
                ("word", {"type": "string", "format": "password"}),
                ("word", {"type": "string", "title": "Access token"}),
            )
        ),
    ],
)
async def test_a_question_that_a_person_should_not_see_is_refused(request_of_upstream: dict[str, Any], expected: str):
    asked: list[Any] = []
    request = {"method": "elicitation/create", "params": request_of_upstream, **request_of_upstream}
    with pytest.raises(Conflict) as refused:
        await caller("ann", asked).answer_all({"q": request})
    assert expected in str(refused.value)
    assert asked == []
