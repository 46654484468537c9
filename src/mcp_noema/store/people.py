"""Who learns, and what they have told the server about it."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

from mcp_core.db import Database
from mcp_noema.model import Preferences
from mcp_noema.repositories import Person
from mcp_noema.store.tables import users

NOBODY = Person(0, Preferences())
"""Who has not written anything yet. No row has this id."""


class SqlPeople:
    """Users in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, owner: str) -> Person:
        return await self._database.read(find, owner)

    async def set_preference(self, owner: str, name: str, value: Any, now: datetime) -> Person:
        return await self._database.write(_set_preference, owner, name, value, now)


def find(connection: Connection, owner: str) -> Person:
    """A user who reads, and who may never have written anything."""
    return _person(connection, sa.select(users.c.id, users.c.preferences).where(users.c.name == owner))


def writing(connection: Connection, owner: str, now: datetime) -> Person:
    """A user who is about to write: their writes take turns, so that each sees what the one before left."""
    mine = sa.select(users.c.id, users.c.preferences).where(users.c.name == owner).with_for_update()
    found = _person(connection, mine)
    if found is not NOBODY:
        return found
    insert: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    values: dict[str, Any] = {"name": owner, "preferences": {}, "created_at": now}
    # Two first calls may come at once.
    connection.execute(insert(users).values(values).on_conflict_do_nothing(index_elements=["name"]))
    return _person(connection, mine)


def _person(connection: Connection, mine: Any) -> Person:
    row = connection.execute(mine).one_or_none()
    return NOBODY if row is None else Person(row.id, _preferences(row.preferences))


def _set_preference(connection: Connection, owner: str, name: str, value: Any, now: datetime) -> Person:
    person = writing(connection, owner, now)
    stored = asdict(person.preferences) | {name: value}
    connection.execute(sa.update(users).where(users.c.id == person.id).values(preferences=stored))
    return Person(person.id, _preferences(stored))


def _preferences(stored: dict[str, Any]) -> Preferences:
    known = {field.name for field in fields(Preferences)}
    return Preferences(**{name: value for name, value in stored.items() if name in known})
