"""Generated conversations over a pipe, with the fast path and with the SDK: they answer alike, or it says here why not.

Each message is sent when the one before it has been answered, so that both sides see the same order of events.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, NamedTuple

import anyio
import mcp_types as types
import pytest
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage

from mcp_core import App
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.fast_path.stdio_connection import StdioConnection
from mcp_core.hosts.sdk.server import build_server
from tests.mcp_core.hosts.fast_path import messages
from tests.mcp_core.hosts.fast_path.messages import NEW, OLD, STATE

SEEDS = range(2)
CONVERSATIONS = 150
MESSAGES = 12
"""For each conversation: about 3,000 messages in all."""


class Seen(NamedTuple):
    """What is compared of the answers to one message, in no order."""

    answers: tuple[Any, ...]


class Said(NamedTuple):
    """One line."""

    text: bytes

    @property
    def message(self) -> dict[str, Any]:
        """What was meant; nothing where it is no message."""
        try:
            message = json.loads(self.text)
        except (ValueError, RecursionError):
            message = None
        return message if isinstance(message, dict) else {}


def conversation(rng: Random) -> list[Said]:
    era = rng.choice([NEW, OLD[0]])
    said = []
    for number in range(MESSAGES):
        opening = era != NEW and (number == 0 or rng.random() < 0.04)
        if opening and rng.random() < 0.95:
            message = messages.handshake(rng)
            message["params"]["capabilities"] = rng.choice([c for c in messages.SKILLS if "elicitation" not in str(c)])
        else:
            message = messages.request(rng, rng.choice([NEW, OLD[0]]) if rng.random() < 0.05 else era)
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            spoils = [messages.spoil_message, messages.spoil_params, messages.spoil_meta]
            rng.choice(spoils)(rng, message)
        text = json.dumps(message).encode()
        if rng.random() < 0.1:
            text = messages.spoil_text(rng, text).replace(b"\n", b" ")
        said.append(Said(text))
    return said


# ---- the two sides ---------------------------------------------------------------------------------------


class FastPathSide:
    def __init__(self, app: App) -> None:
        self._written: list[bytes] = []
        self._connection = StdioConnection(FastPath(app), self._written.append, self._drain)
        self.state = "none yet"

    async def _drain(self) -> None:
        pass

    async def answer(self, text: bytes) -> list[Any]:
        self._written.clear()
        await self._connection.receive(text)
        await asyncio.gather(*self._connection._calls.values())
        return [json.loads(line) for line in self._written]

    async def close(self) -> None:
        await self._connection.close()


class SdkSide:
    """What `stdio_server` does to a line, around the SDK's loop."""

    def __init__(self, send: Any, receive: Any) -> None:
        self._send, self._receive = send, receive
        self.state = "none yet"

    async def answer(self, text: bytes) -> list[Any]:
        try:
            message = types.jsonrpc_message_adapter.validate_json(text.decode("utf-8", "replace"), by_name=False)
        except ValueError:
            return []
        await self._send.send(SessionMessage(message))
        answers: list[Any] = []
        if isinstance(message, types.JSONRPCRequest):
            with anyio.fail_after(10):
                while not answers or "method" in answers[-1]:
                    written = (await self._receive.receive()).message
                    answers.append(json.loads(written.model_dump_json(by_alias=True, exclude_unset=True)))
        return answers


@asynccontextmanager
async def both_sides() -> AsyncIterator[tuple[FastPathSide, SdkSide]]:
    ours, theirs = messages.built(), messages.built()
    to_server, from_client = anyio.create_memory_object_stream[Any](10)
    to_client, from_server = anyio.create_memory_object_stream[Any](10)
    async with ours, theirs, anyio.create_task_group() as tasks:
        server = build_server(theirs)

        async def serve() -> None:
            await serve_dual_era_loop(server, from_client, to_client, lifespan_state=theirs)

        tasks.start_soon(serve)
        fast_path = FastPathSide(ours)
        async with to_server, from_server:
            yield fast_path, SdkSide(to_server, from_server)
            await fast_path.close()


def comparable(answers: list[Any], side: FastPathSide | SdkSide) -> Seen:
    found = []
    for answer in answers:
        result = answer.get("result")
        if isinstance(result, dict) and "requestState" in result:
            side.state = result["requestState"]
        error = answer.get("error")
        result = answer.get("params") if "method" in answer else None
        found.append((answer.get("id"), error and error["code"], messages.steady(result), answer.get("method"), result))
    return Seen(tuple(found))


# ---- what may differ -------------------------------------------------------------------------------------


class Difference(NamedTuple):
    """Where the fast path and the SDK may disagree, and what allows the fast path to do what it does."""

    paragraph: str
    applies: Callable[[Said, list[Any], list[Any]], bool]


def codes(answers: list[Any]) -> list[int | None]:
    return [answer.get("error", {}).get("code") for answer in answers]


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


DIFFERENCES = {
    "a line that is no message is answered": Difference(
        "JSON-RPC 2.0, 5 and 5.1: -32700 for what is no JSON, -32600 for what is no request, and the id MUST be null "
        "where it could not be detected. The SDK says nothing, and the client waits.",
        lambda _, fast_path, sdk: sdk == [] and codes(fast_path) in ([-32700], [-32600]) and fast_path[0]["id"] is None,
    ),
    "a request that is malformed beside its id is answered under its id": Difference(
        "JSON-RPC 2.0, 5: the id MUST be that of the request, where it could be detected. The SDK says nothing.",
        lambda said, fast_path, sdk: (
            sdk == []
            and codes(fast_path) in ([-32600], [-32602])
            and fast_path[0]["id"] == said.message.get("id", "none")
        ),
    ),
    "a line that is not UTF-8 is no message": Difference(
        "MCP, Transports, in both eras: JSON-RPC messages MUST be UTF-8 encoded. What is said to others is not "
        "written. The SDK puts a replacement character there.",
        lambda said, fast_path, _: not is_utf8(said.text) and codes(fast_path) == [-32700],
    ),
    "a method that is not served is not found, whatever its parameters": Difference(
        "JSON-RPC 2.0, 5.1: -32601, the method does not exist / is not available. No text says which of two errors "
        "comes first. The SDK looks at the parameters of all methods of the schema, also of those nobody serves.",
        lambda _, fast_path, sdk: (codes(fast_path), codes(sdk)) == ([-32601], [-32602]),
    ),
    "what has a method is a request, though it has an error too": Difference(
        "JSON-RPC 2.0, 4 and 5: a request has a method, a response has none; of a message with both no text speaks. "
        "The SDK takes it for a response, and says nothing.",
        lambda said, fast_path, sdk: sdk == [] and {"method", "error"} <= said.message.keys() and len(fast_path) == 1,
    ),
}


async def compare(seed: int) -> Counter[str]:
    rng, counted = Random(seed), Counter[str]()
    for _ in range(CONVERSATIONS):
        async with both_sides() as (fast_path, sdk):
            for said in conversation(rng):
                ours = await fast_path.answer(said.text.replace(STATE.encode(), fast_path.state.encode()))
                theirs = await sdk.answer(said.text.replace(STATE.encode(), sdk.state.encode()))
                counted["results"] += any("result" in answer for answer in ours)
                counted["errors"] += any("error" in answer for answer in ours)
                if comparable(ours, fast_path) == comparable(theirs, sdk):
                    continue
                allowed = [name for name, difference in DIFFERENCES.items() if difference.applies(said, ours, theirs)]
                assert allowed, f"seed {seed}: {said}\nlane: {ours}\nSDK:  {theirs}"
                counted[allowed[0]] += 1
                if any("result" in answer for answer in ours + theirs) or b"/initialized" in said.text:
                    break  # only one of them did it, so from here on they are not in the same state
    return counted


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_fast_path_and_the_sdk_answer_alike(seed: int):
    counted = await compare(seed)
    assert counted["results"] > CONVERSATIONS * MESSAGES / 8
    assert counted["errors"] > CONVERSATIONS * MESSAGES / 8
    assert [name for name in DIFFERENCES if not counted[name]] == []
