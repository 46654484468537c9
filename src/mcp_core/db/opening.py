"""Opens the database that a URL names."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sqlalchemy.engine import URL

from mcp_core.db.database import Database
from mcp_core.db.sqlite import Sqlite
from mcp_core.logs.telemetry import opening_telemetry
from mcp_core.process.extras import RequiresExtra

if TYPE_CHECKING:
    from mcp_core.db.postgres import Postgres


@asynccontextmanager
async def open_database(url: URL) -> AsyncGenerator[Database]:
    """Open a database, and close it at the end."""
    database = Sqlite(url) if url.get_backend_name() == "sqlite" else _postgres(url)
    telemetry, figures = opening_telemetry(), database.waits.database_samples
    if telemetry is not None:
        telemetry.add_source(figures)
    try:
        yield database
    finally:
        if telemetry is not None:
            telemetry.remove_source(figures)
        await database.close()


def _postgres(url: URL) -> "Postgres":
    with RequiresExtra("postgres", "PostgreSQL"):
        from mcp_core.db.postgres import Postgres  # noqa: PLC0415 - 80 ms, and its driver is an extra
    return Postgres(url)
