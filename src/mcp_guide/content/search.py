"""Full-text search over all documents of a tree. Import it when first needed: SQLite takes time to load.

The index is a copy of the words. Each search compares the stamps of folders and files that may have changed with
those in the index, and reads only what differs. A broken index is rebuilt.
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

from mcp_guide.content.documents import Document
from mcp_guide.content.files import Stamp, is_stamp_reliable, stamp
from mcp_guide.content.folder_watch import FolderWatch
from mcp_guide.content.folders import Listing
from mcp_guide.content.patterns import stem
from mcp_guide.content.ranking import Hit, RankedSearch, SearchPage
from mcp_guide.content.search_query import SearchQuery, parse_query
from mcp_guide.content.tree import DocumentTree
from toolcharter import InvalidArguments, ToolError, Unavailable

T = TypeVar("T")

__all__ = ["Hit", "SearchIndex", "SearchPage"]

VERSION = 1
MAX_HITS = 200
_LOCK_TIMEOUT = 10.0  # seconds, while another process writes
_UNRELIABLE = ""
"""In place of a stamp: the document is read again next time."""
_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_NOT_CORRUPTION = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
    | {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT}
)
_COLUMNS = "name, title, tags, description, body"
_TOKENIZER = "unicode61 remove_diacritics 2"  # ignores case and accents
_SCHEMA = (
    "CREATE TABLE about (root TEXT NOT NULL)",
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT UNIQUE, stamp TEXT NOT NULL, title TEXT NOT NULL)",
    f"CREATE VIRTUAL TABLE words USING fts5({_COLUMNS}, tokenize = '{_TOKENIZER}', prefix = '2 3')",
    "INSERT INTO words(words, rank) VALUES ('rank', 'bm25(5.0, 10.0, 6.0, 3.0, 1.0)')",
    f"PRAGMA user_version = {VERSION}",
)


@dataclass(slots=True)
class _Folder:
    """What the index knows of a folder, and whether changes in it are noticed."""

    listing: Listing | None = None
    stamps: dict[str, str] = field(default_factory=dict[str, str])
    is_watched: bool = False


class SearchIndex:
    """A full-text index of a tree. Thread-safe; searches run one at a time."""

    def __init__(self, tree: DocumentTree, database: Path | None = None) -> None:
        self._tree = tree
        self._database = database
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._watch = FolderWatch()
        self._folders: dict[str, _Folder] = {}
        self._data_version = -1

    def find(self, query: str, folders: Sequence[str] | None = None, limit: int = 10, offset: int = 0) -> SearchPage:
        """The documents with all the words, the best first; if there are none, those with any.

        Searches in `folders`, or everywhere. Raises InvalidArguments.
        """
        parsed = parse_query(query)
        if not 1 <= limit <= MAX_HITS or offset < 0:
            raise InvalidArguments(
                f"limit is {limit} and offset is {offset}. Use a limit of 1 to {MAX_HITS} and an offset of 0 or more.",
                fields=("limit", "offset"),
            )
        return self._with_rebuild(lambda: self._find(parsed, folders, limit, offset))

    def refresh(self) -> None:
        """Update the index now. The first time takes about half a second for each thousand documents."""
        self._with_rebuild(lambda: self._refresh(self._connect()))

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            self._disconnect()
            self._watch.close()

    def _find(self, query: SearchQuery, folders: Sequence[str] | None, limit: int, offset: int) -> SearchPage:
        connection = self._connect()
        self._refresh(connection)
        return RankedSearch(connection, folders).find(query, limit, offset)

    def _with_rebuild(self, work: Callable[[], T]) -> T:
        """Do the work; if the index is broken, again with a new one."""
        with self._lock:
            try:
                return work()
            except sqlite3.DatabaseError as error:
                self._raise_unless_corrupt(error)
            self._delete_index()
            try:
                return work()
            except sqlite3.Error as error:
                raise Unavailable(f"The documents cannot be searched: {error}. Try again.") from error

    # --- updating ------------------------------------------------------------------------------------------

    def _refresh(self, connection: sqlite3.Connection) -> None:
        if (version := connection.execute("PRAGMA data_version").fetchone()[0]) != self._data_version:
            self._load(connection)  # another process has written
            self._data_version = version
        written = self._watch.take_changed()
        current = dict(self._tree.walk())
        changed = [
            (path, listing)
            for path, listing in current.items()
            if (known := self._folders.get(path)) is None
            or known.listing is not listing
            or not known.is_watched
            or written is None
            or path in written
        ]
        scanned = [(path, self._scan_folder(path, listing)) for path, listing in changed]
        removed = [path for path in self._folders if path not in current]
        if removed or any(_differs(scan.stamps, self._indexed_stamps(path)) for path, scan in scanned):
            with _transaction(connection):
                for path, scan in scanned:
                    self._index_folder(connection, path, scan)
                for path in removed:
                    self._delete(connection, path, self._folders[path].stamps)
        self._folders.update(scanned)
        for path in removed:
            del self._folders[path]

    def _indexed_stamps(self, folder: str) -> dict[str, str]:
        known = self._folders.get(folder)
        return known.stamps if known else {}

    def _scan_folder(self, folder: str, listing: Listing) -> _Folder:
        """The stamps of the files in a folder. The watch starts first, so that no change is missed in between."""
        path = os.path.join(self._tree.root, folder) if folder else self._tree.root  # noqa: PTH118 - in a hot loop
        is_watched = self._watch.watch(folder, path, listing.stamp.device)
        stamps: dict[str, str] = {}
        now = time.time_ns()
        for name, status in self._tree.statuses(folder, listing):
            stamps[name] = _stamp_text(stamp(status)) if is_stamp_reliable(status, now) else _UNRELIABLE
            is_watched = is_watched and status.st_nlink == 1  # a change through another hard link is not noticed
        return _Folder(listing, stamps, is_watched)

    def _index_folder(self, connection: sqlite3.Connection, folder: str, scan: _Folder) -> None:
        known = self._indexed_stamps(folder)
        self._delete(connection, folder, known.keys() - scan.stamps.keys())
        for name, stamp_text in list(scan.stamps.items()):
            if stamp_text == _UNRELIABLE or known.get(name) != stamp_text:
                path = f"{folder}/{name}" if folder else name
                try:
                    document = self._tree.read(path)
                except ToolError:  # removed, or no longer readable
                    self._delete(connection, folder, (name,))
                    scan.stamps[name] = _UNRELIABLE
                else:
                    _put(connection, document, stamp_text)

    def _delete(
        self, connection: sqlite3.Connection, folder: str, names: "Sequence[str] | set[str] | dict[str, str]"
    ) -> None:
        for name in names:
            path = f"{folder}/{name}" if folder else name
            connection.execute("DELETE FROM words WHERE rowid = (SELECT id FROM documents WHERE path = ?)", (path,))
            connection.execute("DELETE FROM documents WHERE path = ?", (path,))

    def _load(self, connection: sqlite3.Connection) -> None:
        """Load the stamps in the index, by folder. No folder counts as scanned yet."""
        self._folders = {}
        for path, stamp_text in connection.execute("SELECT path, stamp FROM documents"):
            folder, _, name = path.rpartition("/")
            self._folders.setdefault(folder, _Folder()).stamps[name] = stamp_text

    # --- the file ------------------------------------------------------------------------------------------

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._database is not None:
                _create_private(self._database)
            name = ":memory:" if self._database is None else self._database
            self._connection = connection = sqlite3.connect(
                name, timeout=_LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._create_tables(connection)
            self._data_version = -1
        return self._connection

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        """Create the tables, unless they are there for this version and this root."""
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

    def _raise_unless_corrupt(self, error: sqlite3.DatabaseError) -> None:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_CORRUPTION:
            self._disconnect()
            raise Unavailable(f"The search index cannot be used: {error}. Try again.") from error

    def _delete_index(self) -> None:
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


def _create_private(database: Path) -> None:
    """Create the file for its owner alone: it contains the words of the documents."""
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(database, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unavailable(
            f"The search index cannot be written to {str(database)!r}: {error.strerror}. Make the folder writable."
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


def _put(connection: sqlite3.Connection, document: Document, stamp_text: str) -> None:
    row = (document.path, stamp_text, _title(document))
    row_id = connection.execute(
        "INSERT INTO documents (path, stamp, title) VALUES (?, ?, ?) "
        "ON CONFLICT (path) DO UPDATE SET stamp = excluded.stamp, title = excluded.title RETURNING id",
        row,
    ).fetchone()[0]
    front = document.front
    words = (row_id, document.path, row[2], " ".join(front.tags), front.description or "", document.text or "")
    connection.execute("DELETE FROM words WHERE rowid = ?", (row_id,))
    connection.execute(
        "INSERT INTO words (rowid, name, title, tags, description, body) VALUES (?, ?, ?, ?, ?, ?)", words
    )


def _title(document: Document) -> str:
    if document.front.title:
        return document.front.title
    heading = _HEADING.search(document.text or "", 0, 2_000)
    return heading[1] if heading else stem(document.path.rpartition("/")[2])


def _differs(current: dict[str, str], indexed: dict[str, str]) -> bool:
    return current != indexed or _UNRELIABLE in current.values()


def _stamp_text(mark: Stamp) -> str:
    return ":".join(map(str, mark))
