"""The collections that the learning server is measured with are as the page describes them. No times are tested."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from bench import noema
from bench.noema import CALLS, DATABASES, STUDIED, Measurements, Sample, collections
from bench.noema_data import Collection, blocks, user_name
from bench.noema_load import create_users, fill
from mcp_core import Settings, auth
from mcp_core.db import address, open_database
from mcp_noema.app import build
from mcp_noema.model import ClockAndRandom, Preferences

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
DAY = Preferences().day_of(NOW)
SIZE = 500


def test_a_block_of_cards_is_realistic():
    active, resting = blocks(NOW, SIZE)
    for block in (active, resting):
        queues = Counter(row[4] for row in block.cards)
        assert 0.62 < queues[2] / SIZE < 0.78
        assert 0.17 < queues[0] / SIZE < 0.3
        assert 0.02 < queues[3] / SIZE < 0.08
        assert 8 * SIZE < len(block.reviews) < 13 * SIZE
        due = sum(row[4] == 2 and row[9] < DAY.ends.timestamp() for row in block.cards)
        assert 0.04 < due / SIZE < 0.12
        answered = Counter(row[1] for row in block.reviews)
        assert [row[11] for row in block.cards] == [answered[row[0]] for row in block.cards]
        assert [row[3] for row in block.reviews] == sorted(row[3] for row in block.reviews)
    # Seven cards were answered today, and three are being learned.
    today = [row for row in active.reviews if row[3] >= DAY.begins.timestamp()]
    assert len(today) == 10
    assert [row for row in resting.reviews if row[3] >= DAY.begins.timestamp()] == []


@pytest.mark.parametrize("users", [1, 3])
async def test_a_larger_collection_has_the_block_many_times_and_can_be_studied(db_url: str, users: int):
    collection = Collection("three times", 3, users, block=SIZE)
    await create_users(db_url, collection, NOW)
    await fill(db_url, collection, NOW)
    active, resting = (len(block.reviews) for block in blocks(NOW, SIZE))
    async with open_database(address(db_url, "noema")) as database:
        found = await database.read(_counted)
    assert found == {
        "cards": 3 * SIZE,
        "reviews": 3 * active if users == 3 else active + 2 * resting,
        "of nobody": 0,
        "of another user": 0,
        "users": users,
        "decks": users * collection.decks,
    }
    async with build(Settings(db=db_url), ClockAndRandom(lambda: NOW)) as app:
        answer = await app.call("get-due-cards", {"limit": 200}, auth.user(user_name(1), ("*",)))
        data = json.loads(answer.text)["data"]
        again = next(card["cardId"] for card in data["cards"] if card["state"] == "review")
        answer = await app.call("review-card", {"cardId": again, "grade": "good"}, auth.user(user_name(1), ("*",)))
        assert not answer.is_error
    assert data["remaining"]["learning"] >= 3
    assert data["remaining"]["due"] > (20 if users == 3 else 60)


def _counted(connection: sa.Connection) -> dict[str, int]:
    questions = {
        "cards": "SELECT count(*) FROM noema_cards",
        "reviews": "SELECT count(*) FROM noema_reviews",
        "of nobody": "SELECT count(*) FROM noema_reviews WHERE card_id NOT IN (SELECT id FROM noema_cards)",
        "of another user": """SELECT count(*) FROM noema_reviews r JOIN noema_cards c ON c.id = r.card_id
            JOIN noema_notes n ON n.id = c.note_id JOIN noema_decks d ON d.id = c.deck_id
            WHERE NOT (r.user_id = c.user_id AND n.user_id = c.user_id AND d.user_id = c.user_id)""",
        "users": "SELECT count(DISTINCT user_id) FROM noema_cards",
        "decks": "SELECT count(DISTINCT deck_id) FROM noema_cards",
    }
    return {name: connection.exec_driver_sql(sql).scalar_one() for name, sql in questions.items()}


def test_without_disk_space_nothing_is_measured(tmp_path: Path):
    too_many = Collection("more than any disk has", copies=10**9)
    with pytest.raises(SystemExit, match=r"need about \d+ GB .* are free\. Set TMPDIR to another folder"):
        noema._check_disk_space(tmp_path, [too_many])


def test_the_page_says_what_was_met_and_what_was_missed():
    page = noema.page(_measurements(), "make bench", "On a machine.")
    assert "| SQLite: get-due-cards | 10.00 | 16.00 | 1.60 | 1.60 | at most 1.50: **missed** |" in page
    assert "| PostgreSQL: review-card | 10.00 | 11.00 | 1.10 | 1.10 | at most 1.50: met |" in page
    assert "| SQLite | 10,000 | 3.00 | 1.00 | at most 2 s: met |" in page
    assert "| SQLite: a file | 11.00 | 1.00 | at most 10 s: **missed** |" in page
    assert "| name, description and input schema of 34 tools, bytes | 25,000 | at most 23,000: **missed** |" in page
    assert "make bench" in page
    assert "On a machine." in page


def _measurements() -> Measurements:
    takes = {"small": 10.0, "large": 16.0, "crowd": 11.0, "decks": 30.0}
    calls = {
        (title, (database, name)): [
            Sample(11.0, 5.5) if (database, name) == ("PostgreSQL", "large") else Sample(takes[name], takes[name] / 2)
        ]
        * 3
        for title in CALLS
        for database in DATABASES
        for name in STUDIED
    }
    return Measurements(
        collections(100),
        calls,
        calls,
        {database: [Sample(3000.0, 1.0), Sample(1000.0, 1.0), Sample(1000.0, 1.0)] for database in DATABASES},
        10_000,
        {("a file", "SQLite"): [Sample(11_000.0, 1000.0)]},
        34,
        25_000,
    )
