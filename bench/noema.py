"""The learning server in collections of up to a million cards, on SQLite and PostgreSQL; fitting, the list.

`python -m bench --only noema --write` writes docs/benchmarks-noema.md.
"""

import asyncio
import gc
import json
import random
import shutil
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench import cold_start, messages, noema_files
from bench.measure import median
from bench.noema_data import BLOCK, DECKS, DECKS_IN_TREE, Collection, blocks, user_name
from bench.noema_load import BYTES_A_CARD, POSTGRES_OPTIONS, create_users, fill
from bench.postgres import new_database, postgres
from bench.processes import started
from mcp_core import App, auth
from mcp_core.auth import Caller
from mcp_core.declare.listed import ListedTool
from mcp_noema.app import build
from mcp_noema.settings import NoemaSettings

KIND = "noema"
IN_FLIGHT = 32
NOTES = 10_000
"""The number of notes in an imported file."""
WARM_UP = 10
DATABASES = ("SQLite", "PostgreSQL")
START = [sys.executable, "-c", "from mcp_noema.main import main; main()"]
ME = auth.user(user_name(1), ("*",))
GRADES = ("good", "good", "again", "good", "hard", "good", "easy")

CollectionKey = tuple[str, str]
"""A database, and the name of the collection in it."""


class Sample(NamedTuple):
    """Milliseconds of a call: wall time, and processor time of this process."""

    wall: float
    cpu: float


@dataclass
class Measurements:
    """Everything that the page shows."""

    collections: Mapping[str, Collection]
    calls: dict[tuple[str, CollectionKey], list[Sample]] = field(default_factory=dict)
    in_flight: dict[tuple[str, CollectionKey], list[Sample]] = field(default_factory=dict)
    fits: dict[str, list[Sample]] = field(default_factory=dict)
    fitted: int = 0
    imports: dict[tuple[str, str], list[Sample]] = field(default_factory=dict)
    """By the description of a file, and the database."""
    tools: int = 0
    list_bytes: int = 0


def collections(copies: int) -> dict[str, Collection]:
    """The collections that are measured. The others are compared with the first."""
    return {
        "small": Collection("10,000 cards, 20 decks, one user"),
        "large": Collection(f"{BLOCK * copies:,} cards, 20 decks, one user", copies),
        "crowd": Collection(f"10,000 cards, 20 decks, one of {copies} such users", copies, users=copies),
        "decks": Collection("10,000 cards, 500 decks, one user", decks=500),
        "fit": Collection("10,000 reviews", reviews=10_000),
    }


STUDIED = ("small", "large", "crowd", "decks")


def measure(folder: Path, log: Callable[[str], None], *, rounds: int, quick: bool) -> Measurements:
    all_collections = collections(10 if quick else 100)
    _check_disk_space(folder, all_collections.values())
    measurements = Measurements(all_collections)
    with postgres(folder, POSTGRES_OPTIONS) as server:
        asyncio.run(_in_process(measurements, server, folder, rounds, log, repeats=1 if quick else 3))
    measurements.tools, measurements.list_bytes = _measure_list(folder)
    return measurements


def _check_disk_space(folder: Path, all_collections: Iterable[Collection]) -> None:
    needed = sum(collection.cards for collection in all_collections) * sum(BYTES_A_CARD.values())
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SystemExit(
            f"The collections need about {needed / 1e9:.0f} GB in {folder}, and {free / 1e9:.0f} GB are free. "
            "Set TMPDIR to another folder, or use --quick."
        )


async def _in_process(
    measurements: Measurements, server: str, folder: Path, rounds: int, log: Callable[[str], None], *, repeats: int
) -> None:
    urls = await _fill_databases(measurements.collections, server, folder, log)
    async with AsyncExitStack() as stack:
        apps = {
            key: await stack.enter_async_context(build(NoemaSettings(db=url, deadline=60, files=folder)))
            for key, url in urls.items()
        }
        studied = {key: app for key, app in apps.items() if key[1] in STUDIED}
        log("cards to review")
        due = {key: await _due(app, measurements.collections[key[1]].decks) for key, app in studied.items()}
        await _call_in_turn(measurements, studied, due, rounds, log)
        log(f"{IN_FLIGHT} in flight")
        await _call_concurrently(measurements, studied, due, repeats)
        log("fitting parameters")
        await _fit(measurements, {key[0]: app for key, app in apps.items() if key[1] == "fit"})
        log("importing")
        files = await _files(folder, apps["SQLite", "small"])
        await _import(measurements, {key[0]: app for key, app in apps.items() if key[1] == "empty"}, files, repeats)


async def _fill_databases(
    all_collections: Mapping[str, Collection], server: str, folder: Path, log: Callable[[str], None]
) -> dict[CollectionKey, str]:
    now = datetime.now(UTC)
    log(f"the histories of {BLOCK:,} cards")
    blocks(now)
    urls: dict[CollectionKey, str] = {}
    for name, collection in all_collections.items():
        log(f"both databases: {collection.title}")
        urls["SQLite", name] = f"sqlite:///{folder}/{name}.db"
        urls["PostgreSQL", name] = await new_database(server, name)
        for database in DATABASES:
            await create_users(urls[database, name], collection, now)
        await asyncio.gather(*(fill(urls[database, name], collection, now) for database in DATABASES))
    # Otherwise the garbage collector would walk through a million rows each time.
    blocks.cache_clear()
    gc.collect()
    gc.freeze()
    urls["SQLite", "empty"] = f"sqlite:///{folder}/empty.db"
    urls["PostgreSQL", "empty"] = await new_database(server, "empty")
    return urls


# --- calls -------------------------------------------------------------------------------------------------


async def _call(app: App, tool: str, arguments: Mapping[str, Any], caller: Caller = ME) -> Any:
    answer = await app.call(tool, arguments, caller)
    if answer.is_error:
        raise ValueError(f"{tool} {arguments}: {answer.text}")
    return answer


async def _data(app: App, tool: str, **arguments: Any) -> Any:
    return json.loads((await _call(app, tool, arguments)).text)["data"]


async def _timed(work: Awaitable[Any], calls: int = 1) -> Sample:
    wall, cpu = time.perf_counter(), time.process_time()
    await work
    return Sample(1000 * (time.perf_counter() - wall) / calls, 1000 * (time.process_time() - cpu) / calls)


async def _due(app: App, decks: int) -> list[dict[str, Any]]:
    """Reviews to make: of cards that are due, from all decks by turns."""
    by_deck: list[list[str]] = []
    # If there are many decks, only parent decks are asked; their answers include the decks inside.
    for number in range(1, decks + 1, 1 if decks == DECKS else DECKS_IN_TREE):
        queue = await _data(app, "get-due-cards", deckId=f"deck_{number}", limit=200)
        by_deck.append([card["cardId"] for card in queue["cards"] if card["state"] == "review"])
    turns = (card for turn in range(200) for deck in by_deck for card in deck[turn : turn + 1])
    return [
        {"cardId": card, "grade": GRADES[number % len(GRADES)], "timeTakenMs": 5000}
        for number, card in enumerate(turns)
    ]


CALLS: dict[str, Callable[[list[dict[str, Any]]], tuple[str, Mapping[str, Any]]]] = {
    "get-due-cards": lambda _: ("get-due-cards", {}),
    "get-due-cards, one deck": lambda _: ("get-due-cards", {"deckId": "deck_2"}),
    "review-card": lambda due: ("review-card", due.pop(0)),
}
"""The calls, made from the remaining reviews."""


async def _call_in_turn(
    measurements: Measurements,
    apps: Mapping[CollectionKey, App],
    due: Mapping[CollectionKey, list[Any]],
    rounds: int,
    log: Callable[[str], None],
) -> None:
    """Each call once in each collection, in a new order each round, so that load on the machine affects all of them."""
    for number in range(-WARM_UP, rounds):
        if number % 50 == 0:
            log(f"calls, round {number} of {rounds}")
        for title, arguments in CALLS.items():
            for key in random.Random(number).sample(list(apps), len(apps)):
                if key[1] == "decks" and number % 5:
                    continue  # slow, and without a target
                sample = await _timed(_call(apps[key], *arguments(due[key])))
                if number >= 0:
                    measurements.calls.setdefault((title, key), []).append(sample)


async def _call_concurrently(
    measurements: Measurements, apps: Mapping[CollectionKey, App], due: Mapping[CollectionKey, list[Any]], rounds: int
) -> None:
    for _ in range(rounds):
        for title, arguments in CALLS.items():
            for key, app in apps.items():
                calls = [_call(app, *arguments(due[key])) for _ in range(IN_FLIGHT)]
                measurements.in_flight.setdefault((title, key), []).append(
                    await _timed(asyncio.gather(*calls), IN_FLIGHT)
                )


async def _fit(measurements: Measurements, apps: Mapping[str, App]) -> None:
    """The first call of each loads the library, and is counted like the others."""
    for _ in range(5):
        for database, app in apps.items():
            measurements.fits.setdefault(database, []).append(await _timed(_call(app, "optimize-parameters", {})))
    measurements.fitted = (await _data(apps["SQLite"], "optimize-parameters"))["reviews"]


async def _files(folder: Path, app: App) -> dict[str, str]:
    """Two files to import, by their description."""
    await asyncio.to_thread(noema_files.write, folder / "shared.apkg", NOTES)
    total = (await _data(app, "export-anki", path="short.apkg"))["notes"]
    for start in range(total, NOTES, 500):
        more = [{"front": f"one more, {number}"} for number in range(start, min(start + 500, NOTES))]
        await _data(app, "create-notes", deckId="deck_1", notes=more)
    there = await _data(app, "export-anki", path="history.apkg")
    return {
        f"{NOTES:,} notes, exported by Anki as a shared deck": "shared.apkg",
        f"{there['notes']:,} notes with {there['reviews']:,} reviews": "history.apkg",
    }


async def _import(measurements: Measurements, apps: Mapping[str, App], files: Mapping[str, str], repeats: int) -> None:
    """Each time for a new user."""
    for number in range(repeats):
        for words, name in files.items():
            for database, app in apps.items():
                caller = auth.user(f"importer {number} of {name}", ("*",))
                sample = await _timed(_call(app, "import-anki", {"path": name}, caller))
                measurements.imports.setdefault((words, database), []).append(sample)


# --- processes ---------------------------------------------------------------------------------------------


def _measure_list(folder: Path) -> tuple[int, int]:
    """How many tools the server lists over stdio, and the bytes of what a model reads of them."""
    with started(START, folder) as process:
        answer = cold_start.converse(process, messages.request(messages.MODERN, 1, "tools/list"))
    tools = answer["result"]["tools"]
    read = [ListedTool.from_wire(tool).for_model() for tool in tools]
    return len(tools), len(json.dumps(read, separators=(",", ":"), ensure_ascii=False).encode())


# --- the page ----------------------------------------------------------------------------------------------


ABOUT_DATA = """\
In every collection about 70 % of the cards are in review, 24 % are new, 5 % are suspended.
One in twelve review cards is due.
Each card has ten reviews from the last two years, scheduled by FSRS.
The user has given 170 answers today, and is learning 50 cards.
Half of the decks have a limit of 200 reviews a day, half a limit that is never reached (9,999).
Both databases are analysed and have their default settings, except that PostgreSQL's `wal_level` is `minimal`.

Calls go through the whole pipeline in one process, one at a time, in all collections by turns.
Every review is of a different card.
Each figure is a median of {rounds} calls; with 500 decks, of a fifth of that.
Processor time is that of this process, so it does not include PostgreSQL's own work."""


def page(measurements: Measurements, made_by: str, about: str) -> str:
    rounds = len(measurements.calls["get-due-cards", (DATABASES[0], "small")])
    parts = [
        "# Benchmarks of the learning server",
        f"Made by `{made_by}`; do not edit.",
        about,
        "## Studying in large collections",
        ABOUT_DATA.format(rounds=rounds),
        *(
            part
            for name in STUDIED[1:]
            for part in (f"### {measurements.collections[name].title}", _table(_calls_table(measurements, name)))
        ),
        "There is no target for many decks: each deck has its own limits and its own place in the queue.",
        f"### {IN_FLIGHT} calls in flight",
        "Milliseconds until all calls are answered, divided by their number.\nWrites of one user are serialized.",
        _table(_in_flight_table(measurements)),
        "## Fitting parameters",
        _table(_fits_table(measurements)),
        "## Importing an Anki file",
        _table(_imports_table(measurements)),
        "## The list",
        _table(_list_table(measurements)),
    ]
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    marks = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, marks, *body))


def _verdict(value: float, most: float, shown: str) -> str:
    return f"at most {shown}: {'met' if value <= most else '**missed**'}"


def _calls_table(measurements: Measurements, name: str) -> list[list[str]]:
    rows = [["", measurements.collections["small"].title + ", ms", "here, ms", "ratio", "by processor time", "target"]]
    for database in DATABASES:
        for title in CALLS:
            small, here = (measurements.calls[title, (database, which)] for which in ("small", name))
            wall, cpu = (
                statistics.median(getattr(sample, metric) for sample in here)
                / statistics.median(getattr(sample, metric) for sample in small)
                for metric in ("wall", "cpu")
            )
            verdict = _verdict(wall, 1.5, "1.50") if name != "decks" else "none"
            times = [f"{median([sample.wall for sample in side]):.2f}" for side in (small, here)]
            rows.append([f"{database}: {title}", *times, f"{wall:.2f}", f"{cpu:.2f}", verdict])
    return rows


def _in_flight_table(measurements: Measurements) -> list[list[str]]:
    rows = [["", *(measurements.collections[name].title for name in STUDIED)]]
    for database in DATABASES:
        for title in CALLS:
            figures = [measurements.in_flight[title, (database, name)] for name in STUDIED]
            rows.append([f"{database}: {title}", *(f"{median([s.wall for s in side]):.2f}" for side in figures)])
    return rows


def _fits_table(measurements: Measurements) -> list[list[str]]:
    rows = [["optimize-parameters", "reviews", "the first call, s", "median, s", "target"]]
    for database, samples in measurements.fits.items():
        first, usual = samples[0].wall / 1000, median([sample.wall for sample in samples]) / 1000
        rows.append([database, f"{measurements.fitted:,}", f"{first:.2f}", f"{usual:.2f}", _verdict(usual, 2, "2 s")])
    return rows


def _imports_table(measurements: Measurements) -> list[list[str]]:
    rows = [["import-anki", "s", "s of processor time", "target"]]
    for (words, database), samples in measurements.imports.items():
        wall, cpu = (median([getattr(sample, metric) for sample in samples]) / 1000 for metric in ("wall", "cpu"))
        rows.append([f"{database}: {words}", f"{wall:.2f}", f"{cpu:.2f}", _verdict(wall, 10, "10 s")])
    return rows


def _list_table(measurements: Measurements) -> list[list[str]]:
    listed = f"name, description and input schema of {measurements.tools} tools, bytes"
    return [
        ["", "", "target"],
        [listed, f"{measurements.list_bytes:,}", _verdict(measurements.list_bytes, 23_000, "23,000")],
    ]
