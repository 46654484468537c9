"""The load generator, in a process of its own: `python -m bench.load` with one JSON object as its argument.

It uses raw sockets, prepared requests of a real client and uvloop, so that its cost is low and equal for every server:
at 1 in flight a call waits for this process too. Each connection sends its next request when the last answer is
complete. All answers are checked after the measurement: the right id, a success, the right sum.
"""

import asyncio
import json
import os
import statistics
import sys
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import uvloop

from bench import messages
from bench.measure import cpu_seconds
from bench.messages import HEAD_END, Pieces

LAST_CHUNK = b"\r\n0\r\n\r\n"
SECONDS_BETWEEN_WRITES = 100e-6
"""From the head to the body of a request. The SDK's client takes 80 to 170 µs."""
GIVE_UP = 60.0
"""Seconds after which a sample that hangs is an error."""


class Wire(asyncio.Protocol):
    """One keep-alive connection: a request out, its answer in."""

    def __init__(self) -> None:
        self._buffer = b""
        self._answered: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._head_only = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(ConnectionError(f"the server closed the connection: {exc}"))

    def ask(self, first: bytes, *rest: bytes, head_only: bool = False) -> "asyncio.Future[bytes]":
        """Send a request in so many writes. `head_only` is for an answer that has a length and no body."""
        assert self._transport is not None
        self._buffer, self._head_only = b"", head_only
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(first)
        if rest:
            self._write_later(rest, time.perf_counter() + SECONDS_BETWEEN_WRITES)
        return self._answered

    def _write_later(self, pieces: Pieces, due: float) -> None:
        """Write the rest of a request. The loop keeps turning until then, because its timers are too coarse."""
        assert self._transport is not None
        if self._transport.is_closing():
            return
        if time.perf_counter() < due:
            os.sched_yield()  # to the server, if it is waiting for this core
            asyncio.get_running_loop().call_soon(self._write_later, pieces, due)
        else:
            self._transport.write(b"".join(pieces))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        whole = HEAD_END in self._buffer if self._head_only else complete(self._buffer)
        if whole and self._answered is not None and not self._answered.done():
            self._answered.set_result(self._buffer)

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()


def complete(response: bytes) -> bool:
    """Whether the HTTP response is complete."""
    end = response.find(HEAD_END)
    if end < 0:
        return False
    head = response[:end].lower()
    if b"transfer-encoding: chunked" in head:
        return response.endswith(LAST_CHUNK)
    return len(response) >= end + 4 + int(header(head, b"content-length") or 0)


def header(head: bytes, name: bytes) -> bytes | None:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return None


def body(response: bytes) -> Any:
    """The JSON-RPC message of a response: the body, or the data of its server-sent event."""
    head, _, rest = response.partition(HEAD_END)
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        raise ValueError(f"not a success: {response[:400]!r}")
    if b"text/event-stream" not in head.lower():
        return json.loads(rest)
    data = [line[5:] for line in rest.split(b"\r\n") if line.startswith(b"data:")]
    return json.loads(data[-1])


async def connect(port: int) -> Wire:
    _, wire = await asyncio.get_running_loop().create_connection(Wire, "127.0.0.1", port)
    return wire


async def open_session(port: int) -> str | None:
    """The handshake of the older protocol. A server without sessions gives no id."""
    wire = await connect(port)
    answer = await wire.ask(*messages.post(port, messages.INITIALIZE, messages.LEGACY))
    session = header(answer.partition(HEAD_END)[0], b"mcp-session-id")
    session_id = None if session is None else session.decode()
    await wire.ask(*messages.post(port, messages.INITIALIZED, messages.LEGACY, session_id))
    wire.close()
    return session_id


async def close_session(port: int, session: str) -> None:
    wire = await connect(port)
    host = f"host: 127.0.0.1:{port}"
    lines = ["DELETE /mcp HTTP/1.1", host, f"mcp-session-id: {session}", f"mcp-protocol-version: {messages.LEGACY}"]
    await wire.ask("\r\n".join([*lines, "content-length: 0", "", ""]).encode())
    wire.close()


async def sample(
    *,
    port: int,
    pid: int,
    era: str,
    in_flight: int,
    calls: int,
    seconds: float,
    first: int,
    tool: str = "add",
    client: str = messages.SDK,
    through: str | None = None,
) -> dict[str, Any]:
    """Call a tool as a client does for `seconds`, at most `calls` times, each time with different arguments.

    `through` is a tool that calls another one, such as `call_tool`.
    """
    session = None if era == messages.MODERN else await open_session(port)
    bodies = ((number, messages.BODIES[tool](era, number, client=client)) for number in range(first, first + calls))
    if through is not None:
        bodies = ((number, _through(body, through)) for number, body in bodies)
    requests = [(number, messages.post(port, body, era, session, client=client)) for number, body in bodies]
    answers, figures = await drive(port, pid, requests, in_flight, seconds)
    check(answers, tool)
    if session is not None:
        await close_session(port, session)
    return figures


Answers = list[tuple[int, bytes]]


async def drive(
    port: int, pid: int, requests: Sequence[tuple[int, Pieces]], in_flight: int, seconds: float
) -> tuple[Answers, dict[str, Any]]:
    """Send requests over `in_flight` connections until all are sent or the time is over."""
    waiting, answers, times = deque(requests), Answers(), list[float]()
    wires = [await connect(port) for _ in range(in_flight)]
    busy, started = cpu_seconds(pid), time.perf_counter()
    end = started + seconds

    async def converse(wire: Wire) -> None:
        while waiting and time.perf_counter() < end:
            number, request = waiting.popleft()
            asked = time.perf_counter()
            answers.append((number, await wire.ask(*request)))
            times.append(time.perf_counter() - asked)

    await asyncio.gather(*(converse(wire) for wire in wires))
    passed, busy = time.perf_counter() - started, cpu_seconds(pid) - busy
    for wire in wires:
        wire.close()
    figures = {
        "calls_per_s": len(answers) / passed,
        "cpu_us": busy / len(answers) * 1e6,
        "median_ms": statistics.median(times) * 1000,
        "calls": len(answers),
    }
    return answers, figures


def _through(body: dict[str, Any], tool: str) -> dict[str, Any]:
    params = body["params"]
    return body | {"params": params | {"name": tool, "arguments": {k: params[k] for k in ("name", "arguments")}}}


def check(answers: Answers, tool: str = "add") -> None:
    for number, response in answers:
        messages.check(tool, number, body(response))


async def main() -> None:
    wanted = json.loads(sys.argv[1])
    print(json.dumps(await asyncio.wait_for(sample(**wanted), GIVE_UP)))


if __name__ == "__main__":
    uvloop.run(main())
