"""Check, back up or upgrade the databases of installed servers.

`check` compares the tables with those that this version expects, and exits with 1 if a server would not start. `backup`
copies each database to a file. `upgrade` copies each database that is not at the newest schema, and brings it there;
stop the servers first. The settings of a server name its database, as at its start. A copy of a SQLite database is one
itself; pg_restore reads that of a PostgreSQL database.
"""

import argparse
import asyncio
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib.metadata import EntryPoint
from pathlib import Path

from mcp_core.db import open_database
from mcp_core.db.backup import back_up
from mcp_core.db.migrations import SchemaState
from mcp_core.foreign.terminal import escape_invisible, print_text
from mcp_core.process.start_errors import CannotStart
from mcp_core.settings.model import Settings
from mcp_core.settings.sources import resolve_settings
from toolcharter.commands import UsageError
from toolcharter.local import targets
from toolcharter.local.databases import DatabaseStore, migrations_of, stores

WOULD_NOT_START = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s check | backup | upgrade [options] [SERVER ...]"
    parser.add_argument("action", choices=("check", "backup", "upgrade"), help="what to do")
    parser.add_argument(
        "server_names", nargs="*", metavar="SERVER", help="installed servers; default: all that store data"
    )
    parser.add_argument("--db", metavar="URL", help="the database, as the server has it")
    parser.add_argument(
        "--audit", metavar="URL", help="the database of the audit trail, as the server has it as --audit"
    )
    parser.add_argument("--settings-file", metavar="FILE", help="the settings of the servers")
    parser.add_argument("--to", metavar="FOLDER", type=Path, help="where copies are written; default: beside the file")


def run(options: argparse.Namespace) -> int:
    """Carry out the action."""
    found = list(_stores(options))
    if options.action == "check":
        return asyncio.run(_check(found))
    if options.action == "backup":
        for store in _databases(found):
            _copy(store, options.to)
    else:
        asyncio.run(_upgrade(found, options.to))
    return os.EX_OK


def _stores(options: argparse.Namespace) -> Iterator[DatabaseStore]:
    for entry in _entries(options.server_names):
        settings = resolve_settings(options, Settings, entry.name).settings
        for store in stores(entry, settings):
            if store.exists():
                yield store
            elif store.name == entry.name:
                print_text(f"{store.name}: no database yet ({_location(store)})")


def _entries(names: Sequence[str]) -> list[EntryPoint]:
    known = targets.known()
    if unknown := [name for name in names if name not in known]:
        raise UsageError(targets.not_installed(unknown[0], "none for all"))
    if without := [name for name in names if migrations_of(known[name]) is None]:
        raise UsageError(f"The server {without[0]!r} has no database.")
    return [known[name] for name in names or targets.available() if migrations_of(known[name]) is not None]


async def _check(found: Sequence[DatabaseStore]) -> int:
    code = os.EX_OK
    for store in found:
        try:
            state = await _state(store)
        except CannotStart as error:
            print_text(f"{store.name}: {escape_invisible(str(error))}")
            code = WOULD_NOT_START
            continue
        if (refusal := store.migrations.refusal(state)) is not None:
            print_text(f"{store.name}: {escape_invisible(refusal)}\n  {_location(store)}")
            code = WOULD_NOT_START
        else:
            print_text(f"{store.name}: {_words(store, state)} ({_location(store)})")
    return code


def _words(store: DatabaseStore, state: SchemaState) -> str:
    newest = store.migrations.names[-1]
    if state.migration == newest:
        return f"as expected, at {newest}"
    return f"at {state.migration}; a start brings it to {newest}" if state.lines else "no tables yet"


async def _upgrade(found: Sequence[DatabaseStore], folder: Path | None) -> None:
    copied: set[str] = set()
    for store in found:
        state = await _state(store)
        if not state.lines or (state.migration == store.migrations.names[-1] and not state.difference):
            print_text(f"{store.name}: {_words(store, state)} ({_location(store)})")
            continue
        if (location := _location(store)) not in copied:
            _copy(store, folder)
            copied.add(location)
        async with open_database(store.url) as database:
            await store.migrations.upgrade(database)
        print_text(f"{store.name}: upgraded to {store.migrations.names[-1]}")


async def _state(store: DatabaseStore) -> SchemaState:
    async with open_database(store.url) as database:
        return await store.migrations.state(database)


def _databases(found: Sequence[DatabaseStore]) -> list[DatabaseStore]:
    """One store of each database."""
    return list({_location(store): store for store in reversed(found)}.values())[::-1]


def _copy(store: DatabaseStore, folder: Path | None) -> None:
    print_text(f"{store.name}: copied to {back_up(store.url, folder, datetime.now().astimezone())}")


def _location(store: DatabaseStore) -> str:
    return store.url.render_as_string(hide_password=True)
