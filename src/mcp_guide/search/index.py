"""Full-text search over all documents of a tree. Import it when first needed: SQLite takes time to load.

The index is a copy of the words. Each search compares the stamps of folders and files that may have changed with
those in the index, and reads only what differs. A broken index is rebuilt.

The first comparison, and any that finds many changes, runs in a thread of its own, which commits batch by batch: a
server that was stopped continues where it was. A search waits for it a moment, and then answers from what is indexed.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from mcp_guide.content.documents import Document
from mcp_guide.content.files import Stamp, is_stamp_reliable, stamp
from mcp_guide.content.folder_watch import FolderWatch
from mcp_guide.content.folders import FolderListing
from mcp_guide.content.tree import DocumentTree
from mcp_guide.search import tables
from mcp_guide.search.query import parse_query
from mcp_guide.search.ranking import Hit, RankedSearch, SearchPage
from toolcharter import InvalidArguments, ToolError, Unavailable

T = TypeVar("T")

__all__ = ["Hit", "SearchIndex", "SearchPage"]

MAX_HITS = 200
MAX_INLINE = 50
"""The number of changed documents that a search indexes itself."""
WAIT = 1.0
"""Seconds that a search waits for the thread that updates the index."""
REPORT_SECONDS = 0.2
"""How often a search that waits reports."""
_BATCH_SECONDS = 0.1  # a search waits at most this long for the connection
_LOCK_TIMEOUT = 10.0  # seconds, while another process writes
_UNRELIABLE = ""
"""In place of a stamp: the document is read again next time."""
_NOT_CORRUPTION = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
    | {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT}
)


@dataclass(slots=True)
class _Folder:
    """A folder in the index, and whether changes in it are noticed."""

    listing: FolderListing | None = None
    stamps: dict[str, str] = field(default_factory=dict[str, str])
    is_watched: bool = False


@dataclass(frozen=True, slots=True)
class _Changes:
    """How the files differ from the index."""

    generation: int
    scanned: list[tuple[str, _Folder]]
    stale: list[tuple[str, str, str]]
    """Folder, name and stamp of each document to read."""
    removed: list[str]


class SearchIndex:
    """A full-text index of a tree. Thread-safe; searches run one at a time."""

    def __init__(self, tree: DocumentTree, database: Path | None = None) -> None:
        self._tree = tree
        self._database = database
        self._lock = threading.RLock()
        """For the connection. The updater releases it after each batch."""
        self._updater: threading.Thread | None = None
        self._failure: ToolError | None = None
        """Why the updater ended too early."""
        self._closing = threading.Event()
        self._connection: sqlite3.Connection | None = None
        self._watch = FolderWatch()
        self._folders: dict[str, _Folder] = {}
        self._data_version = -1
        self._is_compared = False
        """Whether all folders have been compared with the index."""
        self._total = 0
        self._indexed = 0
        """The number of documents that the updater found in the index or has put there."""
        self._generation = 0
        """Changes when the index is opened again, so that an update of the former one stops."""

    def find(
        self,
        query: str,
        folders: Sequence[str] | None = None,
        limit: int = 10,
        offset: int = 0,
        report: Callable[[int, int], None] | None = None,
    ) -> SearchPage:
        """The documents with all the words, the best first; if there are none, those with any.

        Searches in `folders`, or everywhere. While it waits for the index, it reports how many documents are in it,
        and how many there are. Raises InvalidArguments.
        """
        parsed = parse_query(query)
        if not 1 <= limit <= MAX_HITS or offset < 0:
            raise InvalidArguments(
                f"limit is {limit} and offset is {offset}. Use a limit of 1 to {MAX_HITS} and an offset of 0 or more.",
                fields=("limit", "offset"),
            )
        is_complete = self._update(WAIT, report)
        with self._lock:
            generation = self._generation
            page = self._with_rebuild(lambda: RankedSearch(self._connect(), folders).find(parsed, limit, offset))
            if generation == self._generation:
                return page if is_complete else replace(page, progress=(self._count_indexed(), self._total))
        return self.find(query, folders, limit, offset, report)  # the index was broken, and the new one is empty

    def similar_words(self, query: str) -> list[str]:
        """Words in the index that are written like those of a query that found nothing."""
        with self._lock:
            return self._with_rebuild(lambda: RankedSearch(self._connect()).similar_words(parse_query(query)))

    def refresh(self) -> None:
        """Update the index now, and wait for the end."""
        self._update(None)

    def close(self) -> None:
        """Close the index. An update stops after its batch."""
        self._closing.set()
        if (updater := self._updater) is not None:
            updater.join()
        with self._lock:
            self._disconnect()
            self._watch.close()

    def _count_indexed(self) -> int:
        return self._connect().execute("SELECT count(*) FROM documents").fetchone()[0]

    def _with_rebuild(self, work: Callable[[], T]) -> T:
        """Do the work; if the index is broken, again with a new one. The caller holds the lock."""
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

    def _update(self, seconds: float | None, report: Callable[[int, int], None] | None = None) -> bool:
        """Bring the index up to date; False if that takes longer than these seconds. Raises Unavailable."""
        with self._lock:
            is_running = self._updater is not None
            if self._updater is None:
                changes = self._with_rebuild(self._compare) if self._is_compared else None
                if changes is not None and len(changes.stale) <= MAX_INLINE:
                    self._with_rebuild(partial(self._apply, changes))
                    if self._is_compared:
                        return True
                    changes = None  # the index was broken
                self._failure = None
                self._updater = threading.Thread(target=self._run_updater, args=(changes,), daemon=True)
                self._updater.start()
            updater = self._updater
        self._wait_for(updater, seconds, report)
        if updater.is_alive():
            return False
        if self._failure is not None:
            raise self._failure
        # An update that was running may have missed the newest changes.
        return self._update(seconds, report) if is_running else self._is_compared

    def _wait_for(
        self, updater: threading.Thread, seconds: float | None, report: Callable[[int, int], None] | None
    ) -> None:
        """Wait for the updater at most these seconds, and report how far it is."""
        if report is None or seconds is None:
            return updater.join(seconds)
        end = time.monotonic() + seconds
        while updater.is_alive() and (left := end - time.monotonic()) > 0:
            updater.join(min(left, REPORT_SECONDS))
            if updater.is_alive() and self._total:
                report(self._indexed, self._total)
        return None

    def _run_updater(self, changes: "_Changes | None") -> None:
        """Update the index batch by batch; again from the start if it is broken."""
        try:
            for _ in range(2):
                try:
                    self._apply(changes or self._compare())
                except sqlite3.DatabaseError as error:
                    with self._lock:
                        self._raise_unless_corrupt(error)
                        self._delete_index()
                if self._is_compared or self._closing.is_set():
                    break
                changes = None
        except ToolError as error:
            self._failure = error
        finally:
            with self._lock:
                self._updater = None
                if not self._is_compared:
                    self._data_version = -1  # what is in memory may differ from the index

    def _compare(self) -> "_Changes":
        """Compare the files with the index."""
        with self._lock:
            connection = self._connect()
            if (version := connection.execute("PRAGMA data_version").fetchone()[0]) != self._data_version:
                self._load(connection)  # another process has written
                self._data_version = version
            generation = self._generation
        written = self._watch.take_changed()
        current = dict(self._tree.walk())
        self._total = sum(listing.count for listing in current.values())
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
        stale = [
            (path, name, stamp_text)
            for path, scan in scanned
            for name, stamp_text in scan.stamps.items()
            if stamp_text == _UNRELIABLE or self._indexed_stamps(path).get(name) != stamp_text
        ]
        removed = [path for path in self._folders if path not in current]
        return _Changes(generation, scanned, stale, removed)

    def _apply(self, changes: "_Changes") -> None:
        """Update the index in batches. Stops if it is closed or was replaced."""
        scans = dict(changes.scanned)
        stale = iter(changes.stale)
        self._indexed = self._total - len(changes.stale)
        while batch := self._read_batch(stale):
            with self._lock:
                if self._closing.is_set() or self._generation != changes.generation:
                    return
                connection = self._connect()
                with _transaction(connection):
                    for folder, name, stamp_text, document in batch:
                        if document is None:
                            self._delete(connection, folder, (name,))
                            scans[folder].stamps[name] = _UNRELIABLE
                        else:
                            tables.put_document(connection, document, stamp_text)
            self._indexed += len(batch)
        with self._lock:
            if self._closing.is_set() or self._generation != changes.generation:
                return
            self._delete_missing(self._connect(), changes)
            self._folders.update(changes.scanned)
            for path in changes.removed:
                del self._folders[path]
            self._is_compared = True
            if len(changes.stale) > MAX_INLINE:
                # Building leaves a tenth of the file empty. `execute` would free one page only.
                self._connect().executescript("PRAGMA incremental_vacuum")

    def _read_batch(self, stale: Iterator[tuple[str, str, str]]) -> "list[tuple[str, str, str, Document | None]]":
        """Read documents for a while; None for one that was removed, or is no longer readable."""
        batch: list[tuple[str, str, str, Document | None]] = []
        end = time.monotonic() + _BATCH_SECONDS
        for folder, name, stamp_text in stale:
            try:
                document = self._tree.read(f"{folder}/{name}" if folder else name)
            except ToolError:
                document = None
            batch.append((folder, name, stamp_text, document))
            if time.monotonic() > end:
                break
        return batch

    def _delete_missing(self, connection: sqlite3.Connection, changes: "_Changes") -> None:
        missing = [(path, self._indexed_stamps(path).keys() - scan.stamps.keys()) for path, scan in changes.scanned]
        missing += [(path, self._folders[path].stamps.keys()) for path in changes.removed]
        if any(names for _, names in missing):
            with _transaction(connection):
                for path, names in missing:
                    self._delete(connection, path, names)

    def _indexed_stamps(self, folder: str) -> dict[str, str]:
        known = self._folders.get(folder)
        return known.stamps if known else {}

    def _scan_folder(self, folder: str, listing: FolderListing) -> _Folder:
        """The stamps of the files in a folder. The watch starts first, so that no change is missed in between."""
        path = os.path.join(self._tree.root, folder) if folder else self._tree.root  # noqa: PTH118 - in a hot loop
        is_watched = self._watch.watch(folder, path, listing.stamp.device)
        stamps: dict[str, str] = {}
        now = time.time_ns()
        for name, status in self._tree.statuses(folder, listing):
            stamps[name] = _stamp_text(stamp(status)) if is_stamp_reliable(status, now) else _UNRELIABLE
            is_watched = is_watched and status.st_nlink == 1  # a change through another hard link is not noticed
        return _Folder(listing, stamps, is_watched)

    def _delete(self, connection: sqlite3.Connection, folder: str, names: Iterable[str]) -> None:
        for name in names:
            tables.delete_document(connection, f"{folder}/{name}" if folder else name)

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
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._create_tables(connection)
            self._data_version = -1
        return self._connection

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        """Create the tables, unless they are there for this version and this root."""
        with _transaction(connection):
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            is_current = version == tables.VERSION
            root = connection.execute("SELECT root FROM about").fetchone() if is_current else None
            if root == (self._tree.root,):
                return
            for name in tables.TABLES:
                connection.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in tables.SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO about (root) VALUES (?)", (self._tree.root,))
        if version:
            connection.execute("VACUUM")  # gives back the room of the former index

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
        self._is_compared = False
        self._generation += 1


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


def _stamp_text(mark: Stamp) -> str:
    # Short, because an index of small documents consists of such columns.
    return blake2b(repr(mark).encode(), digest_size=8).hexdigest()
