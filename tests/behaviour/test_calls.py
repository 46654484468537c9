"""What a call gets back: data, or an error that says of what kind it is and gives nothing away."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest
from mcp.shared.exceptions import MCPError
from toolcharter_examples import demo

from mcp_core import Example
from mcp_core.calling.stages.idempotency import KEY, REPEATED
from mcp_core.declare.spec import declaration_of
from tests.behaviour.combinations import Combination, Connect, Person, answer_of, data_of, error_of, over
from tests.behaviour.served import LIMIT

pytestmark = pytest.mark.asyncio(loop_scope="session")

EXAMPLES = [
    pytest.param(function.__name__, example, id=f"{function.__name__}-{number}")
    for function in demo.TOOLS
    for number, example in enumerate(declaration_of(function).examples)
]


@pytest.mark.requirement("DOC-5")
@pytest.mark.parametrize(("name", "example"), EXAMPLES)
async def test_an_example_gives_what_it_says(connect: Connect, name: str, example: Example):
    async with connect(can_ask=False) as client:
        await data_of(client, "start_over")
        assert await data_of(client, name, **example.params) == example.expected_result


async def test_an_answer_is_one_block_of_text_and_no_structured_copy(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("add", {"a": 1, "b": 1})
    assert result.structured_content is None
    assert set(answer_of(result)) == {"data", "agentHints", "metadata"}


async def test_the_answer_of_another_server_is_passed_on_as_it_is(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("pass_on", {})
        failed = await client.call_tool("pass_on", {"error": "no"})
    blocks = [block.model_dump(exclude_none=True, by_alias=True) for block in result.content]
    assert blocks == [{"type": "text", "text": "first"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]
    assert (result.structured_content, result.is_error) == ({"total": 1}, False)
    assert (failed.content, failed.is_error) == (result.content, True)


@pytest.mark.requirement("PRO-1")
async def test_an_answer_can_be_images_sounds_files_and_links(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("show", {})
    words, *blocks = [block.model_dump(exclude_none=True, by_alias=True) for block in result.content]
    assert json.loads(words["text"])["data"].splitlines() == [
        "image/jpeg, 3 bytes",
        "A text",
        "audio/ogg, 4 bytes",
        "odd://notes.md: text/markdown, 7 characters",
        "A picture: odd://picture",
    ]
    assert blocks == [
        {"type": "image", "data": "/9j/", "mimeType": "image/jpeg"},
        {"type": "text", "text": "A text"},
        {
            "type": "audio",
            "data": "T2dnUw==",
            "mimeType": "audio/ogg",
            "annotations": {"audience": ["user"], "priority": 1.0},
        },
        {"type": "resource", "resource": {"uri": "odd://notes.md", "mimeType": "text/markdown", "text": "# Notes"}},
        {"type": "resource_link", "uri": "odd://picture", "name": "A picture", "mimeType": "image/png"},
    ]


async def test_images_follow_the_text_of_an_answer(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("draw", {})
    text, *images = [block.model_dump(exclude_none=True, by_alias=True) for block in result.content]
    assert json.loads(text["text"])["data"] == {"name": "dot"}
    assert images == [
        {"type": "image", "data": "AAE=", "mimeType": "image/png"},
        {"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"},
    ]


WRONG: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "wrong type": ("add", {"a": "two", "b": 3}, "a: input should be a valid integer"),
    "missing": ("add", {"a": 2}, "b: is required, but missing"),
    "extra": ("add", {"a": 2, "b": 3, "c": 4}, "c: is not an argument here; it takes a, b"),
    "out of range": ("list_notes", {"limit": 0}, "limit: input should be greater than or equal to 1"),
    "wrong id": ("get_note", {"note_id": "card_1"}, "note_id: "),
    "wrong literal": ("delete_note", {"note_id": "note_1", "explicit_action": "YES"}, "explicit_action: "),
    "no literal": (
        "delete_note",
        {"note_id": "note_1"},
        "explicit_action: the user must ask for exactly this action",
    ),
}


@pytest.mark.requirement("VAL-1", "ERR-1")
@pytest.mark.parametrize("case", WRONG)
async def test_wrong_arguments_are_an_error_that_names_them(connect: Connect, case: str):
    name, arguments, said = WRONG[case]
    async with connect() as client:
        error = await error_of(client, name, **arguments)
    assert (error["type"], error["kind"]) == ("ValidationError", "validation")
    assert said in error["message"]


@pytest.mark.requirement("VAL-1")
async def test_a_wrong_literal_deletes_nothing_and_asks_no_question(connect: Connect):
    person = Person()
    async with connect(person=person) as client:
        note = await data_of(client, "create_note", title="Keep me")
        await error_of(client, "delete_note", note_id=note["id"], explicit_action="DELETE")
        assert await data_of(client, "get_note", note_id=note["id"]) == note
    assert person.questions == []


@over(host=("native", "sdk"))
@pytest.mark.requirement("ERR-1")
async def test_an_unknown_tool_is_a_protocol_error_that_names_the_nearest(connect: Connect):
    async with connect() as client:
        with pytest.raises(MCPError, match=r"^Unknown tool: 'get_notes'\. Did you mean 'get_note'") as raised:
            await client.call_tool("get_notes", {})
        assert await data_of(client, "add", a=1, b=1) == 2
    assert raised.value.error.code == -32602
    assert raised.value.error.data["nearest"][0] == "get_note"


# FastMCP looks tools up before any of ours runs, and answers with a result of its own.
@over(host=("fastmcp",))
async def test_an_unknown_tool_is_an_error_result_of_fastmcp(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("add_note", {})
        assert await data_of(client, "add", a=1, b=1) == 2
    assert result.is_error
    assert "Unknown tool: 'add_note'" in result.content[0].text


@pytest.mark.requirement("ERR-1")
async def test_a_business_error_has_its_type(connect: Connect):
    async with connect() as client:
        error = await error_of(client, "get_note", note_id="note_999")
    assert error == {
        "type": "NotFoundError",
        "kind": "business",
        "message": "No note 'note_999' exists. Call list_notes to see the ids.",
    }


@pytest.mark.requirement("ERR-1", "ERR-2")
async def test_a_crash_is_a_system_error_with_an_id_and_without_its_text(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("crash", {"key": "crash"})
        assert await data_of(client, "count", key="crash") >= 1
    assert result.is_error
    error = answer_of(result)["error"]
    assert (error["type"], error["kind"]) == ("SystemError", "system")
    assert error["errorId"] in error["message"]
    text = result.content[0].text
    assert not [word for word in ("SELECT", "shadow", "RuntimeError", "Traceback", "served.py") if word in text]


@over(transport=("stdio", "http"))
@pytest.mark.requirement("ERR-2")
async def test_the_log_explains_the_id_of_an_error(connect: Connect, server_log):
    async with connect() as client:
        error = await error_of(client, "crash", key="explained")
    log = server_log()
    (line,) = [line for line in log.splitlines() if error["errorId"] in line]
    assert "Tool crash failed: SELECT" in line
    assert "| RuntimeError: SELECT" in log


@pytest.mark.requirement("DEF-5")
async def test_a_handler_past_its_deadline_is_stopped(connect: Connect):
    async with connect() as client:
        error = await error_of(client, "hang", key="late")
        assert await data_of(client, "count", key="late stopped") == await data_of(client, "count", key="late started")
    assert error == {
        "type": "DeadlineError",
        "kind": "system",
        "message": "'hang' took longer than 0.2 seconds and was stopped.",
    }


@pytest.mark.requirement("ERR-1")
@pytest.mark.parametrize("name", ["give_none", "give_set", "give_wrong_type"])
async def test_a_result_that_breaks_the_contract_does_not_leave_the_server(connect: Connect, name: str):
    async with connect() as client:
        error = await error_of(client, name)
    assert (error["type"], error["kind"]) == ("ResultError", "system")
    assert error["message"].startswith(f"{name!r} returned an answer that breaks its own contract.")


@pytest.mark.requirement("VAL-1", "VAL-2")
async def test_a_caller_without_the_permission_is_refused(connect: Connect):
    async with connect(user="reader") as client:
        assert await data_of(client, "add", a=20, b=22) == 42
        before = await data_of(client, "list_notes")
        error = await error_of(client, "create_note", title="Not mine to write")
        assert await data_of(client, "list_notes") == before
    assert error == {
        "type": "PermissionError",
        "kind": "business",
        "message": "'create_note' needs the permission notes:write, which this caller does not have.",
    }


@over(transport=("http",))
@pytest.mark.requirement("VAL-2")
async def test_a_cached_answer_is_not_given_to_a_caller_without_permission(connect: Connect):
    async with connect(user="ann") as client:
        await data_of(client, "get_note", note_id="note_1")
        assert answer_of(await client.call_tool("get_note", {"note_id": "note_1"}))["metadata"]["cached"] is True
    async with connect(user="outsider") as client:
        result = await client.call_tool("get_note", {"note_id": "note_1"})
    assert answer_of(result)["error"]["type"] == "PermissionError"
    assert "Try list_notes." not in result.content[0].text


async def test_the_second_answer_comes_from_the_cache(connect: Connect):
    async with connect() as client:
        answers = [answer_of(await client.call_tool("add", {"a": 70, "b": 7})) for _ in range(2)]
    assert [answer["data"] for answer in answers] == [77, 77]
    assert [answer["metadata"]["cached"] for answer in answers] == [False, True]


@over(transport=("http",))
@pytest.mark.requirement("VAL-2")
async def test_a_cached_answer_belongs_to_its_caller(connect: Connect):
    cached = []
    for user in ("ann", "ann", "bob"):
        async with connect(user=user) as client:
            cached.append(answer_of(await client.call_tool("add", {"a": 80, "b": 8}))["metadata"]["cached"])
    assert cached == [False, True, False]


async def test_a_mutation_makes_the_cache_forget(connect: Connect):
    async with connect() as client:
        await data_of(client, "list_notes", words="forgetful")
        note = await data_of(client, "create_note", title="Forgetful")
        found = await data_of(client, "list_notes", words="forgetful")
    assert {"id": note["id"], "title": "Forgetful"} in found


@pytest.mark.requirement("VAL-3")
async def test_a_caller_cannot_call_more_often_than_the_limit(connect: Connect):
    async with connect(user=None) as client:
        assert [await data_of(client, "limited") for _ in range(LIMIT)] == ["ok"] * LIMIT
        error = await error_of(client, "limited")
        assert await data_of(client, "add", a=1, b=1) == 2
    assert (error["type"], error["kind"]) == ("RateLimitError", "business")
    assert "3 calls in 3600 seconds" in error["message"]


@over(transport=("http",))
@pytest.mark.requirement("VAL-3")
async def test_the_limit_of_one_caller_is_not_another_s(connect: Connect):
    async with connect(user="ann") as client:
        for _ in range(LIMIT):
            await data_of(client, "limited")
        await error_of(client, "limited")
    async with connect(user="bob") as client:
        assert await data_of(client, "limited") == "ok"


async def test_progress_arrives_while_the_call_runs(connect: Connect):
    reports: list[tuple[float, float | None, str | None]] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reports.append((done, total, message))

    async with connect() as client:
        await data_of(client, "start_over")
        await data_of(client, "create_note", title="Second")
        result = await client.call_tool("digest_notes", {}, progress_callback=report)
        assert not result.is_error
    assert reports == [(1, 2, "Welcome"), (2, 2, "Second")]


async def test_a_cancelled_call_cancels_its_handler(connect: Connect):
    async with connect() as client:
        call = asyncio.create_task(client.call_tool("wait_long", {"key": "long"}))
        async with asyncio.timeout(60):
            while not await data_of(client, "count", key="long started"):
                assert not call.done()
            assert await data_of(client, "count", key="long stopped") == 0
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            while not await data_of(client, "count", key="long stopped"):
                pass  # the question itself takes its time


async def test_fifty_calls_at_once_answer_each_for_itself(connect: Connect):
    async with connect() as client:
        calls = [client.call_tool("add", {"a": number, "b": 1000}) for number in range(50)]
        answers = [answer_of(result) for result in await asyncio.gather(*calls)]
    assert [answer["data"] for answer in answers] == [1000 + number for number in range(50)]
    assert len({answer["metadata"]["correlationId"] for answer in answers}) == 50


# ---- context -----------------------------------------------------------------------------------------

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.mark.requirement("CTX-2")
async def test_trace_and_correlation_come_from_the_request(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("who", {}, meta={"traceparent": TRACEPARENT, "correlationId": "order-7"})
    answer = answer_of(result)
    assert (answer["data"]["traceId"], answer["data"]["correlationId"]) == (TRACE, "order-7")
    assert (answer["metadata"]["traceId"], answer["metadata"]["correlationId"]) == (TRACE, "order-7")


@over(transport=("http",))
@pytest.mark.requirement("CTX-2")
async def test_trace_and_correlation_come_from_http_headers_where_the_request_has_none(connect: Connect):
    async with connect(headers={"traceparent": TRACEPARENT, "x-correlation-id": "order-8"}) as client:
        context = await data_of(client, "who")
        result = answer_of(await client.call_tool("who", {}, meta={"correlationId": "order-9"}))["data"]
    assert (context["traceId"], context["correlationId"]) == (TRACE, "order-8")
    assert (result["traceId"], result["correlationId"]) == (TRACE, "order-9")


@pytest.mark.requirement("CTX-2")
async def test_ids_are_made_where_the_request_has_none(connect: Connect):
    async with connect() as client:
        first, second = await data_of(client, "who"), await data_of(client, "who")
    ids = {first["traceId"], first["correlationId"], second["traceId"], second["correlationId"]}
    assert len(ids) == 4
    assert all(len(made) == 32 and int(made, 16) for made in ids)


@pytest.mark.requirement("CTX-2")
async def test_the_agent_is_the_client(connect: Connect):
    async with connect() as client:
        context = await data_of(client, "who")
    assert (context["agentId"], context["agentVersion"]) == ("behaviour-suite", "9.8.7")
    assert context["userId"] is None


async def test_the_user_is_the_caller(connect: Connect):
    async with connect(user="reader") as client:
        assert (await data_of(client, "who"))["userId"] == "reader"


@over(transport=("http",))
async def test_a_session_has_its_id_where_the_protocol_has_sessions(connect: Connect, combination: Combination):
    async with connect() as client:
        first, second = await data_of(client, "who"), await data_of(client, "who")
    assert first["sessionId"] == second["sessionId"]
    assert bool(first["sessionId"]) is (combination.mode == "legacy")


# ---- secrets -----------------------------------------------------------------------------------------


@over(transport=("stdio", "http"))
@pytest.mark.requirement("ERR-2")
async def test_no_log_and_no_error_shows_a_secret(connect: Connect, server_log):
    secrets = {"password": "correct-horse-battery", "badge": "b4dge-of-honour"}
    async with connect() as client:
        assert await data_of(client, "log_in", **secrets) == "welcome"
        crashed = await client.call_tool("log_in", {**secrets, "crashes": True})
        wrong = await client.call_tool("log_in", {**secrets, "crashes": "no"})
        long = await client.call_tool("log_in", {**secrets, "password": "correct-horse-battery" * 9})
    assert [result.is_error for result in (crashed, wrong, long)] == [True, True, True]
    log = server_log()
    assert "trying [redacted] with [redacted]" in log
    assert "Tool log_in failed: [redacted] and [redacted] do not match" in log
    for text in (log, *(result.content[0].text for result in (crashed, wrong, long))):
        assert not [secret for secret in secrets.values() if secret in text]


@pytest.mark.requirement("OPS-4")
async def test_an_idempotency_key_gives_the_first_answer_again(connect: Connect):
    key = f"key-{uuid4()}"
    async with connect() as client:
        first, again = [await client.call_tool("create_note", {"title": key}, meta={KEY: key}) for _ in "12"]
        refused = await client.call_tool("create_note", {"title": "Another"}, meta={KEY: key})
    assert answer_of(first)["data"] == answer_of(again)["data"]
    assert [(result.meta or {}).get(REPEATED) for result in (first, again)] == [None, True]
    assert answer_of(refused)["error"]["type"] == "IdempotencyError"
