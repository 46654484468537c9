"""Live rules on real servers: bad ones, and ours without findings."""

import asyncio
import json
import sys
from typing import Any

import mcp_types as types
import pytest
from fastmcp import FastMCP
from mcp.server import Server as LowLevel
from mcp.server.mcpserver import MCPServer

from mcp_core import App, Example, Settings, hints
from mcp_core.result import Result
from tests.mcp_core.declared import Text, query
from toolcharter.commands.local_server import LocalServer
from toolcharter.local import targets
from toolcharter.local.app_verification import server_from_app
from toolcharter.remote import client
from toolcharter.verify.engine import run_live_rules, server_from_tools
from toolcharter.verify.live.probe import probe_server
from toolcharter.verify.rules import all_rules

READ_ONLY = types.ToolAnnotations(read_only_hint=True)


async def nobody(params):
    return {"action": "decline"}


async def probe(server, running, **options):
    """The findings of all live rules."""
    return run_live_rules(server, await probe_server(server, running, **options), all_rules())


async def checked(server, *, call_timeout=30.0, all_tools=False):
    async with client.open_object(server, "made-up", nobody) as running:
        tools = server_from_tools(await running.list_tools())
        found = await probe(tools, running, call_timeout=call_timeout, all_tools=all_tools)
    return [(finding.tool, finding.name, finding.message) for finding in found]


async def checked_app(app, **options):
    async with app:
        return await probe(server_from_app(app), LocalServer(app), **options)


def low_level(answer, schema=None, output=None, lists=None):
    """A server with one tool `get`, which returns the given answer."""
    tool = types.Tool(
        name="get",
        input_schema=schema or {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
        output_schema=output,
        annotations=READ_ONLY,
    )

    async def on_list(context, params):
        return types.ListToolsResult(tools=lists() if lists else [tool])

    async def on_call(context, params):
        got = answer(params.arguments or {})
        return got if isinstance(got, types.CallToolResult) else text(got)

    return LowLevel("made-up", on_list_tools=on_list, on_call_tool=on_call)


def text(said, *, error=False, structured: Any = None):
    content = [types.TextContent(type="text", text=said)]
    return types.CallToolResult(content=content, is_error=error, structured_content=structured)


def strict(arguments):
    """An answer without findings."""
    wrong = [name for name in arguments if name != "key"]
    if wrong or not isinstance(arguments.get("key"), str):
        return text(f"Wrong arguments: {wrong or 'key'}", error=True)
    return "fine"


async def test_a_correct_server_has_no_finding():
    assert await checked(low_level(strict)) == []


async def test_a_server_without_validation_accepts_everything():
    assert await checked(low_level(lambda arguments: "fine")) == [
        ("get", "accepts-missing", "'key' is required, but a call without it was accepted"),
        ("get", "accepts-wrong-type", "'key' was accepted with the value \"{'not': 'of this type'}\""),
        ("get", "accepts-unknown", "an unknown argument was ignored"),
    ]


async def test_a_handler_that_raises_gives_protocol_errors_and_never_a_traceback_here():
    found = await checked(low_level(lambda arguments: {}["key"]))
    assert [(tool, name) for tool, name, _ in found] == [("get", "crash-on-call"), ("get", "protocol-error")]


@pytest.mark.parametrize(
    "said", ["Error: key is wrong.", '{"error": "key is wrong"}', '{"success": false, "message": "key is wrong"}']
)
async def test_an_unmarked_error_is_found_once(said):
    message = f"a call without 'key' returned {said!r}, which is not marked as an error"
    found = await checked(low_level(lambda a: "fine" if strict(a) == "fine" else said))
    assert found == [("get", "error-as-success", message)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Wrong key.", []),
        ("Something went wrong.", ["unspecific-error", "unspecific-error"]),
        (
            'key: Traceback (most recent call last):\n File "/srv/x.py", line 3',
            ["leaked-internals", "leaked-internals"],
        ),
        ("key: cannot open /home/ana/server/notes.db", ["leaked-internals"]),
        ("key: SELECT id FROM notes WHERE key = ?", ["leaked-internals"]),
        ("key: connect to postgres://notes:hunter22@db failed", ["leaked-internals"]),
        ("key: Error\n    at get (server.js:10:5)", ["leaked-internals"]),
        ("key: wrong api_key=abc123def", ["leaked-internals"]),
        ("key: see https://errors.example/v/string_type and docs/home/keys.md", []),
    ],
)
async def test_an_error_names_the_argument_and_shows_nothing_of_the_server(said, expected):
    found = await checked(low_level(lambda a: "fine" if strict(a) == "fine" else text(said, error=True)))
    assert [name for _, name, _ in found] == expected


async def test_an_error_may_quote_the_arguments_of_a_call():
    schema = {"type": "object", "properties": {"key": {"type": "string", "enum": ["/home/ana/notes"]}}}
    server = low_level(lambda a: text(f"There is no file {a.get('key')} (key)", error=True), schema)
    assert await checked(server) == []


async def test_a_result_matches_its_output_schema():
    output = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def answering(structured):
        return lambda a: text("{}", structured=structured) if strict(a) == "fine" else strict(a)

    assert await checked(low_level(answering({"n": 1}), output=output)) == []
    for wrong in ({"n": "1"}, None):
        (found,) = await checked(low_level(answering(wrong), output=output))
        assert found[:2] == ("get", "output-schema-mismatch")


async def test_lists_are_the_same_each_time():
    def tool(name):
        return types.Tool(name=name, input_schema={"type": "object"})

    def shuffled(orders=iter(["ab", "ba", "ab", "ba", "ab"])):  # noqa: B008 - one for all calls, on purpose
        return [tool(name) for name in next(orders)]

    (found,) = await checked(low_level(strict, lists=shuffled))
    assert found == (None, "unstable-list", "the order changes: ['a', 'b'], then ['b', 'a']")


async def test_a_large_result_is_found():
    (found,) = await checked(low_level(lambda a: "x" * 200_000 if strict(a) == "fine" else strict(a)))
    assert found == ("get", "oversized-result", "a result has about 50,000 tokens, more than 25,000")


async def test_a_call_without_a_result_ends_with_the_timeout():
    server = MCPServer("made-up")

    @server.tool(annotations=READ_ONLY)
    async def wait() -> str:
        await asyncio.Event().wait()
        return "never"

    assert await checked(server, call_timeout=1.0) == [("wait", "slow-call", "a valid call got no result within 1 s")]


async def test_a_server_that_dies_is_a_finding(tmp_path):
    file = tmp_path / "dies.py"
    file.write_text(
        "import os\nfrom mcp.server.mcpserver import MCPServer\nfrom mcp_types import ToolAnnotations\n"
        "server = MCPServer('dies')\n"
        "@server.tool(annotations=ToolAnnotations(read_only_hint=True))\ndef die() -> str:\n    os._exit(3)\n"
        "@server.tool(annotations=ToolAnnotations(read_only_hint=True))\ndef live() -> str:\n    return 'fine'\n"
        "server.run()\n"
    )
    found = []
    try:
        async with client.start([sys.executable, str(file)], nobody) as running:
            found = await probe(server_from_tools(await running.list_tools()), running, call_timeout=30.0)
    except client.ServerUnreachable:
        pass  # whether closing a dead server complains is not what this is about
    assert [(f.tool, f.name, f.message) for f in found] == [
        ("die", "crash-on-call", "the server no longer answered after a valid call")
    ]


@pytest.mark.parametrize("make", [MCPServer, FastMCP])
async def test_only_read_only_tools_are_called(make):
    called = []
    server = make("made-up")

    @server.tool()
    def write(note: str) -> str:
        called.append("write")
        return note

    @server.tool(annotations=READ_ONLY)
    def read(note: str) -> str:
        called.append("read")
        return note

    await checked(server)
    assert set(called) == {"read"}
    await checked(server, all_tools=True)
    assert set(called) == {"read", "write"}


def exchanges_with_hints(change):
    """A server with changed hints."""
    good = {
        "data": 1,
        "agentHints": hints.for_value().to_json(),
        "metadata": {
            "toolVersion": "1.0.0",
            "serviceVersion": "1.0.0",
            "timestamp": "2026-01-15T12:00:00Z",
            "executionTime": 1,
        },
    }

    def answer(arguments):
        document = json.loads(json.dumps(good))
        failed = strict(arguments) != "fine"
        if failed:
            document |= {"data": None, "error": strict(arguments).content[0].text}
            document["agentHints"]["confidence"] = 0.0
        change(document)
        return text(json.dumps(document), error=failed)

    return low_level(answer)


def suggest(document):
    document["agentHints"]["suggestedNextActions"] = [{"action": "fetch", "priority": "low"}]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: None, []),
        (lambda d: d["agentHints"].update(confidence=0.9), ["constant-confidence"]),
        (lambda d: d["agentHints"].update(confidence=0.0), []),
        (lambda d: d["agentHints"].pop("riskFactors"), ["incomplete-hints"]),
        (lambda d: d["agentHints"].update(sourceQuality="good"), ["incomplete-hints"]),
        (lambda d: d["agentHints"].update(confidence=2), ["incomplete-hints", "constant-confidence"]),
        (lambda d: d.pop("agentHints") if "error" in d else None, ["incomplete-hints"]),
        (lambda d: d["metadata"].pop("toolVersion"), ["incomplete-metadata"]),
        (lambda d: d["metadata"].update(timestamp="2026-01-15T12:00:00"), ["incomplete-metadata"]),
        (lambda d: d.update(data=None), ["incomplete-metadata"]),
        (suggest, ["unknown-suggestion"]),
    ],
)
async def test_hints_are_complete(change, expected):
    assert [name for _, name, _ in await checked(exchanges_with_hints(change))] == expected


@pytest.mark.parametrize(("sure", "expected"), [([0.4, 0.4, 0.4], ["constant-confidence"]), ([0.4, 0.4, 0.9], [])])
async def test_examples_are_used_as_valid_calls(sure, expected):
    left = iter(sure)
    sent = []

    @query(examples=[Example("A word", {"text": word}, 4) for word in ("milk", "bread", "salt")])
    def count(text: Text) -> Result[int]:
        sent.append(text)
        return Result.ok(len(text), hints=hints.for_value(evidence=hints.Evidence(completeness=next(left))))

    app = App("made-up", version="1.0.0", tools=[count], format="hints")
    assert [finding.name for finding in await checked_app(app)] == expected
    assert sent == ["milk", "bread", "salt"]


async def test_progress_is_reported_for_each_tool():
    @query({"text": "milk"})
    def count(text: Text) -> int:
        return len(text)

    told = []
    await checked_app(App("made-up", version="1.0.0", format="result", tools=[count]), on_step=told.append)
    assert told == ["count"]


@pytest.mark.parametrize("all_tools", [False, True])
@pytest.mark.parametrize("name", sorted(targets.known()))
async def test_our_own_servers_have_no_finding(name, all_tools, tmp_path, monkeypatch):
    for variable in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_DOWNLOAD_DIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    app = targets.load(name, Settings(db=f"sqlite:///{tmp_path}/{name}.db"))
    async with app:
        if app.prepare_examples is not None:
            await app.prepare_examples(app)
        assert await checked_app(app, all_tools=all_tools) == []


async def test_no_further_tool_is_called_after_the_time_limit_for_all_calls():
    server = low_level(strict)
    async with client.open_object(server, "made-up", nobody) as running:
        tools = server_from_tools(await running.list_tools())
        observations = await probe_server(tools, running, total_timeout=0)
    assert (observations.called, observations.ran_out_of_time) == (frozenset(), True)
