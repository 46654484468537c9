import asyncio
import hashlib
import json
import logging
import os
import stat
import time
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from pydantic import Field, SecretStr

from mcp_core import (
    Answer,
    App,
    Caller,
    Confirm,
    NotFound,
    Question,
    Request,
    Result,
    Settings,
    ToolContext,
    Unavailable,
    UnknownTool,
    get_logger,
)
from mcp_core.calling.stages.record import StackLimit
from mcp_core.logs.telemetry import prometheus
from tests.mcp_core.audited import audited
from tests.mcp_core.declared import Number, Text, mutation, query

TRACE_ID, PARENT = "0af7651916cd43dd8448eb211c80319c", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.requirement("LOG-2", "LOG-3", "LOG-5")
async def test_a_call_of_an_async_tool_leaves_two_lines_with_parameters_summary_and_ids(log):
    @query({"n": 1})
    async def double(n: Number) -> int:
        get_logger("mine").info("working")
        return 2 * n

    async with App("test", version="1.0.0", format="result", tools=[double]) as app:
        await app.answer(Request("double", {"n": 4}, meta={"traceparent": PARENT, "correlationId": "c-1"}))
    called, working, completed = log.entries
    assert [called["level"], called["message"]] == ["TRACE", "Tool called: double"]
    assert called["fields"] == {"arguments": {"n": 4}}
    assert working["message"] == "working"
    assert [completed["level"], completed["message"]] == ["TRACE", "Tool double completed successfully"]
    summary = completed["fields"]["summary"]
    assert summary == {
        "outcome": "ok",
        "ms": summary["ms"],
        "chars": len('{"success":true,"value":8}'),
        "cached": False,
    }
    assert summary["ms"] > 0
    assert [(entry["traceId"], entry["correlationId"]) for entry in log.entries] == [(TRACE_ID, "c-1")] * 3
    assert all(f"trace={TRACE_ID} correlation=c-1" in text for text in log.texts)


@pytest.mark.requirement("LOG-2", "LOG-3")
async def test_a_tool_that_is_not_async_says_at_debug_that_it_completed(log):
    @query()
    def one() -> int:
        get_logger("mine").info("in a thread")
        return 1

    async with App("test", version="1.0.0", format="result", tools=[one]) as app:
        await app.answer(Request("one", {}, meta={"correlationId": "c-1"}))
    assert log.messages == [
        ("TRACE", "Tool called: one"),
        ("INFO", "in a thread"),
        ("DEBUG", "Tool one completed successfully"),
    ]
    assert {entry["correlationId"] for entry in log.entries} == {"c-1"}


@pytest.mark.requirement("LOG-5")
async def test_a_server_with_hints_logs_the_start_and_the_end_of_a_call_at_debug(log):
    @query()
    async def one() -> int:
        return 1

    async with App("test", version="1.0.0", tools=[one], format="hints") as app:
        await app.answer(Request("one", {}))
    assert log.messages == [("DEBUG", "Tool called: one"), ("DEBUG", "Tool one completed successfully")]


@pytest.mark.requirement("LOG-5")
async def test_an_expected_failure_has_its_stack_in_the_log_at_debug_only(log):
    @query()
    async def find() -> int:
        raise NotFound("No note 9 exists.")

    async with App("test", version="1.0.0", format="result", tools=[find]) as app:
        await app.answer(Request("find", {}))
        logging.getLogger().setLevel(logging.INFO)
        await app.answer(Request("find", {}))
    _, at_debug, at_info = log.entries
    assert at_debug["message"] == at_info["message"] == "Tool find failed: No note 9 exists."
    assert Path(__file__).name in at_debug["stack"]
    assert "stack" not in at_info


@pytest.mark.requirement("LOG-4", "LOG-5")
async def test_an_exception_is_logged_with_its_stack_and_the_answer_has_none_of_it(log):
    @query()
    async def fail() -> int:
        raise ZeroDivisionError("the divisor is 0")

    async with App("test", version="1.0.0", format="result", tools=[fail]) as app:
        answer = await app.answer(Request("fail", {}, meta={"traceparent": PARENT, "correlationId": "c-1"}))
    called, failed = log.entries
    assert called["message"] == "Tool called: fail"
    assert [failed["level"], failed["message"]] == ["ERROR", "Tool fail failed: the divisor is 0"]
    assert "Traceback" in failed["stack"]
    assert Path(__file__).name in failed["stack"]
    assert (failed["traceId"], failed["correlationId"]) == (TRACE_ID, "c-1")
    assert failed["fields"]["errorId"] in answer.text
    assert not [word for word in ("Traceback", "divisor", "ZeroDivision", ".py", "mcp_core") if word in answer.text]


async def test_a_handler_that_fails_is_an_error_a_mistake_an_info_line_and_a_refused_permission_a_warning(log):
    @query({"n": 1}, permissions=["numbers:read"])
    async def find(n: Number) -> int:
        raise NotFound(f"There is no {n}.")

    async with App("test", version="1.0.0", format="result", tools=[find]) as app:
        await app.call("find", {"n": 3})
        await app.call("find", {})
        await app.call("find", {"n": 3}, Caller("user:ann"))
    ends = [
        (entry["level"], entry["message"], "stack" in entry)
        for entry in log.entries
        if "called" not in entry["message"]
    ]
    assert ends == [
        ("ERROR", "Tool find failed: There is no 3.", True),
        ("INFO", "Tool find refused: Invalid arguments for 'find': n: is required, but missing.", False),
        (
            "WARNING",
            "Tool find refused: 'find' needs the permission numbers:read, which this caller does not have.",
            False,
        ),
    ]


@pytest.mark.parametrize(("log_calls", "levels"), [(False, ["TRACE", "TRACE"]), (True, ["TRACE", "INFO"])])
async def test_a_successful_call_is_one_info_line_where_a_setting_asks_for_it(log, log_calls: bool, levels: list[str]):
    @query({"n": 1})
    async def find(n: Number) -> int:
        return n

    async with App("test", version="1.0.0", tools=[find], settings=Settings(log_calls=log_calls)) as app:
        await app.call("find", {"n": 3})
    ends = [(entry["level"], entry["message"]) for entry in log.entries if "find" in entry["message"]]
    assert ends == list(zip(levels, ["Tool called: find", "Tool find completed successfully"], strict=True))


async def test_an_error_that_explains_itself_is_logged_without_a_stack(log):
    @query()
    async def fetch() -> int:
        raise Unavailable("The folder 'x' does not exist.")

    @query()
    async def read() -> int:
        try:
            raise OSError("disk full")
        except OSError as error:
            raise Unavailable("It cannot be read.") from error

    async with App("test", version="1.0.0", format="result", tools=[fetch, read]) as app:
        await app.call("fetch")
        await app.call("read")
    ends = [(entry["level"], entry["message"], entry.get("stack", "")) for entry in log.entries[1::2]]
    assert ends[0] == ("WARNING", "Tool fetch failed: The folder 'x' does not exist.", "")
    assert (ends[1][:2], "disk full" in ends[1][2]) == (
        ("ERROR", "Tool read failed: It cannot be read. (OSError: disk full)"),
        True,
    )


async def test_a_dependency_that_fails_is_one_line_a_call_with_its_stack_once_a_minute(log):
    @query()
    async def read() -> int:
        try:
            raise OSError("connection refused")
        except OSError as error:
            raise Unavailable("The database cannot be reached.") from error

    logging.getLogger().setLevel(logging.INFO)
    async with App("test", version="1.0.0", format="result", tools=[read]) as app:
        for _ in range(5):
            await app.call("read")
    line = "Tool read failed: The database cannot be reached. (OSError: connection refused)"
    assert log.messages == [("ERROR", line)] * 5
    assert ["stack" in entry for entry in log.entries] == [True, False, False, False, False]


def test_stacks_that_differ_are_logged_each_and_again_after_a_minute():
    def failure(cause: Exception) -> Exception:
        try:
            try:
                raise cause
            except OSError as error:
                raise Unavailable("Away.") from error
        except Unavailable as error:
            return error

    now = [1000.0]
    stacks = StackLimit(lambda: now[0])
    assert [stacks.allows(failure(OSError())), stacks.allows(failure(TimeoutError()))] == [True, True]
    assert not stacks.allows(failure(OSError("another text, raised at the same place")))
    now[0] += 61
    assert stacks.allows(failure(OSError()))


async def test_a_deadline_is_one_line_without_the_stack_of_the_cancellation(log):
    @query(response_time=0.01)
    async def hang() -> int:
        await asyncio.sleep(600)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[hang]) as app:
        await app.call("hang")
    assert log.messages[-1] == ("ERROR", "Tool hang failed: 'hang' took longer than 0.01 seconds and was stopped.")
    assert "stack" not in log.entries[-1]


@pytest.mark.requirement("LOG-4", "LOG-6")
async def test_a_call_to_an_unknown_tool_leaves_one_audit_entry_and_one_line_without_its_arguments(log, tmp_path):
    """Which of the arguments are secret is declared by a tool, and here there is none."""

    @query({"n": 1})
    async def double(n: Number) -> int:
        return 2 * n

    audit = tmp_path / "audit.jsonl"
    caller, meta = Caller("user:ann"), {"traceparent": PARENT, "correlationId": "c-1"}
    settings = Settings(audit=audit, audit_arguments=True)
    async with App("test", version="1.0.0", format="result", tools=[double], settings=settings) as app:
        for name in ("dubble", "x" * 1000, "a\x85b\u2028c\u2029d"):
            with pytest.raises(UnknownTool):
                await app.answer(Request(name, {"pin": "1234"}, caller, "raw", "9.8", meta=meta))
        metrics = prometheus([app.telemetry])
    first, second, third = audited(audit)
    assert first == {
        "time": first["time"],
        "method": "tools/call",
        "tool": "dubble",
        "version": None,
        "caller": "user:ann",
        "agent": "raw 9.8",
        "outcome": "validation",
        "ms": first["ms"],
        "cached": False,
        "tokens": 0,
        "traceId": TRACE_ID,
        "correlationId": "c-1",
        "argumentsDigest": None,
        "arguments": None,
        "error": "Unknown tool: 'dubble'. Did you mean 'double'?",
        "errorType": "UnknownTool",
        "errorId": None,
    }
    assert (second["tool"], third["tool"]) == ("x" * 128, "a\x85b\u2028c\u2029d")
    assert next(message for level, message in log.messages if level == "INFO") == (
        "Tool (unknown) refused: Unknown tool: 'dubble'. Did you mean 'double'?"
    )
    assert not [line for line in log.lines if "1234" in line]
    assert 'toolcharter_tool_calls_total{server="test",tool="(unknown)",outcome="validation"} 3' in metrics
    assert "dubble" not in metrics


@pytest.mark.requirement("LOG-5")
async def test_calls_at_the_same_time_keep_their_ids_apart(log):
    gate = asyncio.Barrier(20)

    @query({"n": 1})
    async def meet(n: Number) -> int:
        get_logger("mine").info("before %d", n)
        await gate.wait()
        get_logger("mine").info("after %d", n)
        return n

    async with App("test", version="1.0.0", format="result", tools=[meet]) as app:
        requests = [Request("meet", {"n": n}, meta={"correlationId": f"c-{n}"}) for n in range(20)]
        await asyncio.gather(*map(app.answer, requests))
    for n in range(20):
        own = [entry["message"] for entry in log.entries if entry["correlationId"] == f"c-{n}"]
        words = ["Tool called: meet", f"before {n}", f"after {n}", "Tool meet completed successfully"]
        assert own == words


async def test_after_a_call_no_line_carries_its_ids(log):
    @query()
    async def one() -> int:
        return 1

    async with App("test", version="1.0.0", format="result", tools=[one]) as app:
        await app.call("one")
        get_logger("mine").info("between calls")
    assert "correlationId" not in log.entries[-1]


@pytest.mark.requirement("LOG-6")
async def test_no_secret_reaches_a_log_an_audit_entry_a_metric_or_an_error(tmp_path: Path, log):
    @mutation({"password": "x", "pin": 1, "badge": "x", "keys": {}, "key": "x", "mode": "raise"})
    async def connect(  # noqa: PLR0917 - called by name
        password: Text,
        pin: Annotated[int, Field(description="A number.", json_schema_extra={"secret": True})],
        badge: Annotated[str, Field(description="A badge.", json_schema_extra={"secret": True})],
        keys: Annotated[dict[str, list[str]], Field(description="Keys.", json_schema_extra={"secret": True})],
        key: Annotated[SecretStr, Field(description="A key.")],
        mode: Text,
    ) -> Result[str]:
        everything = f"{password} {pin} {badge} {keys} {key.get_secret_value()} postgres://ann:hunter7@db token=hunter8"
        get_logger("mine").info("connecting with %s", everything, extra={"n": pin, "own": [everything], "o": {badge}})
        if mode == "raise":
            raise OSError(everything)
        if mode == "refuse":
            raise NotFound(everything, message=everything, instruction=everything)
        return Result.failure(everything, "ConflictError", message=everything, instruction=everything)

    arguments = {
        "password": 'hun"ter\\1',
        "pin": 471147,
        "badge": "hunter3",
        "keys": {"one": ["hunter4", "hunter5"]},
        "key": "hunter6",
    }
    secrets = ['hun"ter', "hun\\", "ter\\1", "471147", *(f"hunter{n}" for n in range(3, 9))]
    audit = tmp_path / "audit.jsonl"
    settings = Settings(audit=audit, audit_arguments=True)
    app = App("test", version="1.0.0", tools=[connect], format="hints", settings=settings)
    async with app:
        for mode in ("raise", "refuse", "return", None):
            answer = await app.call("connect", arguments | {"mode": mode})
            assert answer.is_error
            assert not [secret for secret in secrets if secret in answer.text], mode
    for text in (*log.lines, *log.texts, audit.read_text(), prometheus([app.telemetry])):
        assert not [secret for secret in secrets if secret in text], text
    assert any("connecting with" in text for text in log.texts)
    assert [record["arguments"]["pin"] for record in audited(audit)] == ["[redacted]"] * 4


async def test_every_call_leaves_one_audit_entry_in_a_file_only_its_owner_can_read(tmp_path: Path):
    @query({"n": 1}, cache_ttl=60, version="1.2.0")
    async def find(n: Number) -> int:
        if n == 0:
            raise NotFound("There is no 0.")
        return n

    audit = tmp_path / "deep" / "audit.jsonl"
    request = Request("find", {"n": 1}, Caller("user:ann"), "claude", "4.1", meta={"correlationId": "c-1"})
    async with App("test", version="1.0.0", format="result", tools=[find], settings=Settings(audit=audit)) as app:
        await app.answer(request)
        await app.answer(request)
        await app.call("find", {"n": 0})
    first, second, third = audited(audit)
    assert first == {
        "time": first["time"],
        "method": "tools/call",
        "tool": "find",
        "version": "1.2.0",
        "caller": "user:ann",
        "agent": "claude 4.1",
        "outcome": "ok",
        "ms": first["ms"],
        "cached": False,
        "tokens": 7,
        "traceId": first["traceId"],
        "correlationId": "c-1",
        "argumentsDigest": hashlib.sha256(b'{"n":1}').hexdigest(),
    }
    assert second["cached"] is True
    assert third["outcome"] == "business"
    assert [third["error"], third["errorType"], third["errorId"]] == ["There is no 0.", "NotFoundError", None]
    assert stat.S_IMODE(audit.stat().st_mode) == 0o600


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"n": "\ud800"}, "not valid JSON"),
        ({"\ud800": 1}, "not valid JSON"),
        ({"n": nested(500)}, "too large to be recorded"),
        ({"n": nested(100_000)}, "too large to be recorded"),
        ({"n": float("nan")}, {"n": None}),
    ],
    ids=["half a character", "half a character in a name", "deep", "very deep", "NaN"],
)
async def test_what_has_no_json_form_is_audited_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, arguments: Any, shown: Any
):
    @query({"n": 1})
    async def one(n: Number) -> int:
        return n

    audit = tmp_path / "audit.jsonl"
    caplog.set_level("TRACE")
    settings = Settings(audit=audit, audit_arguments=True)
    async with App("test", version="1.0.0", format="result", tools=[one], settings=settings) as app:
        assert (await app.answer(Request("one", arguments, agent_id="\ud800"))).is_error
    (entry,) = audited(audit)
    assert entry["outcome"] == "validation"
    assert entry["arguments"] in (shown, "not valid JSON")


async def test_an_audit_file_that_cannot_be_written_is_logged_and_the_call_is_answered(tmp_path: Path, log):
    @query()
    async def one() -> int:
        return 1

    async with App("test", version="1.0.0", format="result", tools=[one], settings=Settings(audit="/dev/full")) as app:
        answer = await app.call("one")
    assert json.loads(answer.text) == {"success": True, "value": 1}
    assert any(
        "Audit records cannot be written to /dev/full, and calls go on: " in text
        for level, text in log.messages
        if level == "ERROR"
    )


@pytest.mark.parametrize("by", ["asyncio", "anyio"])
async def test_a_cancelled_call_is_recorded_exactly_once(tmp_path: Path, by: str, log):
    begun = asyncio.Event()

    @query()
    async def hang() -> int:
        begun.set()
        await asyncio.sleep(600)
        return 1

    audit = tmp_path / "audit.jsonl"
    async with App("test", version="1.0.0", format="result", tools=[hang], settings=Settings(audit=audit)) as app:
        if by == "asyncio":
            call = asyncio.create_task(app.call("hang"))
            await begun.wait()
            call.cancel()
            await asyncio.wait([call])
        else:
            async with anyio.create_task_group() as group:
                group.start_soon(app.call, "hang")
                await begun.wait()
                group.cancel_scope.cancel()
        assert app.telemetry.tallies["hang"].outcomes == {"cancelled": 1}
        assert app.telemetry.tallies["hang"].errors == 0
    assert [record["outcome"] for record in audited(audit)] == ["cancelled"]
    assert log.messages[:-1] == [("TRACE", "Tool called: hang"), ("TRACE", "Tool hang ended: cancelled")]


async def test_a_call_cancelled_while_it_waits_at_a_gate_is_recorded_once():
    asked = asyncio.Event()

    async def ask(question: str) -> bool:
        asked.set()
        await asyncio.sleep(600)
        return True

    @mutation(confirm=Confirm(required=True))
    async def delete(context: ToolContext) -> int:
        return 1

    async with App("test", version="1.0.0", format="result", tools=[delete]) as app:
        call = asyncio.create_task(app.answer(Request("delete", {}, ask=ask)))
        await asked.wait()
        call.cancel()
        await asyncio.wait([call])
        assert app.telemetry.tallies["delete"].outcomes == {"cancelled": 1}


async def test_entries_of_several_writers_do_not_mix(tmp_path: Path):
    @query({"text": "x"})
    async def echo(text: Text) -> int:
        return len(text)

    settings = Settings(audit=tmp_path / "audit.jsonl", audit_arguments=True)
    one = App("test", version="1.0.0", format="result", tools=[echo], settings=settings)
    two = App("test", version="1.0.0", format="result", tools=[echo], settings=settings)
    async with one, two:
        await asyncio.gather(*(app.call("echo", {"text": "x" * 5000}) for app in (one, two) for _ in range(20)))
    assert [len(record["arguments"]["text"]) for record in audited(tmp_path / "audit.jsonl")] == [5000] * 40
    assert os.listdir(tmp_path) == ["audit.jsonl"]  # noqa: PTH208 - the names are what is looked at


async def test_a_refused_call_costs_no_more_than_to_read_it(tmp_path: Path):
    @query({"names": ["a"]})
    async def greet(names: Annotated[list[str], Field(description="Who.", max_length=100)]) -> int:
        return len(names)

    audit, sent = tmp_path / "audit.jsonl", json.dumps({"names": [""] * 400_000})
    settings = Settings(audit=audit, audit_arguments=True)
    async with App("test", version="1.0.0", format="result", tools=[greet], settings=settings) as app:
        began = time.process_time()
        for _ in range(4):
            json.loads(sent)
        reading = time.process_time() - began
        began = time.process_time()
        answer = await app.answer(Request("greet", json.loads(sent)))
        assert time.process_time() - began < max(reading, 1.0)  # each redaction of it would take 3 s
    assert isinstance(answer, Answer)
    assert "at most 100 items, not 400000" in answer.text
    (entry,) = audited(audit)
    assert (entry["arguments"], entry["argumentsDigest"]) == ("too large to be recorded", None)


async def test_a_question_about_long_arguments_is_short_and_costs_little():
    @mutation({"text": "x", "explicit_action": "SAVE"}, confirm=Confirm("SAVE", ask=True))
    async def save(text: Text) -> str:
        return text

    async with App("test", version="1.0.0", format="result", tools=[save]) as app:
        arguments = {"text": "a b " * 900_000, "explicit_action": "SAVE"}
        request = Request("save", arguments, can_return_questions=True)
        question = await app.answer(request)
    assert isinstance(question, Question)
    assert len(question.text) == 1003
