"""What a governor survives: `python -m bench --only govern-faults`.

kills      its upstream is killed with -9 in the middle of 1,000 calls, several times: each call gets an answer or an
           error that says why, and the next ones succeed
sessions   10,000 clients open a session, call a tool and close it: no process, file or memory is left
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench import load, messages
from bench.govern_proxies import TINY, governor
from bench.processes import Served

KIND = "govern-faults"
KILLS, CALLS, IN_FLIGHT = 5, 1_000, 32
SESSIONS, WARM_UP = 10_000, 1_000
MAX_GROWTH = 0.05
PATIENCE = 20.0
RECORD = "calls.db"
Log = Callable[[str], None]


@dataclass
class Killed:
    """How the calls ended during which an upstream was killed."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    failed_after: int = 0
    """Calls that failed although the upstream had been started again."""

    @property
    def is_clean(self) -> bool:
        unexpected = self.outcomes.keys() - {"answered", "told that the server ended"}
        return not unexpected and not self.failed_after and self.outcomes.total() == KILLS * CALLS


@dataclass(frozen=True)
class Left:
    """What a process holds."""

    processes: int
    files: int
    megabytes: float


@dataclass
class Faults:
    killed: Killed
    before: Left
    after: Left

    @property
    def is_clean(self) -> bool:
        same = (self.before.processes, self.before.files) == (self.after.processes, self.after.files)
        return self.killed.is_clean and same and self.after.megabytes <= self.before.megabytes * (1 + MAX_GROWTH)


def measure(sessions: int, folder: Path, log: Log) -> Faults:
    with governor({"one": {"command": TINY, "prefix": ""}}, folder) as served:
        asyncio.run(_call(served.port, range(1)))
        log(f"{KILLS} kills in the middle of {CALLS:,} calls")
        killed = asyncio.run(kill_upstreams(served))
        log(f"{sessions:,} sessions")
        asyncio.run(open_and_close(served.port, WARM_UP))
        before = left(served.pid)
        asyncio.run(open_and_close(served.port, sessions))
        return Faults(killed, before, left(served.pid))


async def kill_upstreams(served: Served) -> Killed:
    killed = Killed()
    for number in range(KILLS):
        calls = asyncio.create_task(_call(served.port, range(number * CALLS, (number + 1) * CALLS), killed.outcomes))
        while killed.outcomes.total() < number * CALLS + CALLS // 2:  # noqa: ASYNC110 - calls end one by one
            await asyncio.sleep(0.001)
        ended = list(upstreams(served.pid))
        for process in ended:
            process.kill()
        await calls
        # If all calls were answered before the kill, the governor may not know of it yet.
        await asyncio.to_thread(psutil.wait_procs, ended, PATIENCE)
        after = Counter[str]()
        await _call(served.port, range(10), after)
        killed.failed_after += after.total() - after["answered"]
    return killed


def upstreams(pid: int) -> Iterator[psutil.Process]:
    for process in psutil.Process(pid).children():
        if TINY[-1] in process.cmdline():
            yield process


async def _call(port: int, numbers: range, outcomes: Counter[str] | None = None) -> None:
    waiting, counted = iter(numbers), Counter[str]() if outcomes is None else outcomes

    async def converse(wire: load.Wire) -> None:
        for number in waiting:
            counted[_outcome(number, await wire.ask(*messages.post_sum(port, number)))] += 1
        wire.close()

    await asyncio.gather(*[converse(await load.connect(port)) for _ in range(min(IN_FLIGHT, len(numbers)))])


def _outcome(number: int, response: bytes) -> str:
    answer = load.body(response)
    if answer["id"] != number:
        return "the answer of another call"
    result = answer.get("result", {})
    if not result.get("isError"):
        return "answered" if messages.sum_in(answer) == 3 * number else "a wrong sum"
    told = json.dumps(result)
    ended = ("was killed by signal 9", "closed its input", "closed its output")
    return (
        "told that the server ended"
        if any(words in told for words in ended)
        else f"another error: {result.get('content', [{}])[0].get('text', '')[:60]}"
    )


async def open_and_close(port: int, sessions: int) -> None:
    waiting = iter(range(sessions))

    async def client() -> None:
        for number in waiting:
            session = await load.open_session(port)
            wire = await load.connect(port)
            request = messages.post_sum(port, number, messages.LEGACY, session)
            load.check([(number, await wire.ask(*request))])
            wire.close()
            if session is not None:
                await load.close_session(port, session)

    await asyncio.gather(*(client() for _ in range(IN_FLIGHT)))


def left(pid: int) -> Left:
    process = psutil.Process(pid)
    give_up = time.monotonic() + PATIENCE
    # The clients have closed their connections; the server may be about to.
    while time.monotonic() < give_up and any(one.raddr for one in process.net_connections("tcp")):
        time.sleep(0.05)
    # The record of recent calls is opened a moment after the first call, which may be now.
    record = sum(Path(file.path).name.startswith(RECORD) for file in process.open_files())
    return Left(len(process.children(recursive=True)), process.num_fds() - record, process.memory_info().rss / 1e6)


def page(faults: Faults) -> str:
    lines = ["| | before | after |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {getattr(faults.before, name):.0f} | {getattr(faults.after, name):.0f} |"
        for name in ("processes", "files", "megabytes")
    ]
    ended = ", ".join(f"{count:,} {outcome}" for outcome, count in faults.killed.outcomes.most_common())
    return "\n".join(
        [
            f"{KILLS} kills, {KILLS * CALLS:,} calls: {ended}; {faults.killed.failed_after} failed afterwards.",
            "",
            *lines,
        ]
    )
