"""More decks than a statement may have parameters: 32,766 in SQLite and in PostgreSQL, here fewer."""

import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event

from mcp_noema.app import build
from mcp_noema.model import ClockAndRandom
from mcp_noema.settings import NoemaSettings
from mcp_noema.store import Store, conditions
from mcp_noema.store.tables import cards, decks
from tests.mcp_noema.learner import Clock, Learner

DECKS, MAX_PARAMETERS = 400, 300


@pytest.fixture
def few_parameters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def limit(connection: sqlite3.Connection, _: Any) -> None:
        connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, MAX_PARAMETERS)

    monkeypatch.setattr(conditions, "MAX_BOUND_IDS", 200)
    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)


@pytest_asyncio.fixture
async def learner(few_parameters: None, sqlite_collection: Path, tmp_path: Path) -> AsyncIterator[Learner]:
    clock = Clock()
    copy = shutil.copy(sqlite_collection, tmp_path / "noema.db")
    settings = NoemaSettings(db=f"sqlite:///{copy}", deadline=60, files=tmp_path)
    async with build(settings, ClockAndRandom(clock)) as app:
        ana = Learner(app, clock, "ana")
        outer = await ana.deck("Outer")
        for card in await ana.notes(outer, 3):
            await ana.answers(card, "good", "good")

        def add_decks(connection: Connection) -> None:
            user_id, created_at = connection.execute(sa.select(decks.c.user_id, decks.c.created_at)).one()
            names = [f"Outer::{number}" for number in range(DECKS)]
            values = {"user_id": user_id, "description": "", "preset": {}, "created_at": created_at}
            connection.execute(sa.insert(decks), [values | {"name": name, "name_key": name.lower()} for name in names])
            last = sa.select(sa.func.max(decks.c.id)).scalar_subquery()
            connection.execute(sa.update(cards).where(cards.c.id > 1).values(deck_id=last))

        await app.provided(Store).write(add_decks)
        yield ana


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list-decks", {}),
        ("get-deck", {}),
        ("get-due-cards", {}),
        ("review-next-card", {}),
        ("predict-retention", {}),
        ("get-progress", {}),
        ("get-deck-stats", {}),
        ("get-review-history", {}),
        ("plan-workload", {"days": 7}),
        ("preview-reschedule", {}),
        ("export-anki", {"path": "x.apkg"}),
        ("delete-deck", {"explicit_action": "DELETE_DECK"}),
    ],
)
async def test_a_deck_may_have_more_subdecks_than_a_statement_has_parameters(learner: Learner, tool, arguments):
    deck = {} if tool == "list-decks" else {"deckId": "deck_1"}
    assert await learner(tool, **deck, **arguments)


@pytest.mark.parametrize("tool", ["list-decks", "get-due-cards", "get-progress", "plan-workload"])
async def test_so_may_a_collection(learner: Learner, tool):
    assert await learner(tool)
