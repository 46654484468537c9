"""The learning server, wired: the only place that knows the database, the clock and the dice."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_noema.model import ClockAndRandom, roll
from mcp_noema.settings import NoemaSettings, default_files
from mcp_noema.store import Store
from mcp_noema.tools import card_changes, cards, decks, files, notes, preferences, scheduling, statistics, studying
from toolcharter import App, Naming
from toolcharter.declarations import ResponseTime
from toolcharter.files import Folder

if TYPE_CHECKING:
    from toolcharter.db import Database

VERSION = "1.0.0"
SKILLS = Path(__file__).parent / "skills"
DESCRIPTION = "Spaced-repetition learning through your agent."

MODULES = (decks, notes, cards, card_changes, studying, statistics, scheduling, files, preferences)
"""Importing a module declares its tools."""

DEADLINES: dict[ResponseTime, float] = {"fast": 10.0, "medium": 60.0, "slow": 120.0}
"""In seconds. A call that usually takes 20 ms may wait for one that writes."""

INSTRUCTIONS = (
    "Spaced-repetition learning. To study: call review-next-card, show the user the front only, wait for their answer, "
    "compare it with the back, then call review-card with their grade (again, hard, good or easy) and next true, which "
    "returns the next card. Continue while the hints suggest it. To add what they want to learn: list-decks, then "
    "create-notes. "
    "Follow agentHints.suggestedNextActions: they name the tool and its arguments."
)


def _now() -> datetime:
    return datetime.now(UTC)


REAL_CLOCK = ClockAndRandom(_now, roll)


def build(settings: NoemaSettings, clock: ClockAndRandom = REAL_CLOCK) -> App:
    """Make the server. A test passes its own clock and dice."""
    app = App(
        "noema",
        strict=True,
        version=VERSION,
        title="Noema",
        description=DESCRIPTION,
        instructions=INSTRUCTIONS,
        tools=MODULES,
        naming=Naming("kebab"),
        format="hints",
        hints=NoemaSettings.of(settings).hints,
        deadlines=DEADLINES,
        prepare_examples=_create_example_data,
        settings=settings,
        skills=SKILLS,
    )
    app.provide(ClockAndRandom, clock)
    app.provide(Folder, partial(_open_folder, settings))
    app.provide(Store, _open_store)
    return app


def _open_folder(settings: NoemaSettings) -> Generator[Folder]:
    folder = Folder(NoemaSettings.of(settings).files or default_files(), kind="Anki file", example="french.apkg")
    try:
        yield folder
    finally:
        folder.close()


async def _open_store(app: App) -> AsyncGenerator[Store]:
    # In threads, so that the server answers while SQLAlchemy is imported.
    opening = await asyncio.to_thread(_open_database, app.settings.db)
    async with opening as database:
        await app.use_database(database)
        yield await asyncio.to_thread(Store, database)


def _open_database(url: str | None) -> "AbstractAsyncContextManager[Database]":
    from mcp_noema.store.opening import open_migrated  # noqa: PLC0415 - 211 ms, most of it SQLAlchemy

    return open_migrated(url)


async def _create_example_data(app: App) -> None:
    from mcp_noema.example_data import create_example_data  # noqa: PLC0415 - 211 ms, most of it SQLAlchemy

    await create_example_data(app)
