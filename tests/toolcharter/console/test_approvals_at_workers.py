"""A confirmation that waits at one process is answered at another: real workers with one Redis."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.behaviour.combinations import ENVIRONMENT
from tests.clients.over_http import served
from tests.mcp_core.audited import audited
from tests.toolcharter.console import worker_app
from tests.toolcharter.console.live_app import call
from tests.toolcharter.console.test_console import csrf_in

MAX_CONNECTIONS = 200
ONE_CONNECTION = httpx2.Limits(max_connections=1, keepalive_expiry=None)


@asynccontextmanager
async def one_client_for_each_of_two_workers(base: str) -> AsyncIterator[tuple[httpx2.AsyncClient, httpx2.AsyncClient]]:
    """Clients whose one connection belongs to different workers. The kernel decides which worker gets a connection."""
    found: dict[int, httpx2.AsyncClient] = {}
    async with AsyncExitStack() as stack:
        for _ in range(MAX_CONNECTIONS):
            http = await stack.enter_async_context(httpx2.AsyncClient(base_url=base, timeout=60, limits=ONE_CONNECTION))
            found.setdefault(value_of(await call(http, "where", {})), http)
            if len(found) == 2:
                first, second = found.values()
                yield first, second
                return
    raise AssertionError("all connections went to one worker")


def value_of(answer: dict[str, Any]) -> Any:
    return json.loads(answer["result"]["content"][0]["text"])["value"]


async def waiting_at(http: httpx2.AsyncClient, number: int) -> list[dict[str, Any]]:
    """The confirmations that this worker shows, when there are as many."""
    while len(waiting := (await http.get("/console/approvals/list")).json()["waiting"]) != number:  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.1)
    return waiting


@pytest.mark.requirement("WEB-3")
async def test_a_call_that_waits_at_one_worker_is_answered_at_another_and_is_not_shown_if_the_worker_is_killed(
    tmp_path: Path, redis_url: str
):
    command = [sys.executable, str(Path(worker_app.__file__)), "--workers", "2", "--user", "ana"]
    command += ["--db", f"sqlite:///{tmp_path / 'notes.db'}", "--redis", redis_url, "--redis-timeout", "20"]
    command += ["--confirm-in-console", "1m", "--audit", str(tmp_path / "audit.jsonl")]
    with served(command, tmp_path / "server.log", ENVIRONMENT) as address:
        base = address.removesuffix("/mcp")
        async with one_client_for_each_of_two_workers(base) as (holds, answers), asyncio.timeout(60):
            token = csrf_in((await answers.get("/console/approvals")).text)
            headers = {"X-CSRF-Token": token, "Origin": base}
            for accepted in (True, False):
                sent = asyncio.ensure_future(call(holds, "send_note", {"note": f"{accepted}"}))
                (waiting,) = await waiting_at(answers, 1)
                path = f"/console/approvals/notes/{waiting['id']}"
                given = await answers.post(path, json={"accepted": accepted}, headers=headers)
                answer = (await sent)["result"]
                again = await answers.post(path, json={"accepted": True}, headers=headers)
                assert (given.status_code, again.status_code, answer["isError"]) == (200, 404, not accepted)
            process = value_of(await call(holds, "where", {}))
            sent = asyncio.ensure_future(call(holds, "send_note", {"note": "lost"}))
            await waiting_at(answers, 1)
            os.kill(process, signal.SIGKILL)
            with pytest.raises(httpx2.TransportError):
                await sent
            await waiting_at(answers, 0)
    records = [one for one in audited(tmp_path / "audit.jsonl") if one.get("answeredBy")]
    assert [one["answeredBy"] for one in records] == ["user:ana", "user:ana"]
