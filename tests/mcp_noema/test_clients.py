"""Learning through real clients: over stdio and HTTP, in both protocol eras, alone and two at a time."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from agents import Agent, RunConfig, Runner
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp
from fastmcp import Client as FastMcpClient
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from mcp_core import Settings
from mcp_noema.app import build
from tests.behaviour.combinations import NO, YES
from tests.clients.over_http import served
from tests.clients.scripted import Scripted
from tests.mcp_noema.client_session import Call, command, create_deck, data, error, run_session, sdk_call

TOOLS = [tool.name for tool in build(Settings()).list_tools()]
ERAS = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str] | str]:
    """Its command for stdio, or its address for HTTP; each on an empty database."""
    started = command(tmp_path)
    if request.param == "stdio":
        yield started
    else:
        with served(started, tmp_path / "http.log") as url:
            yield url


def for_sdk(server: list[str] | str) -> StdioServerParameters | str:
    return server if isinstance(server, str) else StdioServerParameters(command=server[0], args=server[1:])


# --- a session ---------------------------------------------------------------------------------------------


@ERAS
async def test_a_session_with_the_client_of_the_sdk(server, mode):
    async with Client(for_sdk(server), mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        await run_session(sdk_call(client))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session_with_the_client_of_fastmcp(server, mode):
    over_http = isinstance(server, str)
    transport = (
        StreamableHttpTransport(server) if over_http else StdioTransport(server[0], server[1:], keep_alive=False)
    )
    async with FastMcpClient(transport, mode=mode) as client:

        async def call(tool: str, /, **arguments: Any) -> tuple[bool, dict[str, Any]]:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            (block,) = result.content
            return bool(result.is_error), json.loads(block.text)

        assert [tool.name for tool in await client.list_tools()] == TOOLS
        await run_session(call)


def for_agents(server: list[str] | str) -> MCPServer:
    if isinstance(server, str):
        return MCPServerStreamableHttp({"url": server})
    return MCPServerStdio({"command": server[0], "args": server[1:]})


WORDS = {"the bread": "le pain", "the cheese": "le fromage", "the dog": "le chien"}
KNOWN_TO_THE_USER = {
    "create-notes": {"notes": [{"front": front, "back": back} for front, back in WORDS.items()]},
    "review-card": {"grade": "easy"},
}
"""What no hint can tell: what there is to learn, and how well it was remembered."""


def follow_the_hints(seen: list[str]) -> tuple[str, dict[str, Any]] | str:
    """The first suggestion of the last answer, until there is none."""
    last = json.loads(seen[-1])
    assert "error" not in last, last
    suggested = last["agentHints"]["suggestedNextActions"]
    if not suggested:
        return "That is all for today."
    first = suggested[0]
    return first["action"], first.get("data", {}) | KNOWN_TO_THE_USER.get(first["action"], {})


@pytest.mark.requirement("HIN-3")
async def test_an_agent_that_only_follows_the_hints_studies_all_cards(server):
    begin = [lambda _: ("list-decks", {}), lambda _: ("create-deck", {"name": "French"})]
    model = Scripted(*begin, *[follow_the_hints] * 30)
    async with for_agents(server) as connected:
        agent = Agent(name="tutor", model=model, mcp_servers=[connected])
        run = await Runner.run(
            agent, "I want to learn French.", run_config=RunConfig(tracing_disabled=True), max_turns=40
        )
    answers = [json.loads(text) for text in model.seen]
    # An answer brings the next card.
    shown = [each for answer in answers for each in (answer["data"], answer["data"].get("next", {}))]
    asked = [each["card"]["front"] for each in shown if "card" in each]
    graded = [answer["data"]["cardId"] for answer in answers if "reviewId" in answer["data"]]
    assert model.told == TOOLS
    assert asked == list(WORDS)
    assert len(set(graded)) == len(graded) == len(WORDS)
    # Finally it shows the progress.
    assert answers[-1]["data"]["today"]["reviews"] == len(WORDS)
    assert run.final_output == "That is all for today."


# --- consent -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-1", "CON-3")
@ERAS
@pytest.mark.parametrize("reply", [YES, NO], ids=["yes", "no"])
async def test_a_deck_is_deleted_when_the_agent_says_so_and_the_person_agrees(server, mode, reply):
    asked: list[str] = []

    async def answer(_: Any, request: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(request.message)
        return reply

    async with Client(for_sdk(server), mode=mode, elicitation_callback=answer) as client:
        call = sdk_call(client)
        deck, _ = await create_deck(call, "French", 2)
        for literal in ({}, {"explicit_action": "YES"}, {"explicit_action": "delete_deck"}):
            assert (await error(call, "delete-deck", deckId=deck, **literal))[0] == "ValidationError"
        assert asked == []
        failed, told = await call("delete-deck", deckId=deck, explicit_action="DELETE_DECK")
        assert asked == [f"Delete {deck} with all decks, notes and cards in it?"]
        assert failed is (reply is NO), told
        left = await data(call, "list-decks")
        assert [shown["name"] for shown in left["decks"]] == (["French"] if reply is NO else [])


@ERAS
async def test_the_literal_is_enough_where_the_client_cannot_ask(server, mode):
    async with Client(for_sdk(server), mode=mode) as client:
        call = sdk_call(client)
        deck, cards = await create_deck(call, "French", 2)
        assert (await error(call, "delete-deck", deckId=deck))[0] == "ValidationError"
        gone = await data(call, "delete-deck", deckId=deck, explicit_action="DELETE_DECK")
        assert gone == {"deleted": deck, "name": "French", "decks": 1, "notes": 2, "cards": 2}
        assert (await error(call, "review-card", cardId=cards[0], grade="good"))[0] == "NotFoundError"


# --- two people --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server over HTTP, where everybody needs a token."""
    folder = tmp_path_factory.mktemp("guarded")
    grants = {"ana": ["*"], "bob": ["*"], "reader": ["decks:read", "cards:read"]}
    tokens = {f"token-{name}": {"user": name, "grants": given} for name, given in grants.items()}
    (folder / "tokens.json").write_text(json.dumps(tokens))
    with served(command(folder, "--tokens", str(folder / "tokens.json")), folder / "http.log") as url:
        yield url


@asynccontextmanager
async def calling_as(url: str, name: str, mode: str) -> AsyncIterator[Call]:
    headers = {"Authorization": f"Bearer token-{name}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield sdk_call(client)


@pytest.mark.requirement("VAL-2", "ERR-2")
@ERAS
async def test_a_user_sees_and_changes_only_their_own(guarded_url, mode):
    async with calling_as(guarded_url, "ana", mode) as as_ana, calling_as(guarded_url, "bob", mode) as as_bob:
        deck, (card, _) = await create_deck(as_ana, f"French {mode}", 2)
        review = (await data(as_ana, "review-card", cardId=card, grade="good"))["reviewId"]
        hers = {"deckId": deck, "cardId": card, "noteId": "note_1", "reviewId": review}
        for tool, name, more in (
            ("get-deck", "deckId", {}),
            ("update-deck", "deckId", {"name": "Mine"}),
            ("delete-deck", "deckId", {"explicit_action": "DELETE_DECK"}),
            ("create-note", "deckId", {"front": "a", "back": "b"}),
            ("review-next-card", "deckId", {}),
            ("get-due-cards", "deckId", {}),
            ("update-note", "noteId", {"back": "mine"}),
            ("delete-note", "noteId", {"explicit_action": "DELETE_NOTE"}),
            ("review-card", "cardId", {"grade": "easy"}),
            ("undo-review", "reviewId", {}),
        ):
            kind = name.removesuffix("Id")
            for_hers = await error(as_bob, tool, **{name: hers[name]}, **more)
            for_none = await error(as_bob, tool, **{name: f"{kind}_999"}, **more)
            # Exactly the error for an id that does not exist.
            assert (tool, for_hers) == (tool, (for_none[0], for_none[1].replace(f"{kind}_999", hers[name])))
            assert for_hers[0] == "NotFoundError"
        assert (await data(as_bob, "list-decks"))["decks"] == []
        assert (await data(as_ana, "get-deck", deckId=deck))["name"] == f"French {mode}"
        assert (await data(as_ana, "undo-review"))["undone"] == review


@pytest.mark.requirement("VAL-2")
async def test_reading_and_writing_are_permissions_of_their_own(guarded_url):
    async with calling_as(guarded_url, "reader", "2026-07-28") as call:
        assert (await data(call, "list-decks"))["decks"] == []
        for tool, arguments, lacks in (
            ("create-deck", {"name": "a"}, "decks:write"),
            ("delete-deck", {"deckId": "deck_1", "explicit_action": "DELETE_DECK"}, "decks:delete"),
            ("create-note", {"deckId": "deck_1", "front": "a"}, "notes:write"),
            ("review-card", {"cardId": "card_1", "grade": "good"}, "reviews:write"),
            ("set-preference", {"name": "focus", "value": "retention"}, "preferences:write"),
        ):
            kind, words = await error(call, tool, **arguments)
            assert (tool, kind, lacks in words) == (tool, "PermissionError", True)


async def test_nobody_gets_in_without_a_token(guarded_url):
    async with httpx2.AsyncClient(timeout=60) as http:
        assert (await http.post(guarded_url, json={})).status_code == httpx2.codes.UNAUTHORIZED
