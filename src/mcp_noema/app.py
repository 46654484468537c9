"""The learning server, wired: the only place that knows where the collection is kept, the time and the dice."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from importlib import import_module

from mcp_core import App, Naming, Settings
from mcp_noema.folder import Folder
from mcp_noema.model import World
from mcp_noema.settings import NoemaSettings, default_files
from mcp_noema.tools import card_changes, cards, decks, files, notes, preferences, scheduling, statistics, studying

VERSION = "1.0.0"

MODULES = (decks, notes, cards, card_changes, studying, statistics, scheduling, files, preferences)
"""Importing a module declares its tools."""

INSTRUCTIONS = (
    "Spaced-repetition learning. To study: call review-next-card, show the user the front only, wait for their answer, "
    "compare it with the back, then call review-card with their grade (again, hard, good or easy). Go on while hints "
    "suggest it. To add what they want to learn: list-decks, then create-notes. "
    "Follow agentHints.suggestedNextActions: they name the tool and its arguments."
)


def _now() -> datetime:
    return datetime.now(UTC)


# Dice for intervals, not for secrets.
REAL_WORLD = World(_now, random.random)


def build(settings: Settings, world: World = REAL_WORLD) -> App:
    """The server."""
    return App(
        "noema",
        version=VERSION,
        title="Noema",
        instructions=INSTRUCTIONS,
        tools=MODULES,
        naming=Naming("kebab"),
        format="hints",
        # Its tools are in every request of the agent.
        lean=True,
        lifespan=partial(_keep_collection, world),
        prepare_examples=_prepare_examples,
        settings=settings,
    )


@asynccontextmanager
async def _keep_collection(world: World, app: App) -> AsyncGenerator[None]:
    app.provide(World, world)
    folder = Folder(NoemaSettings.of(app.settings).files or default_files())
    app.provide(Folder, folder)
    # Loaded beside the first answers, not before them: SQLAlchemy takes a third of a second.
    opening = await asyncio.to_thread(import_module, "mcp_noema.store.opening")
    async with opening.open_store(app.settings.db) as kept:
        for of, value in kept.items():
            app.provide(of, value)
        try:
            yield
        finally:
            folder.close()


async def _prepare_examples(app: App) -> None:
    # Loaded for examples only.
    await import_module("mcp_noema.example_data").put_in_place(app)
