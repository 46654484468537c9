"""Structured answers on every host: the schema in the list, and content that the client's own check accepts."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import jsonschema
import pytest
from fastmcp import FastMCP
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel

from mcp_core import App, Image, NotFound, Result, Settings, hints, tool
from mcp_core.calling.records import Answer, Request
from mcp_core.hosts.fastmcp import add_tools, governed
from mcp_core.hosts.sdk.server import build_server
from toolcharter.serving.server import Site

ERAS = ["2026-07-28", "legacy"]


class Card(BaseModel):
    front: str
    back: str | None = None


@tool
async def get_card(front: str) -> Card:
    """Give a card."""
    if not front:
        raise NotFound("There is no card without a front. Give one.")
    return Card(front=front)


async def list_cards() -> Result[list[Card]]:
    """Give all cards."""
    return Result.ok([Card(front="a", back="b")], message="One card.", hints=hints.for_list(1))


async def find_card(front: str) -> Result[Card | None]:
    """Give a card, or nothing."""
    return Result.ok(Card(front=front) if front else None)


async def forget_value() -> Result[Card]:
    """Promise a card, and answer without one."""
    return Result.ok()


async def anything() -> Any:
    """Give what is not declared."""
    return [1]


def build(format: Any, fast_path: Any = "on") -> App:
    app = App("cards", version="1.0.0", format=format, structured=True, settings=Settings(fast_path=fast_path))
    for function in (get_card, list_cards, find_card, forget_value, anything):
        app.tool(function)
    return app


@asynccontextmanager
async def connected(host: str, format: Any, mode: Any) -> AsyncIterator[Client]:
    if host == "fastmcp":
        app = build(format)
        server = FastMCP("cards", lifespan=governed(app))
        add_tools(server, app)
        async with Client(server._mcp_server, mode=mode) as client:
            yield client
    elif host == "sdk-memory":
        async with Client(build_server(build(format)), mode=mode) as client:
            yield client
    else:
        served = Site([build(format, host)], "http://127.0.0.1:8000")
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=served), base_url="http://127.0.0.1:8000")
        async with served.pages.router.lifespan_context(served.pages), http:
            url = "http://127.0.0.1:8000/mcp"
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                yield client


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("format", ["result", "bare", "hints"])
@pytest.mark.parametrize("host", ["on", "off", "sdk-memory", "fastmcp"])
async def test_a_structured_server_lists_the_schema_that_its_answers_match(host: str, format: Any, mode: Any):
    calls = [("get_card", {"front": "a"}), ("list_cards", {}), ("anything", {})]
    if format != "hints":  # a hinting server never answers without data
        calls += [("find_card", {"front": "a"}), ("find_card", {"front": ""})]
    async with connected(host, format, mode) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)  # the client checks it, too
            jsonschema.validate(result.structured_content, schemas[name])
            (block,) = result.content
            content = result.structured_content
            if format == "bare" and name != "get_card":
                content = content["result"]
            assert json.loads(block.text) == content
        failed = await client.call_tool("get_card", {"front": ""})
        broken = await client.call_tool("forget_value", {})
    assert (failed.is_error, failed.structured_content) == (True, None)
    assert broken.is_error
    assert {schema["type"] for schema in schemas.values()} == {"object"}


CARD = {
    "type": "object",
    "properties": {
        "front": {"type": "string"},
        "back": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    },
    "required": ["front"],
}
CHANNELS = {
    "message": {"type": "string", "description": "For the person."},
    "instruction": {"type": "string", "description": "For the agent."},
}


def test_the_schema_follows_from_the_annotation_and_the_format():
    assert [tool.output_schema for tool in build("bare").list_tools()][:2] == [
        CARD,
        {
            "type": "object",
            "properties": {"result": {"type": "array", "items": CARD}},
            "required": ["result"],
            "x-fastmcp-wrap-result": True,
        },
    ]
    assert build("result").list_tools()[0].output_schema == {
        "type": "object",
        "properties": {"success": {"type": "boolean"}, "value": CARD, **CHANNELS},
        "required": ["success"],
    }
    assert build("hints").list_tools()[0].output_schema == {
        "type": "object",
        "properties": {
            "data": CARD,
            **CHANNELS,
            "agentHints": {"type": "object", "description": "What to do next, and how sure that is."},
            "metadata": {"type": "object", "description": "How and when the answer was made."},
        },
        "required": ["data", "agentHints", "metadata"],
    }


def test_a_server_that_is_not_structured_lists_no_output_schema():
    app = App("cards", version="1.0.0", tools=[get_card], structured=False)
    assert app.list_tools()[0].output_schema is None


async def untyped():
    """Give what is not declared at all."""
    return 1


async def draw() -> Image:
    """Give an image alone."""
    return Image(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "setting", "typed"),
    [
        ({}, None, ["get_card", "list_cards"]),
        ({"format": "result"}, None, []),
        ({"format": "hints"}, None, []),
        ({"structured": False}, None, []),
        ({"structured": True}, None, ["get_card", "list_cards", "untyped", "anything"]),
        ({}, "off", []),
        ({"structured": True}, "off", []),
        ({"format": "result"}, "once", ["get_card", "list_cards"]),
        ({"structured": False}, "both", ["get_card", "list_cards"]),
    ],
)
async def test_tools_that_declare_what_they_return_are_structured_by_default(options: Any, setting: Any, typed: Any):
    tools = [tool(function) for function in (get_card, list_cards, untyped, anything, draw)]
    app = App("cards", version="1.0.0", tools=tools, settings=Settings(structured=setting), **options)
    assert [tool.name for tool in app.list_tools() if tool.output_schema is not None] == typed
    async with app:
        answers = {
            tool.__name__: await app.call(tool.__name__, {"front": "a"} if tool is get_card else {}) for tool in tools
        }
    assert [name for name, answer in answers.items() if answer.structured is not None] == [
        name for name in answers if name in typed and not answers[name].is_error
    ]


@pytest.mark.parametrize(("setting", "shown"), [(None, ""), ("once", ""), ("both", '{"front":"a","back":null}')])
async def test_a_client_that_shows_both_gets_no_copy_unless_the_user_wants_it(setting: Any, shown: str):
    app = App("cards", version="1.0.0", tools=[get_card], settings=Settings(structured=setting))
    async with app:
        request = Request("get_card", {"front": "a"}, agent_id="github-copilot-developer")
        answer = await app.answer(request)
        other = await app.answer(request._replace(agent_id="claude-code"))
    assert isinstance(answer, Answer)
    assert isinstance(other, Answer)
    assert (answer.text, answer.structured) == (shown, {"front": "a", "back": None})
    assert other.text == '{"front":"a","back":null}'
