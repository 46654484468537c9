"""The learning server, wired: the only place that knows the database, the clock and the dice."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from mcp_noema.model import Dice, World, roll
from mcp_noema.repositories import REPOSITORIES, Collection
from mcp_noema.settings import NoemaSettings, default_files
from mcp_noema.tools import card_changes, cards, decks, files, notes, preferences, scheduling, statistics, studying
from toolcharter import App, Naming
from toolcharter.declarations import ResponseTime
from toolcharter.files import Folder

VERSION = "1.0.0"
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


REAL_WORLD = World(_now, roll)


def build(settings: NoemaSettings, world: World = REAL_WORLD) -> App:
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
    )
    app.provide(World, world)
    app.provide(Folder, partial(_open_folder, settings))
    app.provide(Collection, _open_collection)
    for repository in REPOSITORIES:
        app.provide(repository, partial(_repository, repository))
    return app


def _open_folder(settings: NoemaSettings) -> Generator[Folder]:
    folder = Folder(NoemaSettings.of(settings).files or default_files(), kind="Anki file", example="french.apkg")
    try:
        yield folder
    finally:
        folder.close()


async def _open_collection(app: App, world: World) -> AsyncGenerator[Collection]:
    # In a thread, so that the server answers while SQLAlchemy is imported.
    store = await asyncio.to_thread(_store, app.settings.db, world.dice)
    async with store as collection:
        await app.use_database(collection.database)
        yield collection


def _repository(of: type[Any], collection: Collection) -> Any:
    return collection.repositories[of]


def _store(url: str | None, dice: Dice | None) -> AbstractAsyncContextManager[Collection]:
    from mcp_noema.store.collection import open_collection  # noqa: PLC0415 - 211 ms, most of it SQLAlchemy

    return open_collection(url, dice)


async def _create_example_data(app: App) -> None:
    from mcp_noema.example_data import create_example_data  # noqa: PLC0415 - 211 ms, most of it SQLAlchemy

    await create_example_data(app)
