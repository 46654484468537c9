"""The documents below a root: found by patterns, read and written. Folders that cannot match are not walked."""

import errno
import os
import re
import shlex
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from mcp_guide.content.documents import Document, DocumentCache, make_document
from mcp_guide.content.files import MAX_DOCUMENT_BYTES, Files, is_name, is_stamp_reliable, split_path, stamp
from mcp_guide.content.folders import MISSING_ERRNOS, FolderListing, FolderListings
from mcp_guide.content.patterns import FolderScope, PatternSet, compile_patterns, normalize, quote_text, stem
from toolcharter import Conflict, InvalidArguments, NotFound, PermissionDenied, Unavailable

MAX_CACHED_BYTES = 64_000_000
MAX_CACHED_MATCHES = 32  # results of patterns
MAX_COMPARED_NAMES = 1_000  # to find similar names

_WILDCARDS = re.compile(r"[*?!\[\]{}]")


class Entry:
    """A document in a list. Its file is looked at when first needed."""

    __slots__ = ("_status", "_tree", "path")

    def __init__(self, path: str, tree: "DocumentTree") -> None:
        self.path = path
        self._tree = tree
        self._status: os.stat_result | None = None

    @property
    def root(self) -> str:
        """The root folder of the document."""
        return self._tree.root

    def read(self) -> Document:
        """Read the document. Raises NotFound."""
        return self._tree.read(self.path)

    @property
    def size(self) -> int:
        """In bytes. Raises NotFound if the document no longer exists."""
        return self._stat().st_size

    @property
    def modified(self) -> float:
        """Seconds since 1970."""
        return self._stat().st_mtime

    @property
    def is_text(self) -> bool | None:
        """Reads the document. None if it is too large to check."""
        return self.read().is_text

    def _stat(self) -> os.stat_result:
        if self._status is None:
            self._status = self._tree.status(self.path)
        return self._status

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and (self.path, self._tree) == (other.path, other._tree)

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"Entry({self.path!r})"


class DocumentTree:
    """The documents below a root. Thread-safe."""

    def __init__(self, root: Path, *, cached_bytes: int = MAX_CACHED_BYTES) -> None:
        self._files = Files(root)
        self._root = os.fspath(root)
        self._listings = FolderListings(self._files)
        self._sorted_folders: dict[str, tuple[FolderListing, list[str]]] = {}
        self._lock = threading.RLock()
        self._documents = DocumentCache(cached_bytes)
        self._matches: dict[tuple[str, PatternSet], tuple[dict[str, FolderListing], list[str]]] = {}

    @property
    def root(self) -> str:
        """The root folder."""
        return self._root

    # --- finding -------------------------------------------------------------------------------------------

    def match(self, folder: str, patterns: Sequence[str]) -> list[Entry]:
        """The documents below a folder that match any pattern; an empty list if none matches.

        They are in the order of the patterns, and sorted by path for each pattern.

        Raises InvalidArguments, and NotFound if the folder does not exist.
        """
        compiled = compile_patterns(tuple(patterns))
        base = _folder_parts(folder)
        with self._lock:
            self._listing(base)
            walked = dict(item for scope in compiled.scopes for item in self._walk_scope(base, scope))
            paths = self._matching_paths("/".join(base), walked, compiled, tuple(patterns))
        return [Entry(path, self) for path in paths]

    def entry(self, path: str) -> Entry:
        """The document at a path, with or without its extension. Raises NotFound."""
        parts = split_path(path)
        try:
            self._files.status(parts)
        except OSError as error:
            return Entry("/".join(self._find_by_stem(parts, error)), self)
        return Entry(path, self)

    def folders(self, below: str = "") -> list[str]:
        """The folders directly below one, sorted."""
        parts = _folder_parts(below)
        with self._lock:
            listing = self._listing(parts)
            cached = self._sorted_folders.get(below)
            if cached is None or cached[0] is not listing:
                names = ["/".join((*parts, name)) for name in sorted(listing.folders)]
                cached = self._sorted_folders[below] = (listing, names)
            return list(cached[1])

    def has_documents(self, folder: str = "") -> bool:
        """Whether documents are directly in a folder."""
        with self._lock:
            return bool(self._listing(_folder_parts(folder)).documents)

    def walk(self, folder: str = "") -> Iterator[tuple[str, FolderListing]]:
        """A folder and all folders below it, each with its listing."""
        base = _folder_parts(folder)
        with self._lock:
            self._listing(base)
            return iter(list(self._listings.walk(base)))

    def statuses(self, folder: str, listing: FolderListing) -> Iterator[tuple[str, os.stat_result]]:
        """The stat result of each document in a folder that exists and can be accessed."""
        try:
            opened = self._files.open_folder(_folder_parts(folder))
        except OSError:
            return
        try:
            for name in listing.names():
                with suppress(OSError):
                    yield name, os.stat(name, dir_fd=opened, follow_symlinks=False)
        finally:
            os.close(opened)

    def similar(self, wanted: str, folder: str = "") -> list[str]:
        """Up to five paths, relative to the folder, with a similar name; a folder ends in '/'."""
        start = len(folder) + 1 if folder else 0
        name = stem(_WILDCARDS.sub("", wanted.strip("/")).rpartition("/")[2].lower())[:100]
        by_name: dict[str, str] = {}
        for path in self._all_paths(folder):
            short = stem(path.rstrip("/").rpartition("/")[2]).lower()
            # Comparing is slow, so only names that begin or end alike are compared.
            if short not in by_name and name and (short[0] == name[0] or short[-1] == name[-1] or name in short):
                by_name[short] = path[start:]
        candidates = sorted(by_name, key=lambda short: abs(len(short) - len(name)))[:MAX_COMPARED_NAMES]
        close = get_close_matches(name, candidates, n=5)
        containing = islice((short for short in by_name if name in short), 5)
        return [by_name[short] for short in dict.fromkeys([*close, *containing])][:5]

    def require_root(self) -> None:
        """Raise Unavailable if the root does not exist."""
        if not os.path.isdir(self._root):  # noqa: PTH112 - kept as text, because it is joined in every walk
            raise Unavailable(
                f"The document root {self._root!r} does not exist. "
                f"Create it with `mcp-guide init --docs-root {shlex.quote(self._root)}`, or set another one."
            )

    def unreadable(self) -> dict[str, str]:
        """Folders that cannot be listed, with the reason."""
        with self._lock:
            return dict(self._listings.unreadable)

    def status(self, path: str) -> os.stat_result:
        """The stat result of a document. Raises NotFound."""
        parts = split_path(path)
        with self._document_errors(path):
            return self._files.status(parts)

    # --- reading and writing -------------------------------------------------------------------------------

    def read(self, path: str) -> Document:
        """Read the document at a path, with or without its extension. Raises NotFound."""
        parts = split_path(path)
        try:
            return self._read_cached(path, parts)
        except OSError as error:
            parts = self._find_by_stem(parts, error)
        path = "/".join(parts)
        with self._document_errors(path):
            return self._read_cached(path, parts)

    def create(self, path: str, text: str) -> None:
        """Create a document and its folders. Raises Conflict if it exists."""
        parts, data = split_path(path), _encode(path, text)
        with self._document_errors(path):
            try:
                self._files.create(parts, data)
            except FileExistsError as error:
                raise Conflict(f"{path!r} already exists. Replace it, or choose another name.") from error
        self._forget(path, parts)

    def replace(self, path: str, text: str) -> None:
        """Replace the whole text of an existing document, front matter included."""
        parts, data = split_path(path), _encode(path, text)
        with self._document_errors(path):
            self._files.replace(parts, data)
        self._forget(path, parts)

    def delete(self, path: str) -> None:
        parts = split_path(path)
        with self._document_errors(path):
            self._files.delete(parts)
        self._forget(path, parts)

    def _read_cached(self, path: str, parts: tuple[str, ...]) -> Document:
        cached = self._documents.get(path)
        now = time.time_ns()
        status, data = self._files.read(parts, cached[0] if cached else None)
        if data is None and cached is not None:
            return cached[1]
        document = make_document(path, data or b"", status.st_mtime, status.st_size)
        if is_stamp_reliable(status, now):
            self._documents.put(path, stamp(status), document)
        else:
            self._documents.drop(path)
        return document

    def _forget(self, path: str, parts: tuple[str, ...]) -> None:
        self._documents.drop(path)
        with self._lock:
            self._listings.forget(parts[:-1])

    # --- folders -------------------------------------------------------------------------------------------

    def _listing(self, parts: tuple[str, ...]) -> FolderListing:
        """The listing of a folder, reached from the root without following a link. Raises NotFound."""
        with self._folder_errors("/".join(parts)):
            return self._listings.listing(parts)

    def _stored_folders(self, parts: tuple[str, ...], above: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The names of folders as the file system has them, which may be in another Unicode form."""
        if "".join(parts).isascii():
            return parts
        stored: tuple[str, ...] = ()
        for part in parts:
            names = self._listings.listing((*above, *stored)).folders
            same = (name for name in names if normalize(name) == normalize(part))
            stored = (*stored, part if part in names else next(same, part))
        return stored

    # --- matching ------------------------------------------------------------------------------------------

    def _walk_scope(self, base: tuple[str, ...], scope: FolderScope) -> Iterator[tuple[str, FolderListing]]:
        parts = (*base, *scope.folder.split("/")) if scope.folder else base
        if not all(map(is_name, parts)):
            return
        try:
            parts = (*base, *self._stored_folders(parts[len(base) :], base))
            yield from self._listings.walk(parts, scope.depth)
        except OSError as error:
            if error.errno not in MISSING_ERRNOS:
                raise self._to_tool_error(f"The folder {'/'.join(parts)!r}", error) from error

    def _matching_paths(
        self, base: str, walked: dict[str, FolderListing], patterns: PatternSet, order: tuple[str, ...]
    ) -> list[str]:
        """The paths that match, in order. The result is cached for as long as the walked listings are the same."""
        if (names := patterns.names) is not None:
            by_name = {folder: _documents_named(listing, names) for folder, listing in walked.items()}
            matched = {path for folder, some in by_name.items() for path in _matching(base, folder, some, patterns)}
            return _sort_by_pattern(matched, base, order)
        cached = self._matches.get((base, patterns))
        if cached is None or cached[0].keys() != walked.keys() or any(cached[0][f] is not walked[f] for f in walked):
            found = (path for f, listing in walked.items() for path in _matching(base, f, listing.names(), patterns))
            cached = self._matches[base, patterns] = (walked, _sort_by_pattern(found, base, order))
            if len(self._matches) > MAX_CACHED_MATCHES:
                del self._matches[next(iter(self._matches))]
        return cached[1]

    def _find_by_stem(self, parts: tuple[str, ...], error: OSError) -> tuple[str, ...]:
        """The path of the only document with that stem. Otherwise raises Conflict, or the error as a ToolError."""
        path = "/".join(parts)
        with self._document_errors(path):
            if error.errno is not None and error.errno != errno.ENOENT:
                raise error
            with self._lock:
                parts = (*self._stored_folders(parts[:-1]), parts[-1])
                listing = self._listings.listing(parts[:-1])
            found = list(dict.fromkeys(listing.named(normalize(parts[-1]))))
            if not found:
                raise error
        if len(found) > 1:
            names = ", ".join(repr("/".join((*parts[:-1], name))) for name in sorted(found))
            raise Conflict(f"Several documents are named {path!r}: {names}. Use the name with its extension.")
        return (*parts[:-1], found[0])

    def _all_paths(self, folder: str) -> Iterator[str]:
        for path, listing in self.walk(folder):
            prefix = f"{path}/" if path else ""
            yield from (f"{prefix}{name}" for name in listing.names())
            yield from (f"{prefix}{name}/" for name in listing.folders)

    # --- errors --------------------------------------------------------------------------------------------

    @contextmanager
    def _document_errors(self, path: str) -> Generator[None]:
        """Raise an OSError as a ToolError about the document."""
        try:
            yield
        except FileNotFoundError as error:
            self.require_root()
            raise NotFound(f"The document {path!r} does not exist.{self._suggestion(path)}") from error
        except OSError as error:
            raise self._to_tool_error(f"The document {path!r}", error) from error

    @contextmanager
    def _folder_errors(self, folder: str) -> Generator[None]:
        """Raise an OSError as a ToolError about the folder."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError) as error:
            self.require_root()
            above, _, name = folder.rpartition("/")
            similar = get_close_matches(name, self._folder_names(above), n=3, cutoff=0.4)
            raise NotFound(f"The document folder {folder!r} does not exist.{_did_you_mean(similar)}") from error
        except OSError as error:
            raise self._to_tool_error(f"The folder {folder!r}", error) from error

    def _to_tool_error(self, what: str, error: OSError) -> Exception:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
            return NotFound(f"{what} does not exist: a part of its path is a link or not a folder.")
        if isinstance(error, PermissionError):
            return PermissionDenied(
                f"{what} is not accessible to this server: {error.strerror}. Change its permissions."
            )
        return Unavailable(f"{what} cannot be used: {error.strerror or error}.")

    def _suggestion(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        try:
            similar = self.similar(name, folder)
        except NotFound:
            return f" The folder {folder!r} does not exist."
        start = f"{folder}/" if folder else ""
        return _did_you_mean([start + path for path in similar])

    def _folder_names(self, folder: str) -> tuple[str, ...]:
        try:
            with self._lock:
                return self._listings.listing(_folder_parts(folder)).folders
        except OSError:
            return ()


def _did_you_mean(names: Sequence[str]) -> str:
    return f" Did you mean {' or '.join(map(repr, names))}?" if names else ""


def _documents_named(listing: FolderListing, names: Iterable[str]) -> Iterator[str]:
    return (document for name in names for document in listing.named(name))


def _matching(base: str, folder: str, names: Iterable[str], patterns: PatternSet) -> Iterator[str]:
    """The paths of those names in a folder that match, relative to the base."""
    prefix = f"{folder}/" if folder else ""
    relative = prefix[len(base) + 1 :] if base else prefix
    return (prefix + name for name in names if patterns.matches(normalize(relative + name)))


def _sort_by_pattern(paths: Iterable[str], base: str, order: tuple[str, ...]) -> list[str]:
    """Sort by the first pattern that matches, then by path."""
    if len(order) == 1:
        return sorted(paths)
    start = len(base) + 1 if base else 0
    matchers = [compile_patterns((pattern,)).matches for pattern in order]

    def key(path: str) -> tuple[int, str]:
        relative = normalize(path[start:])
        return next((n for n, matches in enumerate(matchers) if matches(relative)), len(matchers)), path

    return sorted(paths, key=key)


def _folder_parts(folder: str) -> tuple[str, ...]:
    return () if folder in ("", ".") else split_path(folder.rstrip("/"))


def _encode(path: str, text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise InvalidArguments(
            f"The text for {quote_text(path)} contains the invalid character {character!r}. Remove it."
        ) from error
    if len(data) > MAX_DOCUMENT_BYTES:
        raise InvalidArguments(
            f"The text for {quote_text(path)} has {len(data):,} bytes. Use at most {MAX_DOCUMENT_BYTES:,}, or split it."
        )
    return data
