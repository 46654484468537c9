"""What happens to calls when a server is stopped."""

import asyncio
import json
import signal
from pathlib import Path

import httpx2
import pytest

from mcp_core import Settings
from tests.mcp_core.audited import audited
from tests.toolcharter.serving.gate_server import build
from tests.toolcharter.serving.processes import GATE_SERVER, PATIENCE, call, headers, started, until
from toolcharter.serving.http import HttpServer
from toolcharter.serving.listener import base_url, listen
from toolcharter.serving.server import Site

CALLS = 10
STOPPED = "The server is stopping, and 'wait' was stopped: its outcome is unknown."
REFUSED = {
    "code": -32603,
    "message": "The server is stopping. Try again.",
    "data": {"reason": "draining", "retryable": True},
}


def client(base: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=base, timeout=PATIENCE)


def audit_outcomes(file: Path) -> list[tuple[str, str]]:
    return [(record["tool"], record["outcome"]) for record in audited(file) if "tool" in record]


def text(answer: httpx2.Response) -> str:
    body = answer.text.partition("data: ")[2] or answer.text  # an event stream, where the SDK answers
    return json.loads(body)["result"]["content"][0]["text"]


async def not_ready(http: httpx2.AsyncClient) -> httpx2.Response:
    async with asyncio.timeout(PATIENCE):
        while (answer := await http.get("/health/ready")).status_code == httpx2.codes.OK:
            pass
    return answer


def options(audit: Path, *more: str) -> list[str]:
    return [GATE_SERVER, "http", "--port", "0", "--audit", str(audit), "--deadline", "600", *more]


@pytest.mark.requirement("OPS-6")
@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_calls_in_flight_finish_and_new_ones_are_refused(tmp_path: Path, fast_path: str):
    gate, audit = tmp_path / "gate", tmp_path / "audit.jsonl"
    with started(*options(audit, "--drain-seconds", str(PATIENCE), "--fast-path", fast_path)) as server:
        async with client(server.base_url()) as http, client(str(http.base_url)) as other:
            # This connection is open, and idle, when the signal comes.
            assert (await other.get("/health/ready")).json()["status"] == "ok"
            calls = [asyncio.ensure_future(call(http, n, "wait", gate=str(gate))) for n in range(CALLS)]
            await asyncio.to_thread(server.read_until, "running", CALLS)
            server.process.send_signal(signal.SIGTERM)
            ready = await not_ready(other)
            live = await other.get("/health/live")
            refused = await call(other, 77, "wait", gate=str(gate))
            gate.touch()
            answers = await asyncio.gather(*calls)
        code = await asyncio.to_thread(server.wait)
    assert (ready.status_code, ready.json()["status"]) == (503, "stopping")
    assert live.status_code == 200
    assert (refused.status_code, refused.headers["retry-after"], refused.headers["connection"]) == (503, "1", "close")
    assert refused.json() == {"jsonrpc": "2.0", "id": None, "error": REFUSED}
    if fast_path == "on":  # the SDK sends the headers at the start of a call
        assert {answer.headers.get("connection") for answer in answers} == {"close"}
    assert ["passed" in text(answer) for answer in answers] == [True] * CALLS
    assert audit_outcomes(audit) == [("wait", "ok")] * CALLS
    assert code == 0
    assert "Traceback" not in server.log


@pytest.mark.requirement("OPS-6")
@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_calls_that_do_not_finish_are_answered_and_recorded(tmp_path: Path, fast_path: str):
    audit = tmp_path / "audit.jsonl"
    with started(*options(audit, "--drain-seconds", "0.2", "--fast-path", fast_path)) as server:
        async with client(server.base_url()) as http:
            calls = [asyncio.ensure_future(call(http, n, "wait", gate="/never")) for n in range(CALLS)]
            await asyncio.to_thread(server.read_until, "running", CALLS)
            server.process.send_signal(signal.SIGTERM)
            answers = await asyncio.gather(*calls)
        code = await asyncio.to_thread(server.wait)
    assert [STOPPED in text(answer) for answer in answers] == [True] * CALLS
    assert audit_outcomes(audit) == [("wait", "cancelled")] * CALLS
    assert code == 0
    assert "Traceback" not in server.log


async def test_a_second_signal_ends_the_calls_at_once(tmp_path: Path):
    audit = tmp_path / "audit.jsonl"
    with started(*options(audit, "--drain-seconds", "600")) as server:
        async with client(server.base_url()) as http:
            waiting = asyncio.ensure_future(call(http, 1, "wait", gate="/never"))
            await asyncio.to_thread(server.read_until, "running")
            server.process.send_signal(signal.SIGTERM)
            await not_ready(http)
            server.process.send_signal(signal.SIGTERM)
            answer = await waiting
        code = await asyncio.to_thread(server.wait)
    assert STOPPED in text(answer)
    assert audit_outcomes(audit) == [("wait", "cancelled")]
    assert code == 0


@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_a_request_that_never_became_a_call_is_answered_too(fast_path: str):
    settings = Settings(port=0, fast_path=fast_path, drain_seconds=0.1)
    app = build(settings)
    with listen(settings) as listener:
        server = HttpServer(Site([app], base_url(settings, listener)), [app], settings)
        serving = asyncio.ensure_future(server.serve(sockets=[listener.dup()]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        # The rest of the body never comes.
        head = [*(f"{name}: {value}" for name, value in headers("wait").items()), "Content-Type: application/json"]
        lines = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", *head, "Content-Length: 100000", "", '{"jsonrpc"']
        writer.write("\r\n".join(lines).encode())
        await until(lambda: server._site.calls.running == 1)
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            answer = (await reader.read()).decode()
            await serving
        writer.close()
    assert answer.startswith("HTTP/1.1 503 ")
    assert "retry-after: 1\r\n" in answer
    assert json.loads(answer.partition("\r\n\r\n")[2])["error"] == REFUSED
