"""The index of tags follows every change of a note."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest_asyncio
import sqlalchemy as sa

from mcp_core.db import Database, address, open_database
from mcp_noema.anki.package import Package, PackageCard, PackageDeck, PackageNote
from mcp_noema.model import BASIC, Schedule
from mcp_noema.store.anki import imports
from mcp_noema.store.anki.prepared_import import PreparedImport
from mcp_noema.store.row_mapping import parse_tags
from mcp_noema.store.tables import note_tags, notes, tags
from tests.mcp_noema.learner import Learner

CREATED = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest_asyncio.fixture
async def database(db_url: str) -> AsyncIterator[Database]:
    async with open_database(address(db_url, "noema")) as opened:
        yield opened


async def indexed_tags(database: Database) -> list[list[str]]:
    """The indexed tags of each note, in the order of the notes; they are the same as its own."""

    def load(connection: sa.Connection) -> list[list[str]]:
        own = connection.execute(sa.select(notes.c.id, notes.c.tags).order_by(notes.c.id)).all()
        pairs = sa.select(note_tags.c.note_id, tags.c.name).join_from(note_tags, tags, tags.c.id == note_tags.c.tag_id)
        indexed = sorted(tuple(row) for row in connection.execute(pairs))
        assert indexed == sorted((row.id, tag) for row in own for tag in set(parse_tags(row.tags)))
        return [[tag for note_id, tag in indexed if note_id == row.id] for row in own]

    return await database.read(load)


async def test_the_index_follows_notes_that_are_created_changed_and_deleted(ana: Learner, database: Database):
    deck = await ana.deck()
    first = await ana("create-note", deckId=deck, front="a", tags=["food", "Été::x"])
    await ana("create-note", deckId=deck, front="b", tags=["food"])
    assert await indexed_tags(database) == [["food", "Été::x"], ["food"]]
    await ana("update-note", noteId=first["noteId"], tags=["drink"])
    assert await indexed_tags(database) == [["drink"], ["food"]]
    assert (await ana("search-cards", query="tag:été"))["total"] == 0
    await ana("delete-note", noteId=first["noteId"], explicit_action="DELETE_NOTE")
    assert await indexed_tags(database) == [["food"]]
    await ana("delete-deck", deckId=deck, explicit_action="DELETE_DECK")
    assert await indexed_tags(database) == []


async def test_the_index_follows_a_leech_and_its_undo(ana: Learner, database: Database):
    deck = await ana.deck(leechThreshold=1)
    [card] = await ana.notes(deck)
    await ana("review-card", cardId=card, grade="easy")
    await ana("review-card", cardId=card, grade="again")
    assert await indexed_tags(database) == [["leech"]]
    assert (await ana("search-cards", query="is:leech"))["total"] == 1
    await ana("undo-review")
    assert await indexed_tags(database) == [[]]
    assert (await ana("search-cards", query="is:leech"))["total"] == 0


async def test_the_index_follows_an_import(ana: Learner, database: Database):
    await ana("list-decks")
    card = PackageCard(0, 0, 0, 1, Schedule(), 0, 0, suspended=False, buried=False, created_at=CREATED)
    for month, names in enumerate((("a", "a", "b"), ("b", "c")), start=1):
        note = PackageNote("guid", BASIC, ("x", "y"), names, CREATED, CREATED.replace(month=month))
        with PreparedImport() as prepared:
            prepared.read(Package((PackageDeck("D"),), (note,), (card,), (), CREATED), CREATED)
            await database.write(imports.write_package, "ana", prepared, None, CREATED)
        assert await indexed_tags(database) == [sorted(set(names))]
