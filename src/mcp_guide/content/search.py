"""Full text search over all documents of a tree. Import it when it is first needed: SQLite takes its time.

The index holds a copy of the words. On each question the folders and the stamps of files that may have changed are
compared with what the index holds, and only what differs is read again. A broken index is made anew.
"""

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from mcp_core.errors import InvalidArguments, ToolError, Unavailable
from mcp_guide.content.documents import Document
from mcp_guide.content.files import Stamp, is_settled, stamp
from mcp_guide.content.folder_watch import Changes
from mcp_guide.content.folders import Listing
from mcp_guide.content.patterns import stem
from mcp_guide.content.ranking import Asked, Hit, SearchPage
from mcp_guide.content.search_query import Query, parse_query
from mcp_guide.content.tree import DocumentTree

Result = TypeVar("Result")

__all__ = ["Hit", "Search", "SearchPage"]

VERSION = 1
MOST_HITS = 200
_PATIENCE = 10.0  # seconds, while another process writes
_NEVER = ""
_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_OTHER_TROUBLE = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
    | {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT}
)
_COLUMNS = "name, title, tags, description, body"
_TOKENS = "unicode61 remove_diacritics 2"  # upper and lower case, é and e, are the same
_SCHEMA = (
    "CREATE TABLE about (root TEXT NOT NULL)",
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT UNIQUE, stamp TEXT NOT NULL, title TEXT NOT NULL)",
    f"CREATE VIRTUAL TABLE words USING fts5({_COLUMNS}, tokenize = '{_TOKENS}', prefix = '2 3')",
    "INSERT INTO words(words, rank) VALUES ('rank', 'bm25(5.0, 10.0, 6.0, 3.0, 1.0)')",
    f"PRAGMA user_version = {VERSION}",
)


@dataclass(slots=True)
class _Folder:
    """What the index holds of a folder, and whether the system tells of changes in it."""

    listing: Listing | None = None
    stamps: dict[str, str] = field(default_factory=dict[str, str])
    is_watched: bool = False


class Search:
    """The words of a tree's documents. Any thread may ask; one at a time is answered."""

    def __init__(self, tree: DocumentTree, database: Path | None = None) -> None:
        self._tree = tree
        self._database = database
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._changes = Changes()
        self._folders: dict[str, _Folder] = {}
        self._data_version = -1

    def find(self, query: str, folders: Sequence[str] | None = None, limit: int = 10, offset: int = 0) -> SearchPage:
        """The documents with all the words, the best first; where none has all, those with any.

        `folders` are where to look, everywhere by default. Raises InvalidArguments.
        """
        parsed = parse_query(query)
        if not 1 <= limit <= MOST_HITS or offset < 0:
            raise InvalidArguments(
                f"limit is {limit} and offset {offset}. Give 1 to {MOST_HITS} and 0 or more.",
                fields=("limit", "offset"),
            )
        return self._mended(lambda: self._answer(parsed, folders, limit, offset))

    def refresh(self) -> None:
        """Bring the index up to date now: the first time takes about half a second for each thousand documents."""
        self._mended(lambda: self._refresh(self._connected()))

    def close(self) -> None:
        """Let go of the index."""
        with self._lock:
            self._disconnect()
            self._changes.close()

    def _answer(self, query: Query, folders: Sequence[str] | None, limit: int, offset: int) -> SearchPage:
        connection = self._connected()
        self._refresh(connection)
        return Asked(connection, folders).answer(query, limit, offset)

    def _mended(self, work: Callable[[], Result]) -> Result:
        """Do the work, on a new index if this one is broken."""
        with self._lock:
            try:
                return work()
            except sqlite3.DatabaseError as error:
                self._give_up_unless_broken(error)
            self._remove()
            try:
                return work()
            except sqlite3.Error as error:
                raise Unavailable(f"The documents cannot be searched: {error}.") from error

    # --- keeping up ----------------------------------------------------------------------------------------

    def _refresh(self, connection: sqlite3.Connection) -> None:
        if (version := connection.execute("PRAGMA data_version").fetchone()[0]) != self._data_version:
            self._load(connection)  # another process has written
            self._data_version = version
        written = self._changes.written()
        seen = dict(self._tree.walk())
        changed = [
            (path, listing)
            for path, listing in seen.items()
            if (known := self._folders.get(path)) is None
            or known.listing is not listing
            or not known.is_watched
            or written is None
            or path in written
        ]
        renewed = [(path, self._look(path, listing)) for path, listing in changed]
        gone = [path for path in self._folders if path not in seen]
        if gone or any(_differs(fresh.stamps, self._known(path)) for path, fresh in renewed):
            with _transaction(connection):
                for path, fresh in renewed:
                    self._index(connection, path, fresh)
                for path in gone:
                    self._drop(connection, path, self._folders[path].stamps)
        self._folders.update(renewed)
        for path in gone:
            del self._folders[path]

    def _known(self, folder: str) -> dict[str, str]:
        known = self._folders.get(folder)
        return known.stamps if known else {}

    def _look(self, folder: str, listing: Listing) -> _Folder:
        """The stamps of a folder's files. It is watched before that, so that nothing falls in between."""
        path = os.path.join(self._tree.root, folder) if folder else self._tree.root  # noqa: PTH118 - in a hot loop
        is_watched = self._changes.watch(folder, path, listing.stamp.device)
        stamps: dict[str, str] = {}
        now = time.time_ns()
        for name, status in self._tree.statuses(folder, listing):
            stamps[name] = _written(stamp(status)) if is_settled(status, now) else _NEVER
            is_watched = is_watched and status.st_nlink == 1  # a change by its other name would not be told
        return _Folder(listing, stamps, is_watched)

    def _index(self, connection: sqlite3.Connection, folder: str, fresh: _Folder) -> None:
        known = self._known(folder)
        self._drop(connection, folder, known.keys() - fresh.stamps.keys())
        for name, mark in list(fresh.stamps.items()):
            if mark == _NEVER or known.get(name) != mark:
                path = f"{folder}/{name}" if folder else name
                try:
                    document = self._tree.read(path)
                except ToolError:  # gone meanwhile, or closed to us
                    self._drop(connection, folder, (name,))
                    fresh.stamps[name] = _NEVER
                else:
                    _put(connection, document, mark)

    def _drop(
        self, connection: sqlite3.Connection, folder: str, names: "Sequence[str] | set[str] | dict[str, str]"
    ) -> None:
        for name in names:
            path = f"{folder}/{name}" if folder else name
            connection.execute("DELETE FROM words WHERE rowid = (SELECT id FROM documents WHERE path = ?)", (path,))
            connection.execute("DELETE FROM documents WHERE path = ?", (path,))

    def _load(self, connection: sqlite3.Connection) -> None:
        """What the index holds, by folder. Nothing counts as looked at yet."""
        self._folders = {}
        for path, mark in connection.execute("SELECT path, stamp FROM documents"):
            folder, _, name = path.rpartition("/")
            self._folders.setdefault(folder, _Folder()).stamps[name] = mark

    # --- the file ------------------------------------------------------------------------------------------

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._database is not None:
                _make_private(self._database)
            name = ":memory:" if self._database is None else self._database
            self._connection = connection = sqlite3.connect(
                name, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._prepare(connection)
            self._data_version = -1
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        with _transaction(connection):
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            root = connection.execute("SELECT root FROM about").fetchone() if version == VERSION else None
            if root == (self._tree.root,):
                return
            for name in ("words", "documents", "about"):
                connection.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO about (root) VALUES (?)", (self._tree.root,))

    def _give_up_unless_broken(self, error: sqlite3.DatabaseError) -> None:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OTHER_TROUBLE:
            self._disconnect()
            raise Unavailable(f"The index of the documents cannot be used: {error}. Try again.") from error

    def _remove(self) -> None:
        self._disconnect()
        if self._database is not None:
            for ending in ("", "-wal", "-shm"):
                Path(f"{self._database}{ending}").unlink(missing_ok=True)

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None
        self._folders = {}


def _make_private(database: Path) -> None:
    """The documents' words are in it, so it is for its owner alone."""
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(database, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unavailable(
            f"The index of the documents cannot be kept in {str(database)!r}: {error.strerror}. Name another file."
        ) from error


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _put(connection: sqlite3.Connection, document: Document, mark: str) -> None:
    row = (document.path, mark, _title(document))
    made = connection.execute(
        "INSERT INTO documents (path, stamp, title) VALUES (?, ?, ?) "
        "ON CONFLICT (path) DO UPDATE SET stamp = excluded.stamp, title = excluded.title RETURNING id",
        row,
    ).fetchone()[0]
    front = document.front
    words = (made, document.path, row[2], " ".join(front.tags), front.description or "", document.text or "")
    connection.execute("DELETE FROM words WHERE rowid = ?", (made,))
    connection.execute(
        "INSERT INTO words (rowid, name, title, tags, description, body) VALUES (?, ?, ?, ?, ?, ?)", words
    )


def _title(document: Document) -> str:
    if document.front.title:
        return document.front.title
    heading = _HEADING.search(document.text or "", 0, 2_000)
    return heading[1] if heading else stem(document.path.rpartition("/")[2])


def _differs(fresh: dict[str, str], known: dict[str, str]) -> bool:
    return fresh != known or _NEVER in fresh.values()


def _written(mark: Stamp) -> str:
    return ":".join(map(str, mark))
