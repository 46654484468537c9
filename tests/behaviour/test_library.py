"""Prompts and resources, as clients find, get and read them."""

import base64
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from tests.behaviour.combinations import NEW, OLD, Connect, all_resources, data_of, over

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def refusal(asked: Any) -> tuple[int, str, Any]:
    """Code, words and data of what a client is refused."""
    with pytest.raises(MCPError) as raised:
        await asked
    return raised.value.error.code, raised.value.error.message, raised.value.error.data


# ---- prompts ---------------------------------------------------------------------------------------------


async def test_prompts_are_listed_with_their_arguments(connect: Connect):
    async with connect() as client:
        listed = (await client.list_prompts()).prompts
    shown = [prompt.model_dump(exclude_none=True, exclude={"meta"}) for prompt in listed]
    assert shown == [
        {
            "name": "review_notes",
            "title": "Review notes",
            "description": "Go through the notes and say what to do next.",
            "arguments": [
                {
                    "name": "words",
                    "description": "Only notes that contain this text; all of them if it is omitted.",
                    "required": False,
                },
                {"name": "tone", "description": "How to write, such as plain or cheerful.", "required": False},
            ],
        },
        {
            "name": "greet",
            "title": "Greet",
            "description": "Greet somebody.",
            "arguments": [
                {"name": "name", "description": "Whom.", "required": True},
                {"name": "greeting", "required": False},
            ],
        },
        {
            "name": "welcome",
            "title": "Welcome",
            "description": "Welcome somebody who is asked for their name.",
            "arguments": [],
        },
        {
            "name": "pick",
            "title": "Pick",
            "description": "Pick something.",
            "arguments": [
                {"name": "shop", "description": "Where.", "required": True},
                {"name": "flavour", "required": True},
                {"name": "size", "required": False},
                {"name": "count", "required": False},
            ],
        },
        {
            "name": "fall",
            "title": "Fall",
            "description": "Crash with a secret.",
            "arguments": [{"name": "password", "required": True}],
        },
    ]


async def test_a_prompt_gives_messages_of_every_kind(connect: Connect):
    async with connect() as client:
        given = await client.get_prompt("greet", {"name": "Ann"})
    assert given.description == "Greet somebody."
    assert [message.model_dump(exclude_none=True, by_alias=True) for message in given.messages] == [
        {"role": "user", "content": {"type": "text", "text": "Hello, Ann!"}},
        {"role": "assistant", "content": {"type": "text", "text": "Hello."}},
        {
            "role": "user",
            "content": {
                "type": "resource",
                "resource": {"uri": "odd://picture", "mimeType": "image/png", "blob": "iVBORw=="},
            },
        },
        {"role": "user", "content": {"type": "image", "data": "iQ==", "mimeType": "image/png"}},
    ]


async def completed(client: Client, ref: Any, name: str, typed: str, **others: str) -> tuple[list[str], int, bool]:
    found = (await client.complete(ref, {"name": name, "value": typed}, others or None)).completion
    return found.values, found.total or 0, bool(found.has_more)


@pytest.mark.requirement("PRO-2")
async def test_arguments_of_prompts_and_templates_are_completed(connect: Connect):
    prompt = PromptReference(type="ref/prompt", name="pick")
    async with connect() as client:
        assert await completed(client, prompt, "shop", "mark") == (["Market", "Quay market"], 2, False)
        assert await completed(client, prompt, "size", "l") == (["large", "small"], 2, False)
        assert await completed(client, prompt, "count", "") == ([], 0, False)
        before = await data_of(client, "count", key="flavours asked")
        values, total, has_more = await completed(client, prompt, "flavour", "Quay", shop="Quay")
        again = await completed(client, prompt, "flavour", "Quay", shop="Quay")
        assert (values[:2], len(values), total, has_more) == (["Quay 0", "Quay 1"], 100, 120, True)
        assert again == (values, total, has_more)
        # A client asks with every key: the values are kept for a moment.
        assert await data_of(client, "count", key="flavours asked") == before + 1
        result = await client.get_prompt("pick", {"shop": "Corner", "flavour": "nuts", "count": "3"})
    assert result.messages[0].content.text == "6 halves of small nuts at Corner"


@pytest.mark.requirement("PRO-2")
@over(transport=("http",))
async def test_who_lacks_the_permission_gets_no_completion(connect: Connect):
    template = ResourceTemplateReference(type="ref/resource", uri="secret://{number}")
    async with connect(user="ann") as client:
        assert await completed(client, template, "number", "") == (["1", "2"], 2, False)
    async with connect(user="reader") as client:
        _, words, _ = await refusal(client.complete(template, {"name": "number", "value": ""}))
    assert "it:read" in words


async def test_the_instruction_of_a_result_reaches_the_agent_as_a_message(connect: Connect):
    async with connect() as client:
        await data_of(client, "start_over")
        given = await client.get_prompt("review_notes", {"tone": "cheerful"})
    assert [message.content.text for message in given.messages] == [
        "Review these notes in a cheerful tone:\n- Welcome: Try list_notes.",
        "Validate what comes next with the user.",
    ]


async def test_what_a_prompt_lacks_is_named_and_nothing_runs(connect: Connect):
    name = uuid.uuid4().hex
    async with connect() as client:
        missing = await refusal(client.get_prompt("greet", {"greeting": "Hi"}))
        further = await refusal(client.get_prompt("greet", {"name": name, "nam": "Ann"}))
        happened = await data_of(client, "count", key=f"greeted {name}")
    data = {"errorType": "ValidationError"}
    assert missing == (-32602, "Invalid arguments for 'greet': name: is required, but missing.", data)
    words = "Invalid arguments for 'greet': nam: is not an argument here; it takes name, greeting (did you mean name?)."
    assert further == (-32602, words, data)
    assert happened == 0


async def test_a_known_failure_of_a_prompt_is_an_error_with_its_text(connect: Connect):
    async with connect() as client:
        refused = await refusal(client.get_prompt("review_notes", {"words": "xyzzy"}))
    words = "No note contains 'xyzzy'. Omit the words to review all notes."
    assert refused == (-32602, words, {"errorType": "NotFoundError"})


@over(host=("native", "sdk"))
async def test_an_unknown_prompt_is_answered_with_the_nearest(connect: Connect):
    async with connect() as client:
        refused = await refusal(client.get_prompt("great", {}))
    assert refused == (-32602, "Unknown prompt: 'great'. Did you mean 'greet'?", {"nearest": ["greet"]})


@over(host=("fastmcp",))
async def test_an_unknown_prompt_is_invalid_on_fastmcp_too(connect: Connect):
    async with connect() as client:
        refused = await refusal(client.get_prompt("great", {}))
    assert refused == (-32602, "Unknown prompt: 'great'", None)


@over(transport=("stdio", "http"))
async def test_a_crash_has_an_id_that_the_log_explains_and_shows_nothing(
    connect: Connect, server_log: Callable[[], str]
):
    secret = f"hunter-{uuid.uuid4().hex}"
    async with connect() as client:
        code, words, data = await refusal(client.get_prompt("fall", {"password": secret}))
        read = await refusal(client.read_resource("odd://crash"))
    error_id = data["errorId"]
    assert (code, data) == (-32603, {"errorType": "SystemError", "errorId": error_id})
    assert words == (
        f"'fall' failed because of an error in the server. Error id {error_id}: the server's log has the details."
    )
    assert read[0] == -32603
    assert read[2] == {"errorType": "SystemError", "errorId": read[2]["errorId"], "uri": "odd://crash"}
    assert "SELECT" not in words + read[1]
    log = server_log()
    assert re.search(rf'fall failed: SELECT \S+ FROM users.* errorId="{error_id}"', log)
    assert read[2]["errorId"] in log
    assert secret not in log


# ---- resources -------------------------------------------------------------------------------------------


@over(host=("native", "sdk"))
async def test_a_list_of_resources_is_paged(connect: Connect):
    async with connect() as client:
        first = await client.list_resources(cache_mode="bypass")
        shown = [str(resource.uri) for resource in first.resources]
        second = await client.list_resources(cursor=first.next_cursor, cache_mode="bypass")
        third = await client.list_resources(cursor=second.next_cursor, cache_mode="bypass")
    assert [uri for uri in shown if not uri.startswith("note://")] == ["page://0", "page://1"]
    assert [str(resource.uri) for resource in second.resources] == ["page://2", "page://3"]
    last = [str(resource.uri) for resource in third.resources]
    assert (last[:3], last[-1]) == (["page://4", "secret://1", "toolcharter://tools/add"], "odd://picture")
    assert third.next_cursor is None


async def test_all_pages_together_are_all_resources(connect: Connect):
    async with connect() as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        found = [uri for uri in await all_resources(client) if not uri.startswith("note://")]
    documents = [f"toolcharter://tools/{name}" for name in tools]
    assert sorted(found) == sorted([*documents, "odd://picture", *(f"page://{n}" for n in range(5)), "secret://1"])


@over(host=("native", "sdk"))
@pytest.mark.parametrize("cursor", ["x", "", "9.1", "1.x", "0.", "-1.0", "1.99999999999999999999", "²."])
async def test_a_cursor_that_is_not_valid_is_refused(connect: Connect, cursor: str):
    async with connect() as client:
        code, words, _ = await refusal(client.list_resources(cursor=cursor, cache_mode="bypass"))
    assert (code, "does not belong to this list. Begin without a cursor." in words) == (-32602, True)


async def test_a_resource_that_comes_and_goes_is_listed_and_read_as_it_is(connect: Connect):
    async with connect() as client:
        note = await data_of(client, "create_note", title="Errand", body="Buy milk.")
        uri = f"note://{note['id']}"
        assert uri in await all_resources(client)
        (content,) = (await client.read_resource(uri)).contents
        await data_of(client, "start_over")
        assert uri not in await all_resources(client)
        gone = await refusal(client.read_resource(uri, cache_mode="bypass"))
    assert (content.mime_type, content.text) == ("text/markdown", "# Errand\n\nBuy milk.\n")
    assert gone == (-32602, f"Unknown resource: {uri}", {"uri": uri})


async def test_bytes_are_read_as_bytes(connect: Connect):
    async with connect() as client:
        (content,) = (await client.read_resource("odd://picture")).contents
    assert (content.mime_type, base64.b64decode(content.blob)) == ("application/octet-stream", b"\x89PNG")


async def test_the_reader_of_a_resource_knows_the_caller(connect: Connect):
    async with connect() as client:
        (content,) = (await client.read_resource("odd://agent")).contents
    assert (content.mime_type, content.text) == ("text/plain", "behaviour-suite")


async def test_templates_say_which_addresses_there_may_be(connect: Connect):
    async with connect() as client:
        template, secret = (await client.list_resource_templates()).resource_templates
    assert template.model_dump(exclude_none=True, exclude={"meta"}) == {
        "name": "A note",
        "uri_template": "note://{note_id}",
        "description": "One note as Markdown.",
        "mime_type": "text/markdown",
    }
    assert secret.uri_template == "secret://{number}"


# ---- who may, and how long it may be kept ----------------------------------------------------------------


@over(transport=("memory", "http"))
async def test_who_lacks_the_permission_sees_neither_content_nor_names(connect: Connect):
    async with connect(user="reader") as client:
        listed = await all_resources(client)
        read = await refusal(client.read_resource("secret://1"))
        prompt = await refusal(client.get_prompt("fall", {"password": "x"}))
        note = (await client.read_resource("note://note_1")).contents
    async with connect(user="outsider") as client:
        unseen = await all_resources(client)
        note_refused = await refusal(client.read_resource("note://nothing"))
        review_refused = await refusal(client.get_prompt("review_notes", {}))
    assert "secret://1" not in listed
    assert "note://note_1" in listed
    assert len(note) == 1
    data = {"errorType": "PermissionError"}
    needs = "needs the permission it:read, which this caller does not have."
    assert read == (-32602, f"'secret://' {needs}", data | {"uri": "secret://1"})
    assert prompt == (-32602, f"'fall' {needs}", data)
    assert [uri for uri in unseen if uri.startswith(("note://", "secret://"))] == []
    needs = "needs the permission notes:read, which this caller does not have."
    assert note_refused == (-32602, f"'note://' {needs}", data | {"uri": "note://nothing"})
    assert review_refused == (-32602, f"'review_notes' {needs}", data)


@over(host=("native", "sdk"), era=(NEW,))
async def test_what_changes_is_not_kept_and_what_does_not_is(connect: Connect):
    async with connect() as client:
        kept = [
            (result.ttl_ms, result.cache_scope)
            for result in (
                await client.list_prompts(cache_mode="bypass"),
                await client.list_resource_templates(cache_mode="bypass"),
                await client.read_resource("toolcharter://tools/add", cache_mode="bypass"),
                await client.list_resources(cache_mode="bypass"),
                await client.read_resource("odd://picture", cache_mode="bypass"),
            )
        ]
    assert kept == [(300_000, "public")] * 2 + [(300_000, "private")] + [(0, "private")] * 2


@over(era=(OLD,))
async def test_prompts_and_resources_are_announced(connect: Connect):
    async with connect() as client:
        capabilities = client.server_capabilities
    assert capabilities.prompts is not None
    assert capabilities.resources is not None
