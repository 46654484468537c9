"""A library that passes on what other servers have, on the SDK's server and in the fast path."""

from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from mcp_core import App
from mcp_core.calling.live_library import LiveLibrary
from mcp_core.calling.records import Request
from mcp_core.hosts.fast_path.methods import FastPath, NotHandled
from mcp_core.hosts.protocol import Peer, RpcError
from mcp_core.hosts.sdk.server import build_server

RESULTS: dict[str, dict[str, Any]] = {
    "prompts/list": {"prompts": [{"name": "far"}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "from far"}}]},
    "resources/list": {"resources": [{"uri": "far://a", "name": "a"}]},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": [{"uri": "far://a", "text": "from far"}]},
    "completion/complete": {"completion": {"values": ["tea"]}},
}


class Far(LiveLibrary):
    async def answer(self, method: str, params: dict[str, Any], request: Request) -> dict[str, Any]:
        asked.append((method, request.tool, params.get("cursor")))
        return RESULTS[method]

    async def subscribe(self, uri: str, request: Request, updated: Callable[[str], None]) -> Callable[[], None]:
        raise NotImplementedError


asked: list[tuple[str, str, Any]] = []


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_sdk_server_passes_on_what_a_live_library_answers(mode: str):
    asked.clear()
    async with Client(build_server(App("near", version="1", format="result", make_library=Far)), mode=mode) as client:
        assert [prompt.name for prompt in (await client.list_prompts(cursor="2")).prompts] == ["far"]
        (message,) = (await client.get_prompt("far")).messages
        assert message.content == types.TextContent(type="text", text="from far")
        assert [str(one.uri) for one in (await client.list_resources()).resources] == ["far://a"]
        assert (await client.list_resource_templates()).resource_templates == []
        (content,) = (await client.read_resource("far://a")).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == "from far"
        ref = types.PromptReference(type="ref/prompt", name="far")
        assert (await client.complete(ref, {"name": "a", "value": "t"})).completion.values == ["tea"]
    assert asked[:2] == [("prompts/list", "prompts/list", "2"), ("prompts/get", "far", None)]
    assert asked[-1] == ("completion/complete", "far", None)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": {"type": "ref/prompt", "name": "far"}},
        {"ref": {"type": "ref/prompt", "name": "far"}, "argument": {"name": "a"}},
        {"ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": "t"}},
        {"ref": {"type": "ref/tool", "name": "far"}, "argument": {"name": "a", "value": "t"}},
    ],
)
async def test_a_completion_without_its_parts_is_refused(params: dict[str, Any]):
    app = App("near", version="1", format="result", make_library=Far)
    with pytest.raises(RpcError, match="Invalid request parameters"):
        await FastPath(app).answer("completion/complete", params, Peer(app.local_caller, modern=False))


async def test_a_server_of_our_own_completes_nothing():
    app = App("near", version="1", format="result")
    with pytest.raises(NotHandled):
        await FastPath(app).answer("completion/complete", {}, Peer(app.local_caller, modern=False))
