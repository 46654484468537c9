"""Prompts, resources and completions of upstreams, over both transports and both eras on both sides."""

import json
from pathlib import Path

import httpx2
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.toolcharter.command_line import run
from tests.toolcharter.govern import offering_server
from tests.toolcharter.govern.governed import CLIENTS, UPSTREAMS, connected


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", CLIENTS)
async def test_prompts_and_resources_of_every_upstream_reach_every_client(connection: str, served: tuple[Path, str]):
    async with connected(connection, *served) as client:
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert prompts == [f"{name}_{prompt}" for name in UPSTREAMS for prompt in ("review", "evil_text", "asking")]
        for name, said in zip(UPSTREAMS, ("pipe", "old-pipe", "web", "web"), strict=True):
            given = await client.get_prompt(f"{name}_review", {"topic": "tea"})
            (message,) = given.messages
            assert message.content == types.TextContent(type="text", text=f"{said}: review tea")
            ref = types.PromptReference(type="ref/prompt", name=f"{name}_review")
            completed = await client.complete(ref, {"name": "topic", "value": "a"})
            # The value that gives orders is left out.
            assert completed.completion.values == [f"a{said}", "review.topic"]
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        assert uris == [
            *("pipe://readme", "shared://both", "pipe://evil", "old-pipe://readme", "old-pipe://evil"),
            *("web://readme", "web://evil"),
        ]
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        assert templates == [f"{name}://page/{{number}}" for name in ("pipe", "old-pipe", "web")]
        for uri in ("pipe://readme", "old-pipe://page/7", "pipe://not/listed"):
            (content,) = (await client.read_resource(uri)).contents
            assert isinstance(content, types.TextResourceContents)
            assert content.text == f"{uri.partition(':')[0]} has {uri}"
        ref = types.ResourceTemplateReference(type="ref/resource", uri="pipe://page/{number}")
        completed = await client.complete(ref, {"name": "number", "value": "4"})
        assert completed.completion.values == ["4pipe", "pipe://page/{number}.number"]
        # What gives orders is marked.
        marked = (await client.get_prompt("pipe_evil_text")).messages
        assert isinstance(marked[0].content, types.TextContent)
        assert marked[0].content.text.startswith("Warning: the prompt 'evil_text' of 'pipe' below contains text that")
        contents = (await client.read_resource("pipe://evil")).contents
        assert isinstance(contents[0], types.TextResourceContents)
        assert contents[0].text.startswith("Warning: the resource of 'pipe' below contains text that gives orders")
        for failing, expected in (
            (lambda: client.read_resource("shared://both"), "'old-pipe' and 'old-web' and 'pipe' and 'web' all offer"),
            (lambda: client.read_resource("pipe://secret/key"), "Unknown resource: pipe://secret/key"),
            (
                lambda: client.read_resource("pipe://a/x/../private/%6bey"),
                "Unknown resource: pipe://a/x/../private/%6bey",
            ),
            (lambda: client.read_resource("nobody://x"), "Unknown resource: nobody://x"),
            (lambda: client.get_prompt("pipe_secret"), "Unknown prompt: 'pipe_secret'."),
            (lambda: client.get_prompt("pipe_evil_definition"), "'evil_definition' of 'pipe' is quarantined: SEC"),
            (lambda: client.get_prompt("pipe_reviev"), "Unknown prompt: 'pipe_reviev'. Did you mean 'pipe_review'"),
            (lambda: client.get_prompt("pipe_review"), "'pipe' refused the request: topic is missing"),
            (lambda: client.list_prompts(cursor="x"), "The cursor 'x' does not belong to this list."),
        ):
            with pytest.raises(MCPError) as refused:
                await failing()
            assert expected in str(refused.value)


def test_the_commands_show_what_a_governed_server_offers(capsys: pytest.CaptureFixture[str], served: tuple[Path, str]):
    path, address = served
    code, out, _ = run(capsys, "tools", f"{address}/web/mcp", "--prompts")
    assert (code, [prompt["name"] for prompt in json.loads(out)]) == (0, ["review", "evil_text", "asking"])
    code, out, _ = run(capsys, "tools", f"{address}/web/mcp", "--resources")
    assert code == 0
    shown = [resource.get("uri") or resource["uriTemplate"] for resource in json.loads(out)]
    assert shown == ["web://readme", "shared://both", "web://evil", "web://page/{number}"]
    code, out, _ = run(capsys, "govern", "status", "web", "--charter", str(path))
    offered = f"{len(offering_server.TOOLS)} tools served, 3 prompts, 1 suspicious prompt, 3 resources, 1 template"
    assert (code, out) == (0, f"web: {offered}\n")


def test_the_health_of_each_upstream_is_shown(served: tuple[Path, str]):
    _, address = served
    for place in ("/health", "/health/ready"):
        found = httpx2.get(f"{address}{place}").json()
        assert found["status"] == "ok"
        assert [(one["server"], one["name"], one["status"]) for one in found["dependencies"]] == [
            (name, "upstream", "ok") for name in UPSTREAMS
        ]
    metrics = httpx2.get(f"{address}/metrics").text
    assert 'toolcharter_dependency_up{server="old-web",dependency="upstream"} 1' in metrics
