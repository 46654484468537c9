"""A server whose tools use everything that several processes share: `shared_server.py http --db URL --redis URL`."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from typing import Any

import sqlalchemy as sa

from mcp_core import App, Confirm, RateLimit, Settings, ToolContext
from mcp_core.db import Database, address, open_database
from tests.mcp_core.declared import Number, Text, mutation, query
from toolcharter.serving import run

LIMIT = 100
TABLES = "CREATE TABLE numbers (n INTEGER); CREATE TABLE events (event TEXT)"

numbers = sa.table("numbers", sa.column("n", sa.Integer))
events = sa.table("events", sa.column("event", sa.String))


def _insert(connection: sa.Connection, table: Any, **values: Any) -> None:
    connection.execute(sa.insert(table).values(values))


def _largest(connection: sa.Connection) -> int:
    return connection.execute(sa.select(sa.func.coalesce(sa.func.max(numbers.c.n), 0))).scalar_one()


def _count(connection: sa.Connection, event: str) -> int:
    return connection.execute(
        sa.select(sa.func.count()).select_from(events).where(events.c.event == event)
    ).scalar_one()


@query()
async def where() -> int:
    """Say which process answers."""
    return os.getpid()


@query(rate_limit=RateLimit(LIMIT, 3_600_000))
async def limited() -> str:
    """Answer, but not often."""
    return "ok"


@query(cache_ttl=600, tags=["numbers"])
async def read(database: Database) -> dict[str, Any]:
    """Read the largest number, and mark the answer so that a cached one is recognized."""
    return {"largest": await database.read(_largest), "mark": secrets.token_hex(8)}


@mutation({"n": 1}, tags=["numbers"])
async def write(n: Number, database: Database) -> int:
    """Write a number."""
    await database.write(_insert, numbers, n=n)
    return n


@mutation({"key": "a", "explicit_action": "WIPE"}, confirm=Confirm("WIPE", required=True))
async def wipe(key: Text, database: Database) -> str:
    """Do what must never happen without a yes."""
    await database.write(_insert, events, event=key)
    return "wiped"


@mutation({"key": "a"}, idempotent=False)
async def note(key: Text, database: Database) -> str:
    """Do something that a retry would do again."""
    await database.write(_insert, events, event=key)
    return secrets.token_hex(8)


@query({"key": "a"})
async def count(key: Text, database: Database) -> int:
    """Say how often something has happened."""
    return await database.read(_count, key)


@mutation({"key": "a"}, response_time="slow")
async def wait(key: Text, database: Database) -> str:
    """Never answer, and keep book of being stopped."""
    await database.write(_insert, events, event=f"{key} started")
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.shield(database.write(_insert, events, event=f"{key} stopped"))
    return "never"


@query()
async def steps(context: ToolContext) -> str:
    """Report progress."""
    for step in range(3):
        await context.report_progress(step, 3)
    return "done"


@query()
async def folders(context: ToolContext) -> list[str]:
    """Return the folders that the client works in."""
    return list(await context.client_folders())


TOOLS = [where, limited, read, write, wipe, note, count, wait, steps, folders]


async def open_store(app: App) -> AsyncIterator[Database]:
    async with open_database(address(app.settings.db, "shared")) as database:
        await app.use_database(database)
        yield database


def build(settings: Settings) -> App:
    app = App("shared", version="1.0.0", format="result", tools=TOOLS, settings=settings)
    app.provide(Database, open_store)
    return app


if __name__ == "__main__":
    run.run(build)
