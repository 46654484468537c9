"""The users and their preferences, in SQL."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

from mcp_noema.model import Preferences
from mcp_noema.repositories import User
from mcp_noema.store.tables import users
from toolcharter.db import Database

NEW_USER = User(0, Preferences())
"""A user who has not written anything yet. No row has the id 0."""


class SqlUsers:
    """The users in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, owner: str) -> User:
        return await self._database.read(get, owner)

    async def set_preference(self, owner: str, name: str, value: Any, now: datetime) -> User:
        return await self._database.write(_set_preference, owner, name, value, now)


def get(connection: Connection, owner: str) -> User:
    """The user of that name; NEW_USER if they never wrote anything."""
    return _fetch(connection, sa.select(users.c.id, users.c.preferences).where(users.c.name == owner))


def lock(connection: Connection, owner: str, now: datetime) -> User:
    """The user of that name, locked until the transaction ends, so that their writes run one after the other."""
    query = sa.select(users.c.id, users.c.preferences).where(users.c.name == owner).with_for_update()
    user = _fetch(connection, query)
    if user is not NEW_USER:
        return user
    insert: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    values: dict[str, Any] = {"name": owner, "preferences": {}, "created_at": now}
    # Two first calls may come at the same time.
    connection.execute(insert(users).values(values).on_conflict_do_nothing(index_elements=["name"]))
    return _fetch(connection, query)


def _fetch(connection: Connection, query: Any) -> User:
    row = connection.execute(query).one_or_none()
    return NEW_USER if row is None else User(row.id, _preferences(row.preferences))


def _set_preference(connection: Connection, owner: str, name: str, value: Any, now: datetime) -> User:
    user = lock(connection, owner, now)
    stored = asdict(user.preferences) | {name: value}
    connection.execute(sa.update(users).where(users.c.id == user.id).values(preferences=stored))
    return User(user.id, _preferences(stored))


def _preferences(stored: dict[str, Any]) -> Preferences:
    known = {field.name for field in fields(Preferences)}
    return Preferences(**{name: value for name, value in stored.items() if name in known})
