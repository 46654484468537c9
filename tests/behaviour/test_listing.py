"""What a client sees of the tools before it calls one."""

import pytest
from mcp.shared.exceptions import MCPError
from toolcharter_examples import demo

from mcp_core.declare.charter import META
from tests.behaviour.combinations import NEW, Combination, Connect, all_resources, over

pytestmark = pytest.mark.asyncio(loop_scope="session")

DEMO = [function.__name__ for function in demo.TOOLS]


async def test_tools_are_listed_in_the_order_of_their_declaration_each_time(connect: Connect):
    async with connect() as client:
        first = [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]
        second = [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]
    assert first[: len(DEMO)] == DEMO
    assert first == second


async def test_the_client_negotiates_the_era_it_asks_for(connect: Connect, combination: Combination):
    async with connect() as client:
        assert client.protocol_version == combination.era


@over(host=("native", "sdk"), era=(NEW,))
async def test_a_list_says_how_long_it_may_be_kept(connect: Connect):
    async with connect() as client:
        listed = await client.list_tools()
    assert (listed.ttl_ms, listed.cache_scope) == (300_000, "public")


@pytest.mark.requirement("OPS-2")
async def test_each_caller_sees_the_tools_that_they_may_use(connect: Connect):
    listed = {}
    for user in ("ann", "reader", "outsider"):
        async with connect(user=user) as client:
            tools = (await client.list_tools(cache_mode="bypass")).tools
            listed[user] = {tool.name: set((tool.meta or {}).get("dev.toolcharter/permissions", ())) for tool in tools}
    may_read = {name for name, needed in listed["ann"].items() if needed <= {"math:use", "notes:read"}}
    assert {"add", "list_notes"} <= may_read < set(listed["ann"])
    assert set(listed["reader"]) == may_read
    assert set(listed["outsider"]) == {name for name, needed in listed["ann"].items() if not needed}


@pytest.mark.requirement("OPS-2", "DOC-2")
async def test_the_documentation_of_a_tool_is_for_those_who_may_use_it(connect: Connect):
    for user in ("ann", "reader", "outsider"):
        async with connect(user=user) as client:
            tools = [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]
            documents = [uri for uri in await all_resources(client) if uri.startswith("toolcharter://")]
            assert documents == [f"toolcharter://tools/{name}" for name in tools]
            if user == "outsider":
                with pytest.raises(MCPError, match="Unknown resource: toolcharter://tools/add"):
                    await client.read_resource("toolcharter://tools/add", cache_mode="bypass")
            else:
                assert (await client.read_resource("toolcharter://tools/add", cache_mode="bypass")).contents


@over(host=("native", "sdk"), era=(NEW,), transport=("http",))
async def test_a_list_that_depends_on_the_token_is_not_shared_by_caches(connect: Connect):
    async with connect(user="reader") as client:
        assert (await client.list_tools()).cache_scope == "private"
        assert (await client.list_resources()).cache_scope == "private"
        assert (await client.read_resource("toolcharter://tools/add")).cache_scope == "private"


@pytest.mark.requirement("ARG-4")
async def test_every_schema_is_a_flat_and_closed_list_of_what_the_agent_gives(connect: Connect):
    async with connect() as client:
        schemas = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    for schema in schemas.values():
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert "$ref" not in str(schema)
    arguments = {name: list(schema["properties"]) for name, schema in schemas.items() if name in DEMO}
    assert arguments == {
        "add": ["a", "b"],
        "list_notes": ["limit", "offset", "cursor", "words"],
        "get_note": ["note_id"],
        "create_note": ["title", "body"],
        "delete_note": ["note_id", "explicit_action"],
        "digest_notes": [],
        "find_notes": ["words"],
    }


async def test_annotations_say_what_a_tool_may_do(connect: Connect):
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    shown = {name: tools[name].annotations.model_dump(by_alias=True, exclude_none=True) for name in DEMO}
    reads = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    assert shown == {
        "add": reads,
        "list_notes": reads,
        "get_note": reads,
        "create_note": reads | {"readOnlyHint": False, "idempotentHint": False},
        "delete_note": reads | {"readOnlyHint": False, "destructiveHint": True},
        "digest_notes": reads | {"readOnlyHint": False},
        "find_notes": reads,
    }


@pytest.mark.requirement("DEF-1")
async def test_the_whole_declaration_is_in_the_metadata(connect: Connect):
    async with connect() as client:
        tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
    ours = {key: value for key, value in tools["add"].items() if key.startswith(META)}
    assert ours == {
        "dev.toolcharter/version": "1.0.0",
        "dev.toolcharter/category": "query",
        "dev.toolcharter/responseTime": "fast",
        "dev.toolcharter/cacheable": True,
        "dev.toolcharter/cacheTTL": 60,
        "dev.toolcharter/idempotent": True,
        "dev.toolcharter/permissions": ["math:use"],
        "dev.toolcharter/rateLimit": {"maxCalls": 1_000_000, "windowMs": 60_000},
        "dev.toolcharter/tags": ["math"],
        "dev.toolcharter/examples": [
            {"description": "Two and three make five", "params": {"a": 2, "b": 3}, "expectedResult": 5}
        ],
    }
    assert tools["find_notes"]["dev.toolcharter/deprecated"] == {
        "since": "2026-09-01",
        "replacement": "list_notes",
        "removalDate": "2027-03-01",
    }


@pytest.mark.requirement("DOC-2")
async def test_the_full_documentation_of_every_tool_is_a_resource(connect: Connect):
    async with connect() as client:
        tools = (await client.list_tools()).tools
        documents = [uri for uri in await all_resources(client) if uri.startswith("toolcharter://")]
        assert documents == [f"toolcharter://tools/{tool.name}" for tool in tools]
        compact = next(tool.description for tool in tools if tool.name == "add")
        (content,) = (await client.read_resource("toolcharter://tools/add")).contents
    assert content.mime_type == "text/markdown"
    assert content.text.startswith("## Description\nAdd two whole numbers.")
    assert '"additionalProperties": false' in content.text
    assert "Two and three make five" in content.text
    assert "Two and three make five" not in compact
