"""Sends a real server requests that are wrong in every way that chance finds, over HTTP and stdio.

`python -m bench --only fuzz` sends 1,000,000, half over each; `--requests N` changes that. Each is answered, or its
connection is closed; no answer is an internal error; the server lives; and its memory is what it was before.
"""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench import load, messages
from bench.processes import PATIENCE, serving_command, started

KIND = "fuzz"
REQUESTS = 1_000_000
WARM_UP = 0.2
"""The share of all requests after which memory is measured for the first time: caches are full then."""
MAX_GROWTH = 0.05
CONNECTIONS = 16
LINES = 200
"""Lines over stdio between two requests whose answers are awaited."""

TOOLS = (*("add_task", "list_tasks", "complete_task", "update_task", "delete_task") * 3, "no_such_tool", "")
METHODS = (
    *("tools/call",) * 8,
    *("tools/list", "server/discover", "resources/list", "resources/read", "resources/templates/list", "prompts/list"),
    *("prompts/get", "ping", "notifications/initialized", "notifications/cancelled", "logging/setLevel"),
    *("completion/complete", "rpc.discover", "", "tools/call\x00"),
)
JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**63, 2**200, 1.5, -0.0, 1e308, "", " ", "x" * 300, "\x00", "\ud800", "\u2028", "🦜"),
    *("../../etc/passwd", "' OR 1=1 --", "{{7*7}}", "%s%n", "<script>", "\x1b[2J", [], {}, [[]], [{}], {"": None}),
    *({"a": {"b": {"c": []}}}, [1, "2", None], "2026-07-28", "2025-11-25", "1900-01-01", "DELETE"),
)


@dataclass
class Fuzzed:
    """What a server did with all requests over one transport."""

    transport: str
    sent: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    """Requests that were answered with an internal error, or not at all."""
    before: float = 0.0
    after: float = 0.0
    """MB resident."""
    seconds: float = 0.0

    @property
    def growth(self) -> float:
        return self.after / self.before - 1

    @property
    def is_clean(self) -> bool:
        return not self.faults and self.growth <= MAX_GROWTH

    def line(self) -> str:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(self.outcomes.items()))
        memory = f"{self.before:.1f} | {self.after:.1f} ({self.growth:+.1%})"
        return f"| {self.transport} | {self.sent:,} | {self.seconds:,.0f} s | {len(self.faults)} | {memory} | {kinds} |"


def measure(requests: int, folder: Path, log: Callable[[str], None], seed: int = 1) -> list[Fuzzed]:
    eras = (messages.MODERN, messages.LEGACY)
    return [
        asyncio.run(_over_http(requests // 2, folder, log, random.Random(seed))),
        *(_over_stdio(requests // 4, folder, log, random.Random(seed), era) for era in eras),
    ]


def page(fuzzed: list[Fuzzed]) -> str:
    head = "| transport | requests | time | faults | MB before | MB after | outcomes |"
    lines = [head, "|---|---:|---:|---:|---:|---:|---|", *(one.line() for one in fuzzed)]
    return "\n".join([*lines, *(f"\nFault: {fault}" for one in fuzzed for fault in one.faults[:10])])


# --- requests ------------------------------------------------------------------------------------------------


def message(dice: random.Random, number: int, era: str) -> Any:
    """A request, with a few places replaced by junk."""
    method = dice.choice(METHODS)
    params: dict[str, Any] = {"name": dice.choice(TOOLS), "arguments": _arguments(dice)}
    if era == messages.MODERN:
        params["_meta"] = dict(messages.recorded(messages.SDK, messages.MODERN).metadata)
    elif dice.random() < 0.02:
        method, params = "initialize", dict(messages.INITIALIZE["params"])
    request: Any = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    if method.startswith("notifications/"):
        del request["id"]
    for _ in range(dice.choice((0, 0, 0, 1, 1, 2, 5))):
        request = _replaced(dice, request)
    return request


def _arguments(dice: random.Random) -> dict[str, Any]:
    # Tasks are added for one user and listed for others, so that lists stay short.
    arguments = {"user_id": f"user{dice.randrange(20)}", "task_id": "00000000-0000-0000-0000-000000000000"}
    arguments |= {"title": "Buy milk", "description": "Two bottles", "status": "pending", "extra": "x"}
    return {name: value for name, value in arguments.items() if dice.random() < (0.9 if name == "user_id" else 0.4)}


def _replaced(dice: random.Random, value: Any) -> Any:
    """The same, with junk at one place, or without it."""
    if not isinstance(value, dict) or not value or dice.random() < 0.05:
        return dice.choice(JUNK)
    changed, name = dict(value), dice.choice(list(value))
    match dice.randrange(4):
        case 0:
            del changed[name]
        case 1:
            changed[str(dice.choice(JUNK))[:50]] = dice.choice(JUNK)
        case _:
            changed[name] = _replaced(dice, changed[name])
    return changed


def text(dice: random.Random, number: int, era: str) -> bytes:
    """A message as bytes, some of which chance has changed."""
    data = json.dumps(message(dice, number, era), separators=(",", ":")).encode()
    match dice.randrange(20):
        case 0:
            return data[: dice.randrange(len(data))]
        case 1:
            return bytes(dice.randrange(256) if dice.random() < 0.05 else byte for byte in data)
        case 2:
            return dice.choice((b"", b"[]", b"null", b"\xff\xfe", b"[" * 2000, b'{"a":' * 2000, b"[" + data + b"]"))
        case _:
            return data


def http_request(dice: random.Random, number: int, port: int, session: str) -> bytes:
    """A whole HTTP request: its length is right, so that it ends; all else may be wrong."""
    era = dice.choice((messages.MODERN, messages.LEGACY))
    data = text(dice, number, era)
    fields = {name.lower(): value for name, value in messages.recorded(messages.SDK, era).head}
    for name in ("mcp-method", "mcp-name", "mcp-session-id", "content-length"):
        fields.pop(name, None)
    fields["host"] = f"127.0.0.1:{port}"
    if era == messages.LEGACY:
        fields["mcp-session-id"] = session
    with suppress(ValueError, AttributeError, TypeError, KeyError, RecursionError):
        sent = json.loads(data)
        fields |= {"mcp-method": str(sent["method"]), "mcp-name": str(sent["params"]["name"])}
    for _ in range(dice.choice((0, 0, 0, 0, 0, 1, 2))):
        name = dice.choice(("host", "content-type", "accept", "mcp-method", "mcp-name", "mcp-session-id", "origin"))
        fields[name] = str(dice.choice(JUNK))
    if dice.random() < 0.1:
        del fields[dice.choice(list(fields))]
    method = dice.choice(("POST",) * 60 + ("DELETE", "PUT", "OPTIONS", "HEAD"))
    path = dice.choice(("/mcp",) * 90 + ("/", "/mcp/", "/health", "/metrics", "/nothing", "/%00", "/todo/mcp"))
    if method == "DELETE":
        fields.pop("mcp-session-id", None)  # it would end the session
    lines = [f"{name}: {_one_line(value)}" for name, value in fields.items()]
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, f"content-length: {len(data)}", "", ""])
    return head.encode("utf-8", "replace") + data


def _one_line(value: str) -> str:
    return value.replace("\r", " ").replace("\n", " ")


# --- over HTTP -----------------------------------------------------------------------------------------------


async def _over_http(requests: int, folder: Path, log: Callable[[str], None], dice: random.Random) -> Fuzzed:
    fuzzed, started = Fuzzed("HTTP"), time.monotonic()
    # With every gate on, as its command serves it.
    with serving_command(_command("http", "--port", "0", "--db", f"sqlite:///{folder}/http.db"), folder) as served:
        port = served.port
        numbers, session = iter(range(requests)), await load.open_session(port)

        async def work() -> None:
            wire = await load.connect(port)
            for number in numbers:
                wire = await _send(wire, http_request(dice, number, port, session), port, fuzzed)
                _after(fuzzed, served.pid, requests, log)
            wire.close()

        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
        fuzzed.after = _resident(served.pid)
        await _still_serves(port, fuzzed)
    fuzzed.seconds = time.monotonic() - started
    return fuzzed


async def _send(wire: load.Wire, request: bytes, port: int, fuzzed: Fuzzed) -> load.Wire:
    """Send one request. The connection for the next is the same, or a new one if it was closed."""
    fuzzed.sent += 1
    try:
        answer = await asyncio.wait_for(_answer_of(wire, request), PATIENCE)
    except ConnectionError:
        fuzzed.outcomes["closed"] += 1
        return await load.connect(port)
    except TimeoutError:
        fuzzed.faults.append(f"no answer to {request[:2000]!r}")
        wire.close()
        return await load.connect(port)
    status = answer[9:12].decode()
    fuzzed.outcomes[status] += 1
    if status in ("500", "502") or b'"SystemError"' in answer or b"-32603" in answer:
        fuzzed.faults.append(f"{answer[-300:]!r} to {request[:2000]!r}")
    if b"connection: close" in answer[: answer.find(load.HEAD_END)].lower():
        wire.close()
        return await load.connect(port)
    return wire


async def _answer_of(wire: load.Wire, request: bytes) -> bytes:
    # The answer to HEAD has a length and no body.
    head, end, data = request.partition(load.HEAD_END)
    return await wire.ask(head + end, data, head_only=request.startswith(b"HEAD "))


async def _still_serves(port: int, fuzzed: Fuzzed) -> None:
    wire = await load.connect(port)
    request = messages.post_call(port, "list_tasks", {"user_id": "nobody"})
    answer = load.body(await asyncio.wait_for(wire.ask(*request), PATIENCE))
    if answer["result"]["isError"]:
        fuzzed.faults.append(f"afterwards: {answer}")
    wire.close()


# --- over stdio ----------------------------------------------------------------------------------------------


def _over_stdio(requests: int, folder: Path, log: Callable[[str], None], dice: random.Random, era: str) -> Fuzzed:
    fuzzed, began = Fuzzed(f"stdio, {era}"), time.monotonic()
    command = _command("stdio", "--db", f"sqlite:///{folder}/{era}.db")
    with (folder / f"{era}.log").open("w", encoding="utf-8") as file, started(command, folder, stderr=file) as process:
        assert process.stdin is not None
        if era == messages.LEGACY:
            process.stdin.write(json.dumps(messages.INITIALIZE) + "\n" + json.dumps(messages.INITIALIZED) + "\n")
        for first in range(0, requests, LINES):
            count = min(LINES, requests - first)
            for number in range(first, first + count):
                process.stdin.write(text(dice, number, era).replace(b"\n", b" ").decode("utf-8", "replace") + "\n")
            fuzzed.sent += count
            _await_answer(process, f"sentinel-{first}", era, fuzzed)
            _after(fuzzed, process.pid, requests, log)
        fuzzed.after = _resident(process.pid)
    fuzzed.seconds = time.monotonic() - began
    return fuzzed


def _await_answer(process: "subprocess.Popen[str]", sentinel: str, era: str, fuzzed: Fuzzed) -> None:
    """Send a request that is right, and read until its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    body = messages.request(era, 1, "tools/call", name="list_tasks", arguments={"user_id": "nobody"})
    process.stdin.write(json.dumps(body | {"id": sentinel}) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == sentinel:
            return
        code = answer.get("error", {}).get("code")
        fuzzed.outcomes["result" if code is None else str(code)] += 1
        if code == -32603 or '"SystemError"' in line:
            fuzzed.faults.append(line[:2000])
    raise RuntimeError(f"the server ended before it answered {sentinel}")


# --- both ----------------------------------------------------------------------------------------------------


def _command(*words: str) -> list[str]:
    return [sys.executable, "-c", "from mcp_todo.main import main; main()", *words, "--deadline", "60"]


def _after(fuzzed: Fuzzed, pid: int, requests: int, log: Callable[[str], None]) -> None:
    if not fuzzed.before and fuzzed.sent >= WARM_UP * requests:
        fuzzed.before = _resident(pid)
    if fuzzed.sent % 50_000 == 0:
        log(f"{fuzzed.transport}: {fuzzed.sent:,} requests, {_resident(pid):.1f} MB, {len(fuzzed.faults)} faults")


def _resident(pid: int) -> float:
    return psutil.Process(pid).memory_info().rss / 1e6
