"""Real clients call the servers over HTTP: time of a call as the client sees it, and the server's processor time."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench import messages
from bench.contenders import ERAS, IN_FLIGHT, NPM_PACKAGES, ROOT
from bench.measure import Cell, Sample, cpu_seconds, interleave
from bench.packages import NotInstalled, npm_folder
from bench.processes import Served, limited, serving, started

KIND = "real_clients"
CLIENTS = {
    "sdk": "MCP Python SDK 2",
    "fastmcp": "FastMCP 4",
    "node": "TypeScript SDK 2, Node",
    "agents": "OpenAI Agents SDK",
}
PEERS = ("governed_native", "low_level", "mcp_server", "plain_fastmcp")
NEGOTIATES = frozenset({"agents"})
"""Clients that always choose the newest protocol."""
ONE_AT_A_TIME = frozenset({"agents"})
"""Clients that send the next call after the answer to the last one, whatever the program does."""


def measure(
    peers: Sequence[str], rounds: int, calls: int, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> dict[Cell, list[Sample]]:
    with ExitStack() as stack:
        clients = dict(_clients(stack, log))
        servers = {peer: stack.enter_context(serving(peer, folder)) for peer in peers if peer in PEERS}
        cells = [
            Cell(KIND, peer, era, 1, in_flight, client)
            for client in clients
            for era, in_flight in conditions(client)
            for peer in servers
        ]

        def take(cell: Cell, number: int) -> Sample:
            first = 20_000_000 + (number * len(cells) + cells.index(cell)) * 10_000
            return sample(clients[cell.client], servers[cell.peer], cell, calls, first)

        return interleave(cells, rounds, take, log)


def conditions(client: str) -> Iterator[tuple[str, int]]:
    for era in ERAS:
        if era == messages.MODERN or client not in NEGOTIATES:
            yield from ((era, n) for n in IN_FLIGHT if n == 1 or client not in ONE_AT_A_TIME)


def _clients(stack: ExitStack, log: Callable[[str], None]) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    for client in CLIENTS:
        try:
            yield client, stack.enter_context(running(client))
        except NotInstalled as problem:
            log(f"{client} is left out: {problem}")


@contextmanager
def running(client: str) -> Iterator["subprocess.Popen[str]"]:
    """The process of a client."""
    command = [sys.executable, "-m", "bench.real_client", client]
    if client == "node":
        command = [shutil.which("node") or "node", str(ROOT / "bench/real_client.mjs"), str(npm_folder(*NPM_PACKAGES))]
    with started(command, ROOT) as process:
        yield process


def sample(process: "subprocess.Popen[str]", served: Served, cell: Cell, calls: int, first: int) -> Sample:
    wanted = {
        "url": f"http://127.0.0.1:{served.port}/mcp",
        "era": cell.era,
        "calls": calls,
        "in_flight": cell.in_flight,
        "first": first,
    }
    with limited(process):
        _answer(process, json.dumps(wanted))
        used = cpu_seconds(served.pid)
        answer = json.loads(_answer(process, "go"))
        used = cpu_seconds(served.pid) - used
    check(answer["sums"], calls)
    return {"wall_ms": answer["seconds"] / calls * 1000, "cpu_us": used / calls * 1e6}


def check(sums: dict[str, str], calls: int) -> None:
    if len(sums) != calls:
        raise ValueError(f"{len(sums)} answers to {calls} calls")
    for number, text in sums.items():
        if messages.sum_in_text(text) != 3 * int(number):
            raise ValueError(f"asked for {number} + {2 * int(number)}, got {text}")


def _answer(process: "subprocess.Popen[str]", line: str) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise RuntimeError(f"{process.args} ended without an answer")
    return answer
