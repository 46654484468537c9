"""Copies of a whole database, made while servers use it."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path

from sqlalchemy.engine import URL

from mcp_core.files.sqlite_file import create_file
from mcp_core.process.start_errors import CannotStart

_PASSWORD = "PGPASSWORD"  # noqa: S105 - the name of libpq's variable


def back_up(url: URL, folder: Path | None, now: datetime) -> Path:
    """Copy a database to a file that only its owner can read, in the folder of the database or another."""
    is_sqlite = url.get_backend_name() == "sqlite"
    original = Path(url.database or "postgres")
    name = f"{original.name}.{now:%Y%m%d-%H%M%S}.{'bak' if is_sqlite else 'dump'}"
    copy = (folder or (original.parent if is_sqlite else Path.cwd())) / name
    create_file(copy)
    try:
        if is_sqlite:
            _copy_sqlite(original, copy)
        else:
            _dump_postgres(url, copy)
    except BaseException:
        copy.unlink()
        raise
    return copy


def _copy_sqlite(original: Path, copy: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(f"{original.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
            found = target.execute("PRAGMA quick_check").fetchone()[0]
    except sqlite3.Error as error:
        raise CannotStart(f"{original} cannot be copied: {error}.") from error
    if found != "ok":
        raise CannotStart(f"{original} is damaged: {found}. Restore an earlier copy.")


def _dump_postgres(url: URL, copy: Path) -> None:
    """Let pg_dump write its custom format, which `pg_restore` reads. The password is not in its arguments."""
    program = shutil.which("pg_dump")
    if program is None:
        raise CannotStart("A copy of a PostgreSQL database needs pg_dump, which is not installed (postgresql-client).")
    address = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    environment = {**os.environ, _PASSWORD: url.password} if url.password else None
    command = [program, "--format=custom", f"--file={copy}", f"--dbname={address}"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    if ended.returncode:
        raise CannotStart(f"The database cannot be copied: {ended.stderr.strip() or ended.returncode}")
