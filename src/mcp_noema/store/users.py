"""The users and their preferences, in SQL."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

from mcp_noema.model import Preferences
from mcp_noema.records import Owner
from mcp_noema.store.tables import users

NEW_OWNER = Owner(0, Preferences())
"""A user who has not written anything yet. No row has the id 0."""


def get(connection: Connection, owner: str) -> Owner:
    """The user of that name; NEW_OWNER if they never wrote anything."""
    return _fetch(connection, sa.select(users.c.id, users.c.preferences).where(users.c.name == owner))


def lock(connection: Connection, owner: str, now: datetime) -> Owner:
    """The user of that name, locked until the transaction ends, so that their writes run one after the other."""
    query = sa.select(users.c.id, users.c.preferences).where(users.c.name == owner).with_for_update()
    user = _fetch(connection, query)
    if user is not NEW_OWNER:
        return user
    insert: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    values: dict[str, Any] = {"name": owner, "preferences": {}, "created_at": now}
    # Two first calls may come at the same time.
    connection.execute(insert(users).values(values).on_conflict_do_nothing(index_elements=["name"]))
    return _fetch(connection, query)


def _fetch(connection: Connection, query: Any) -> Owner:
    row = connection.execute(query).one_or_none()
    return NEW_OWNER if row is None else Owner(row.id, _preferences(row.preferences))


def set_preference(connection: Connection, owner: str, name: str, value: Any, now: datetime) -> Owner:
    """Store one preference."""
    user = lock(connection, owner, now)
    stored = asdict(user.preferences) | {name: value}
    connection.execute(sa.update(users).where(users.c.id == user.id).values(preferences=stored))
    return Owner(user.id, _preferences(stored))


def _preferences(stored: dict[str, Any]) -> Preferences:
    known = {field.name for field in fields(Preferences)}
    return Preferences(**{name: value for name, value in stored.items() if name in known})
