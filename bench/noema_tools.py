"""Every tool of the learning server in a collection of 200,000 cards and 2 million reviews: time and memory.

`python -m bench --only noema-tools --write` writes docs/benchmarks-noema-tools.md. Each call runs in a new process.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench.contenders import ROOT
from bench.noema_data import Collection, user_name
from bench.noema_load import create_users, fill
from mcp_core import auth
from mcp_core.calling.records import Request
from mcp_noema.app import build
from mcp_noema.settings import NoemaSettings

KIND = "noema-tools"
MAX_SECONDS, MAX_MEGABYTES, MAX_MEGABYTES_OF_LONG_CALLS = 2.0, 150, 300
TIMEOUT_S = 900


class Call(NamedTuple):
    """A call to measure. `writes`: on a copy of the database. `long`: without a bound on its time.

    `empty`: in a database of its own, without cards.
    """

    tool: str
    arguments: dict[str, Any]
    writes: bool = False
    long: bool = False
    empty: bool = False


CALLS = (
    Call("list-decks", {}),
    Call("get-deck", {"deckId": "deck_1"}),
    Call("get-due-cards", {"limit": 200}),
    Call("review-next-card", {}),
    Call("review-card", {"cardId": "card_100000", "grade": "good", "next": True}, writes=True),
    Call("get-card", {"cardId": "card_100000"}),
    Call("create-note", {"deckId": "deck_1", "front": "one more"}, writes=True),
    Call("search-cards", {"query": ""}),
    Call("search-cards", {"query": "tag:bar -tag:lus"}),
    Call("search-cards", {"query": "is:due", "sortBy": "due"}),
    Call("search-cards", {"query": "front:what*"}),
    Call("search-cards", {"query": "rated:30"}),
    Call("search-cards", {"query": "prop:ivl>10", "sortBy": "stability"}),
    Call("suspend-cards", {"query": "deck:*"}, writes=True),
    Call("bury-cards", {"query": "deck:*"}, writes=True),
    Call("set-due-date", {"query": "deck:*", "days": 3, "explicit_action": "SET_DUE_DATE"}, writes=True),
    Call("reset-cards", {"query": "deck:*", "explicit_action": "RESET_CARDS"}, writes=True),
    Call("predict-retention", {}),
    Call("get-progress", {"days": 90}),
    Call("get-progress", {"days": 90, "deckId": "deck_1"}),
    Call("get-deck-stats", {"deckId": "deck_1"}),
    Call("get-review-history", {"deckId": "deck_2", "limit": 100}),
    Call("plan-workload", {}, long=True),
    Call("optimize-parameters", {}, long=True),
    Call("preview-reschedule", {"deckId": "deck_1"}, long=True),
    Call("export-anki", {"path": "all.apkg", "overwrite": True}, long=True),
    Call("import-anki", {"path": "all.apkg"}, long=True, empty=True),
)


@dataclass(frozen=True)
class Figures:
    """Seconds, and the megabytes of the process before the call and at most."""

    wall: float
    cpu: float
    before: float
    peak: float


def measure(folder: Path, log: Callable[[str], None], *, quick: bool) -> dict[int, Figures]:
    """The figures of each call, by its index."""
    collection = Collection("", 2 if quick else 20)
    database, copy = folder / "noema.db", folder / "copy.db"
    log(f"{collection.cards:,} cards")
    asyncio.run(_fill(f"sqlite:///{database}", collection))
    figures: dict[int, Figures] = {}
    for index, call in enumerate(CALLS):
        log(f"{call.tool} {json.dumps(call.arguments)}")
        if call.writes:
            shutil.copy(database, copy)
        used = folder / "empty.db" if call.empty else copy if call.writes else database
        figures[index] = _in_new_process(used, index)
    return figures


async def _fill(url: str, collection: Collection) -> None:
    now = datetime.now(UTC)
    await create_users(url, collection, now)
    await fill(url, collection, now)


def _in_new_process(database: Path, index: int) -> Figures:
    command = [sys.executable, "-m", "bench.noema_tools", str(database), str(index)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return Figures(**json.loads(done.stdout))


async def _measure_call(database: Path, call: Call) -> Figures:
    settings = NoemaSettings(db=f"sqlite:///{database}", deadline=TIMEOUT_S, files=database.parent)
    me = auth.user(user_name(1), ("*",))
    async with build(settings) as app:
        await app.call("list-decks", {"limit": 1}, me)
        before = _memory("VmRSS")
        _reset_peak_memory()
        wall, cpu = time.perf_counter(), time.process_time()
        answer = await app.answer(Request(call.tool, call.arguments, me))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if answer.is_error:
        raise SystemExit(f"{call.tool} {call.arguments}: {answer.text}")
    return Figures(wall, cpu, before, _memory("VmHWM"))


def _reset_peak_memory() -> None:
    """From now on, VmHWM is the highest memory since this moment."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _memory(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


def page(figures: dict[int, Figures], made_by: str, machine: str) -> str:
    rows = [_row(CALLS[index], each) for index, each in figures.items()]
    return f"""# Every tool in a large collection

Made by `{made_by}`; do not edit.

{machine}

200,000 cards in 20 decks and about 2 million reviews of one user, in SQLite.
Each call is the first of its process, apart from one that opens the database.
The targets are {MAX_SECONDS:g} s of processor time, and {MAX_MEGABYTES} MB for the whole process.
Calls that read or write a whole deck report their progress; their only target is {MAX_MEGABYTES_OF_LONG_CALLS} MB.
Wall time depends on what else the machine does.

| call | s of processor time | s | MB before | MB at most | target |
| --- | ---: | ---: | ---: | ---: | --- |
{chr(10).join(rows)}

`import-anki` reads the file that `export-anki` wrote into an empty collection.
"""


def _row(call: Call, figures: Figures) -> str:
    if call.long:
        is_met = figures.peak <= MAX_MEGABYTES_OF_LONG_CALLS
    else:
        is_met = figures.cpu <= MAX_SECONDS and figures.peak <= MAX_MEGABYTES
    shown = {name: value for name, value in call.arguments.items() if name not in ("explicit_action", "overwrite")}
    arguments = f" `{json.dumps(shown)}`" if shown else ""
    times, memory = f"{figures.cpu:.2f} | {figures.wall:.2f}", f"{figures.before:.0f} | {figures.peak:.0f}"
    return f"| {call.tool}{arguments} | {times} | {memory} | {'met' if is_met else '**missed**'} |"


if __name__ == "__main__":
    measured = asyncio.run(_measure_call(Path(sys.argv[1]), CALLS[int(sys.argv[2])]))
    print(json.dumps(vars(measured)))
