"""A server that has no prompts says so, on the lane and on the SDK, in both eras."""

import json
from typing import Any

import pytest
from toolcharter_examples import words

from mcp_core import Settings
from mcp_core.hosts.lane.methods import Lane, NotHandled
from mcp_core.hosts.protocol import Peer
from mcp_core.hosts.sdk.server import build_server
from tests.mcp_core.hosts.lane import messages

CLIENT = {"name": "t", "version": "1"}


async def discovered(lane: Lane) -> Any:
    meta = {messages.VERSION: messages.NEW, messages.CAPABILITIES: {}}
    peer = Peer(lane.app.local_caller, modern=True)
    return json.loads(await lane.answer("server/discover", {"_meta": meta}, peer))["capabilities"]


def greeted(lane: Lane) -> Any:
    text, _ = lane.initialize({"protocolVersion": messages.OLD[0], "capabilities": {}, "clientInfo": CLIENT})
    return json.loads(text)["capabilities"]


async def test_prompts_are_announced_only_where_there_are_some():
    without, some = Lane(words.build(Settings())), Lane(messages.built())
    for lane, announced in ((without, None), (some, {"listChanged": False})):
        assert (await discovered(lane)).get("prompts") == announced
        assert greeted(lane).get("prompts") == announced
    assert build_server(words.build(Settings())).get_capabilities().prompts is None


@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize("method", ["prompts/list", "prompts/get"])
async def test_a_server_without_prompts_does_not_know_their_methods(method: str, modern: bool):
    lane = Lane(words.build(Settings()))
    with pytest.raises(NotHandled):
        await lane.answer(method, {"name": "x"}, Peer(lane.app.local_caller, modern=modern))


async def test_resources_that_never_change_are_written_once():
    lane = Lane(words.build(Settings()))
    peer = Peer(lane.app.local_caller, modern=False)
    assert await lane.answer("resources/list", {}, peer) is await lane.answer("resources/list", {}, peer)
