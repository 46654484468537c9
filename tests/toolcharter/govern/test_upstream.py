import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from mcp_core.context import ToolContext
from mcp_core.errors import Unavailable
from tests.toolcharter.govern.governed import offering
from toolcharter.govern.callers_person import CallersPerson
from toolcharter.govern.charter import UpstreamTable
from toolcharter.govern.upstream.errors import UpstreamUnavailable
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.session import PROMPTS
from toolcharter.govern.upstream.sse import _same_origin
from toolcharter.govern.upstream.upstream import Upstream

SERVER = str(Path(__file__).with_name("upstream_server.py"))


@asynccontextmanager
async def upstream(*options: str, **table: Any) -> AsyncIterator[Upstream]:
    groups = ProcessGroups()
    entry = UpstreamTable(command=[sys.executable, SERVER, *options], **table)
    made = Upstream("unkind", entry, groups, Path.cwd())
    try:
        yield made
    finally:
        await made.close()
        groups.close()


async def call(server: Upstream, tool: str, *, seconds: float = 20, caller: str = "ann", **arguments: Any) -> str:
    result = await server.call_tool(caller, tool, arguments, seconds=seconds, meta={})
    return result["content"][0]["text"]


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("era", [[], ["--handshake"]])
async def test_both_eras_are_spoken_over_stdio(era: list[str]):
    async with upstream(*era) as server:
        assert [tool.name for tool in await server.list_tools()][:2] == ["echo", "slow"]
        assert json.loads(await call(server, "echo", text="é")) == {"text": "é"}
        assert server.server.name == "unkind"


async def test_a_tool_that_runs_only_as_a_task_is_not_listed(tmp_path: Path):
    tools = tmp_path / "tools.json"
    listed = [
        {"name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": name}}
        for name in ("forbidden", "optional", "required")
    ]
    tools.write_text(json.dumps(listed), encoding="utf-8")
    async with upstream("--tools", str(tools)) as server:
        assert [tool.name for tool in await server.list_tools()] == ["forbidden", "optional"]


async def test_a_server_that_refuses_to_list_its_tools_is_not_available():
    async with upstream("--no-list") as server:
        with pytest.raises(Unavailable, match="The server 'unkind' refused to list its tools: not today"):
            await server.list_tools()


async def test_progress_reaches_the_caller():
    reports: list[Any] = []

    async def report(params: dict[str, Any]) -> None:
        reports.append((params["progress"], params["total"], params["message"]))

    async with upstream() as server:
        await server.call_tool("ann", "slow", {}, seconds=20, meta={}, on_progress=report)
    assert reports == [(1, 2, "half")]


async def test_a_cancelled_call_is_cancelled_at_the_upstream(tmp_path: Path):
    said = tmp_path / "cancelled"
    async with upstream(env={"CANCELLED": str(said)}) as server:
        await call(server, "echo")
        waiting = asyncio.create_task(call(server, "hang"))
        await call(server, "echo")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await call(server, "echo")
    assert said.read_text(encoding="utf-8") == "cancelled"


@pytest.mark.requirement("GOV-5")
async def test_a_crash_fails_the_calls_that_wait_and_the_next_call_starts_it_again():
    async with upstream() as server:
        await call(server, "echo")
        waiting = asyncio.create_task(call(server, "hang"))
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match=r"The server 'unkind' ended with exit code 3\."):
            await call(server, "crash")
        with pytest.raises(Unavailable, match="ended with exit code 3"):
            await waiting
        assert await call(server, "echo") == "{}"


@pytest.mark.requirement("GOV-5")
async def test_a_call_without_an_answer_ends_at_its_deadline_and_the_others_go_on():
    async with upstream() as server:
        await call(server, "echo")
        waiting = asyncio.create_task(call(server, "hang", seconds=0.2))
        assert await call(server, "echo") == "{}"
        with pytest.raises(Unavailable, match=r"did not answer within 0\.2 seconds"):
            await waiting


@pytest.mark.requirement("GOV-5")
async def test_lines_that_are_not_messages_are_skipped():
    async with upstream() as server:
        assert await call(server, "garbage") == "after garbage"


@pytest.mark.requirement("GOV-5")
async def test_an_answer_that_is_too_large_ends_the_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcharter.govern.upstream.stdio.MAX_MESSAGE", 100_000)
    async with upstream() as server:
        assert len(await call(server, "big", bytes=50_000)) == 50_000
        with pytest.raises(Unavailable, match="sent a message that is larger than 100,000 bytes"):
            await call(server, "big", bytes=200_000)
        assert await call(server, "echo") == "{}"


@pytest.mark.requirement("GOV-5")
async def test_a_list_without_an_end_is_given_up():
    async with upstream("--endless") as server:
        with pytest.raises(Unavailable, match="lists its tools on more than 200 pages"):
            await server.list_tools()


@pytest.mark.requirement("GOV-5")
async def test_pages_that_are_too_large_together_are_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcharter.govern.upstream.session.MAX_LIST_SIZE", 1000)
    async with upstream("--endless") as server:
        with pytest.raises(Unavailable, match="lists its tools with more than 1,000 characters"):
            await server.list_tools()


async def test_a_server_that_cannot_start_is_tried_again_after_a_pause():
    groups = ProcessGroups()
    server = Upstream("gone", UpstreamTable(command=["/no/such/program"]), groups, Path.cwd())
    with pytest.raises(Unavailable, match="The server 'gone' cannot start '/no/such/program': No such file"):
        await call(server, "echo")
    with pytest.raises(Unavailable, match="It is tried again in 1 second"):
        await call(server, "echo")
    assert server.health().problem == "cannot start '/no/such/program': No such file or directory."
    groups.close()


async def test_an_address_where_nothing_listens_is_named_with_the_reason():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
    groups = ProcessGroups()
    server = Upstream("gone", UpstreamTable(url=url), groups, Path.cwd())
    with pytest.raises(Unavailable, match=f"The server 'gone' cannot be reached at {url}: Connection refused"):
        await call(server, "echo")
    await server.close()
    groups.close()


async def test_a_process_gets_the_environment_that_it_is_given_and_no_other(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OUR_TOKEN", "s3cret")
    monkeypatch.setenv("THEIR_TOKEN", "t0ken")
    async with upstream(env={"MODE": "x"}, secrets={"API_TOKEN": "env:THEIR_TOKEN"}) as server:
        names = json.loads(await call(server, "environment"))
    assert {"MODE", "API_TOKEN", "PATH"} <= set(names)
    assert {"OUR_TOKEN", "THEIR_TOKEN"}.isdisjoint(names)


async def test_a_missing_secret_is_named():
    async with upstream(secrets={"API_TOKEN": "env:NOT_SET"}) as server:
        with pytest.raises(Unavailable, match=r"needs the secret API_TOKEN.* set the environment variable NOT_SET"):
            await call(server, "echo")


async def test_callers_share_a_process_or_have_one_each():
    for per, processes in (("server", 1), ("caller", 2)):
        async with upstream(per=per) as server:
            started = {json.loads(await call(server, "fork", caller=caller))[0] for caller in ("ann", "bob")}
        assert len(started) == processes


async def test_an_idle_process_is_ended_and_started_again_when_it_is_needed():
    async with upstream(idle_seconds=0.001) as server:
        first, _ = json.loads(await call(server, "fork"))
        await asyncio.sleep(0.01)
        await server.close_idle()
        assert not psutil.pid_exists(first)
        assert await call(server, "echo") == "{}"


@pytest.mark.requirement("GOV-5")
async def test_closing_ends_the_process_and_the_children_that_left_its_group():
    async with upstream() as server:
        processes = json.loads(await call(server, "fork"))
        assert all(psutil.pid_exists(process) for process in processes)
    assert not any(_runs(process) for process in processes)


@pytest.mark.requirement("GOV-5")
def test_no_process_outlives_a_governor_that_is_killed():
    script = f"""
import asyncio, sys
sys.path.insert(0, {str(Path.cwd())!r})
from tests.toolcharter.govern.test_upstream import call, upstream
async def main():
    async with upstream() as server:
        print(await call(server, "fork"), flush=True)
        await asyncio.sleep(1000)
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as governor:
        assert governor.stdout is not None
        processes = [psutil.Process(process) for process in json.loads(governor.stdout.readline())]
        governor.kill()
    gone, left = psutil.wait_procs(processes, timeout=60)
    assert (len(gone), left) == (2, [])


def _runs(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.requirement("GOV-5")
async def test_a_server_that_ends_with_each_call_is_left_alone_for_growing_pauses(monkeypatch: pytest.MonkeyPatch):
    now = 1000.0
    monkeypatch.setattr("toolcharter.govern.upstream.breaker.monotonic", lambda: now)
    async with upstream() as server:

        async def crash() -> str:
            with pytest.raises(Unavailable) as ended:
                await call(server, "crash")
            while server._tasks:
                await asyncio.gather(*server._tasks)
            return str(ended.value)

        assert "ended with exit code 3" in await crash()
        # It is started again at once after the first failure, not after the second.
        assert "ended with exit code 3" in await crash()
        assert await crash() == "The server 'unkind' ended with exit code 3. It is tried again in 1 second."
        health = server.health()
        assert (health.is_ok, health.problem, health.failures) == (False, "ended with exit code 3.", 2)
        now += 2
        assert "ended with exit code 3" in await crash()
        assert await crash() == "The server 'unkind' ended with exit code 3. It is tried again in 2 seconds."
        now += 3
        # An answer closes it.
        assert await call(server, "echo") == "{}"
        assert (server.health().is_ok, server._breakers) == (True, {})
        assert "ended with exit code 3" in await crash()
        assert await call(server, "echo") == "{}"


@pytest.mark.requirement("GOV-5")
async def test_callers_who_wait_for_a_server_that_cannot_start_do_not_try_one_after_the_other(tmp_path: Path):
    groups, counted = ProcessGroups(), tmp_path / "starts"
    command = ["sh", "-c", f"echo start >> {counted}; exit 1"]
    server = Upstream("gone", UpstreamTable(command=command), groups, tmp_path)
    failed = await asyncio.gather(*(call(server, "echo") for _ in range(20)), return_exceptions=True)
    assert {type(one) for one in failed} == {Unavailable}
    assert counted.read_text(encoding="utf-8") == "start\n"
    groups.close()


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("transport", [None, "sse"])
async def test_a_server_over_the_older_transport_is_found_out_and_governed(transport: Any, tmp_path: Path):
    with offering("sse", "old") as url:
        groups, asked = ProcessGroups(), list[Any]()
        changed, started = asyncio.Event(), asyncio.Event()
        server = Upstream(
            "old", UpstreamTable(url=url, transport=transport), groups, tmp_path, on_changed=lambda _: changed.set()
        )
        reports: list[Any] = []

        async def note(params: Any) -> None:
            reports.append(params["message"])
            if params["message"] == "waiting":
                started.set()

        async def answer(params: Any) -> dict[str, Any]:
            asked.append(params["message"])
            return {"action": "accept", "content": {"colour": "blue"}}

        both = frozenset({"form", "url"})
        person = CallersPerson("old", ToolContext("", "", "", "", "", elicit=answer, modes=both))
        try:
            assert "ask" in [tool.name for tool in await server.list_tools()]
            counted = await server.call_tool("ann", "count", {}, seconds=20, meta={}, on_progress=note)
            assert counted["content"][0]["text"] == "counted, 0 cancelled"
            assert reports == ["1 of 2", "2 of 2"]
            told = await server.call_tool("ann", "ask", {}, seconds=20, meta={}, person=person)
            assert (told["content"][0]["text"], asked) == ("accept:blue", ["old: Which colour?"])
            assert "review" in [one["name"] for one in await server.list_items("ann", PROMPTS)]
            waiting = asyncio.create_task(server.call_tool("ann", "wait", {}, seconds=60, meta={}, on_progress=note))
            await call(server, "add_prompt")
            async with asyncio.timeout(60):
                await changed.wait()
                await started.wait()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            async with asyncio.timeout(60):
                while await call(server, "count") != "counted, 1 cancelled":
                    pass
        finally:
            await server.close()
            groups.close()


async def test_the_stream_of_the_older_transport_cannot_send_our_messages_elsewhere():
    with pytest.raises(UpstreamUnavailable, match="wants messages at another origin"):
        _same_origin("https://docs.example/sse", "https://evil.example/post")
    assert _same_origin("https://docs.example/sse", "/messages?id=1") == "https://docs.example/messages?id=1"
