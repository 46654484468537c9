"""Review logs written directly to the database, where calls would take long."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core.db import address, open_database
from mcp_noema.model import CardId, CardState, Preferences, Preset, Schedule
from mcp_noema.scheduling.schedule import answer
from mcp_noema.store.row_mapping import schedule_values
from mcp_noema.store.tables import cards, reviews

Log = Sequence[tuple[int, datetime]]


async def insert_logs(
    db_url: str, logs: Mapping[str, Log], preset: Preset | None = None, duration_ms: int = 5000
) -> None:
    """Insert the answers of some cards, by card id, and schedule the cards without fuzz."""
    async with open_database(address(db_url, "noema")) as database:
        await database.write(_insert, logs, preset or Preset(), duration_ms)


def _insert(connection: Connection, logs: Mapping[str, Log], preset: Preset, duration_ms: int) -> None:
    rows: list[dict[str, Any]] = []
    for name, log in logs.items():
        number = CardId(name).number
        owner = connection.execute(sa.select(cards.c.user_id).where(cards.c.id == number)).scalar_one()
        schedule, lapses = Schedule(), 0
        for rating, at in log:
            after = answer(schedule, rating, at, preset, Preferences())
            lapses += rating == 1 and schedule.state is CardState.REVIEW
            answered = {"user_id": owner, "card_id": number, "rating": rating, "duration_ms": duration_ms}
            rows.append(answered | _schedule_values(at, schedule, after))
            schedule = after
        values = schedule_values(schedule) | {"reps": len(log), "lapses": lapses, "created_at": log[0][1]}
        connection.execute(sa.update(cards).where(cards.c.id == number).values(values))
    rows.sort(key=lambda row: row["reviewed_at"])
    connection.execute(sa.insert(reviews), rows)


def _schedule_values(at: datetime, before: Schedule, after: Schedule) -> dict[str, Any]:
    return {
        "reviewed_at": at,
        "state": int(before.state),
        "interval_s": round(after.interval.total_seconds()) if after.interval else 0,
        "last_interval_s": round(before.interval.total_seconds()) if before.interval else 0,
        "stability": after.stability,
        "difficulty": after.difficulty,
    }
