"""Calls are kept in full and counted, without their secrets, and never hold up a server."""

import asyncio
import gc
import json
import logging
import stat
import weakref
from itertools import pairwise
from pathlib import Path

import pytest

from mcp_core import Request, Settings, ToolError
from mcp_core.errors import Unavailable, UnknownTool
from tests.forkserver.commands import command_path
from tests.toolcharter.call_log import recorded as recorded_module
from tests.toolcharter.call_log.recorded import ANN, BOB, build, recorded
from toolcharter.call_log import log as log_module
from toolcharter.call_log.entry import CallFilter
from toolcharter.call_log.opening import keep_calls
from toolcharter.call_log.store import Total

ALL = CallFilter()
AGENT, MILK = {"name": "claude", "version": "4"}, {"user_id": "ana", "title": "Buy milk"}


@pytest.mark.requirement("WEB-2")
async def test_a_call_is_kept_with_all_that_is_known_of_it_and_without_its_secrets(db_url):
    app = build(db_url)
    meta = {"correlationId": "c-1", "traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
    request = Request("save", {"password": "hunter2hunter2", "note": "hi"}, ANN, "claude", "4", meta=meta)
    async with app, recorded(app) as log:
        await app.answer(request)
        await log.write()
        (entry,) = await log.store.find(ALL)
    assert entry.details["steps"].keys() == {"gates", "handler", "answer"}
    assert 0 < sum(entry.details["steps"].values()) <= entry.ms + 0.01
    details = {k: v for k, v in entry.details.items() if k != "steps"}
    assert details == {"arguments": {"password": "[redacted]", "note": "hi"}, "version": "1.0.0"}
    assert entry._replace(time=0, ms=0, details={}) == (
        *(0, "notes", "save", "user:ann", "claude 4", "ok", 0, 8, False, "ab" * 16, "c-1", None, None, None, {}, 1),
    )


@pytest.mark.requirement("WEB-2")
async def test_a_call_that_breaks_is_kept_with_its_error_id_and_its_log_lines(db_url):
    app = build(db_url)
    logging.getLogger("tests").setLevel(logging.INFO)
    async with app, recorded(app) as log:
        answer = await app.call("save", {"password": "hunter2hunter2", "note": "broken"}, ANN)
        await app.call("save", {"password": "hunter2hunter2", "note": "lost"}, ANN)
        await log.write()
        lost, broken = await log.store.find(ALL)
    assert (broken.outcome, broken.error_type) == ("system", "SystemError")
    assert broken.error_id is not None
    assert broken.error_id in answer.text
    warning, error = broken.details["lines"]
    assert "about to break with [redacted]" in warning
    assert f'errorId="{broken.error_id}"' in error
    assert "ValueError: broken: [redacted]" in error
    assert "hunter2" not in str(broken)
    assert (lost.outcome, lost.error, lost.error_id) == ("business", "The note was lost.", None)


async def test_a_tool_that_does_not_exist_is_kept_by_the_name_that_was_called(db_url):
    app = build(db_url)
    async with app, recorded(app) as log:
        with pytest.raises(UnknownTool):
            await app.answer(Request("x" * 500, {"password": "hunter2"}, ANN))
        await log.write()
        (entry,) = await log.store.find(ALL)
        totals = await log.store.totals(ALL, 0, 1, "tool")
    assert (entry.tool, entry.details["arguments"]) == ("x" * 128, None)
    assert totals == [Total("(unknown)", 1, 0)]  # any number of names is counted as one


async def test_the_record_survives_a_restart_and_several_processes_share_it(db_url):
    first, second = build(db_url), build(db_url, "other")
    async with first, recorded(first):
        await first.call("double", {"number": 1}, ANN)
    async with first, second, recorded(first) as one, recorded(second) as two:
        await first.call("double", {"number": 2}, ANN)
        await one.write()
        await second.call("double", {"number": 3}, ANN)
        await two.write()
        seen = [(entry.server, entry.details["arguments"]["number"]) for entry in await one.store.find(ALL)]
    assert seen == [("other", 3), ("notes", 2), ("notes", 1)]


async def test_of_very_many_calls_all_are_counted_and_failures_are_kept_first(tmp_path):
    app = build(f"sqlite:///{tmp_path / 'n.db'}")
    async with app, recorded(app) as log:
        for number in range(1000):
            await app.call("double", {"number": number}, ANN)
        for note in ("a", "lost", "b"):
            await app.call("save", {"password": "p", "note": note}, ANN)
        await log.write()
        kept = await log.store.find(ALL, most=1000)
        totals = {total.name: total.calls for total in await log.store.totals(ALL, 0, 1, "tool")}
    assert len(kept) == log_module.MAX_IN_BATCH
    assert [entry.outcome for entry in kept].count("business") == 1
    numbers = [entry.details["arguments"]["number"] for entry in reversed(kept) if entry.tool == "double"]
    assert numbers == sorted(numbers)
    assert max(b - a for a, b in pairwise(numbers)) < 100  # from the whole time
    assert totals == {"double": 1000, "save": 3}
    assert {sample.labels: sample.value for sample in log.samples()} == {
        ("written",): log_module.MAX_IN_BATCH,
        ("counted",): 1003 - log_module.MAX_IN_BATCH,
        ("lost",): 0,
    }


@pytest.mark.parametrize("calls", [10, 51, 99, 100, 101, 1000])
@pytest.mark.parametrize("failures", [0, 1, 30])
async def test_failures_come_first_and_the_rest_is_a_sample_of_the_whole_time(tmp_path, calls: int, failures: int):
    app, most = build(f"sqlite:///{tmp_path / 'n.db'}"), log_module.MAX_IN_BATCH
    async with app, recorded(app) as log:
        for number in range(calls):
            await app.call("double", {"number": number}, ANN)
            if number < failures:
                await app.call("save", {"password": "p", "note": "lost"}, ANN)
        await log.write()
        kept = list(reversed(await log.store.find(ALL, most=1000)))
        totals = {total.name: total.calls for total in await log.store.totals(ALL, 0, 1, "tool")}
    failed = min(calls, failures)
    assert totals == {"double": calls} | ({"save": failed} if failed else {})
    assert len(kept) == min(most, calls + failed)
    assert sum(entry.tool == "save" for entry in kept) >= min(failed, most // 2)
    numbers = [entry.details["arguments"]["number"] for entry in kept if entry.tool == "double"]
    assert numbers == sorted(set(numbers))
    assert max(b - a for a, b in pairwise([-1, *numbers, calls])) <= max(2 * calls / len(numbers), 2) + 20


async def test_while_there_are_very_many_calls_fewer_are_kept_until_there_are_few_again(tmp_path):
    app = build(f"sqlite:///{tmp_path / 'n.db'}")
    kept: list[int] = []
    async with app, recorded(app) as log:
        for calls in (200, 200, 10, 10):
            for number in range(calls):
                await app.call("double", {"number": number}, ANN)
            before = log.written
            await log.write()
            kept.append(log.written - before)
    assert kept == [log_module.MAX_IN_BATCH, *([log_module.MAX_WHILE_BUSY] * 2), 10]


async def test_arguments_that_are_very_long_or_not_valid_text_do_no_harm(db_url):
    app = build(db_url)
    async with app, recorded(app) as log:
        await app.call("save", {"password": "p", "note": "x" * 20_000}, ANN)
        await app.call("save", {"password": "p", "note": "\ud800\0 \u202e"}, ANN)
        await log.write()
        strange, long = await log.store.find(ALL)
    assert "arguments" not in long.details
    assert "\ud800" not in str(strange.details)


async def test_a_database_that_cannot_be_written_holds_up_no_call(tmp_path, log, monkeypatch):
    app = build(f"sqlite:///{tmp_path / 'n.db'}")

    async def refuse(*_):
        raise Unavailable("The disk is full.")

    async with app, recorded(app) as calls:
        monkeypatch.setattr(calls.store, "write", refuse)
        for number in range(3):
            assert not (await app.call("double", {"number": number}, ANN)).is_error
            await calls.write()
        monkeypatch.undo()
        await app.call("double", {"number": 4}, ANN)
        await calls.write()
        assert [entry.details["arguments"] for entry in await calls.store.find(ALL)] == [{"number": 4}]
    warnings = [message for level, message in log.messages if level == "WARNING"]
    assert warnings == [f"Recent calls cannot be kept in {calls.store.location}: The disk is full."]
    assert calls.lost == 3


async def test_a_call_that_failed_leaves_nothing_for_the_garbage_collector(tmp_path, monkeypatch):
    app, errors = build(f"sqlite:///{tmp_path / 'n.db'}"), []

    class Lost(ToolError):
        def __init__(self, text: str) -> None:
            super().__init__(text)
            errors.append(weakref.ref(self))

    monkeypatch.setattr(recorded_module, "ToolError", Lost)
    async with app, recorded(app) as log:
        gc.disable()
        try:
            await app.call("save", {"password": "p", "note": "lost"}, ANN)
            await log.write()
            (error,) = errors
            assert error() is None
        finally:
            gc.enable()


async def test_nothing_is_kept_unless_the_settings_or_the_host_say_so(tmp_path):
    app = build(f"sqlite:///{tmp_path / 'n.db'}")
    async with app, keep_calls([app], app.settings) as log:
        await app.call("double", {"number": 1}, ANN)
        assert log is None
    off = Settings(db=app.settings.db, calls_keep=0)
    async with app, keep_calls([app], off, 3600) as log:
        assert log is None
    assert list(tmp_path.iterdir()) == []


async def test_the_file_is_beside_the_data_and_only_its_owner_can_read_it(tmp_path: Path):
    app = build(f"sqlite:///{tmp_path / 'n.db'}", calls_keep="2h")
    async with app, keep_calls([app], app.settings) as log:
        assert log is not None
        assert log.store.location == f"sqlite:///{tmp_path / 'calls.db'}"
        status = await asyncio.to_thread((tmp_path / "calls.db").stat)
        assert stat.S_IMODE(status.st_mode) == 0o600


async def test_over_stdio_calls_are_kept_if_the_settings_say_so(tmp_path):
    command = [command_path("mcp-todo"), "--db", f"sqlite:///{tmp_path / 'todo.db'}", "--calls-keep", "1h"]
    messages = [
        {"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": AGENT}},
        {"method": "tools/call", "params": {"name": "add_task", "arguments": MILK}},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, **message}) for number, message in enumerate(messages)]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        await process.communicate("".join(f"{line}\n" for line in lines).encode())
    app = build(f"sqlite:///{tmp_path / 'todo.db'}")
    async with app, recorded(app) as log:
        (entry,) = await log.store.find(ALL)
    assert (entry.server, entry.tool, entry.details["arguments"]) == (*("todo", "add_task", MILK),)


async def test_calls_are_written_without_being_asked_for(tmp_path):
    app = build(f"sqlite:///{tmp_path / 'n.db'}")
    async with app, recorded(app) as log, asyncio.timeout(60):
        feed = log.feed.listen()
        assert await anext(feed) is None
        await app.call("double", {"number": 1}, BOB)
        (entry,) = await anext(feed) or ()
        assert (entry.tool, entry.caller) == ("double", "user:bob")
        await feed.aclose()


async def test_who_looks_sees_the_calls_of_other_processes(db_url):
    here, there = build(db_url), build(db_url, "other")
    async with here, there, recorded(here) as log, recorded(there) as other, asyncio.timeout(60):
        feed = log.feed.listen()
        assert await anext(feed) is None
        await there.call("double", {"number": 1}, BOB)
        await other.write()
        (entry,) = await anext(feed) or ()
        assert entry.server == "other"
        await feed.aclose()
        assert not log.feed.is_running  # nothing runs while nobody looks
