"""A server that has no prompts says so, on the fast path and on the SDK, in both eras."""

import json
from typing import Any

import pytest
from toolcharter_examples import words

from mcp_core import Settings
from mcp_core.hosts.fast_path.methods import FastPath, NotHandled
from mcp_core.hosts.protocol import Peer
from mcp_core.hosts.sdk.server import build_server
from tests.mcp_core.hosts.fast_path import messages

CLIENT = {"name": "t", "version": "1"}


async def discovered(fast_path: FastPath) -> Any:
    meta = {messages.VERSION: messages.NEW, messages.CAPABILITIES: {}}
    peer = Peer(fast_path.app.local_caller, modern=True)
    return json.loads(await fast_path.answer("server/discover", {"_meta": meta}, peer))["capabilities"]


def greeted(fast_path: FastPath) -> Any:
    text, _ = fast_path.initialize({"protocolVersion": messages.OLD[0], "capabilities": {}, "clientInfo": CLIENT})
    return json.loads(text)["capabilities"]


async def test_prompts_are_announced_only_where_there_are_some():
    without, some = FastPath(words.build(Settings())), FastPath(messages.built())
    for fast_path, announced in ((without, None), (some, {"listChanged": False})):
        assert (await discovered(fast_path)).get("prompts") == announced
        assert greeted(fast_path).get("prompts") == announced
    assert build_server(words.build(Settings())).get_capabilities().prompts is None


@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize("method", ["prompts/list", "prompts/get"])
async def test_a_server_without_prompts_does_not_know_their_methods(method: str, modern: bool):
    fast_path = FastPath(words.build(Settings()))
    with pytest.raises(NotHandled):
        await fast_path.answer(method, {"name": "x"}, Peer(fast_path.app.local_caller, modern=modern))


async def test_resources_that_never_change_are_written_once():
    fast_path = FastPath(words.build(Settings()))
    peer = Peer(fast_path.app.local_caller, modern=False)
    assert await fast_path.answer("resources/list", {}, peer) is await fast_path.answer("resources/list", {}, peer)
