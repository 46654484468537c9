"""All documents below a root, found by patterns without walking what cannot match, read and written."""

import errno
import os
import re
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from mcp_core.errors import Conflict, InvalidArguments, NotFound, PermissionDenied, Unavailable
from mcp_guide.content.documents import Document, DocumentCache, make_document
from mcp_guide.content.files import LARGEST_DOCUMENT, Files, is_name, is_settled, parts_of, stamp
from mcp_guide.content.folders import NOT_THERE, Folders, Listing
from mcp_guide.content.patterns import PatternSet, Place, compile_patterns, shown, stem

CACHED_BYTES = 64_000_000
MOST_REMEMBERED = 32  # answers to patterns
MOST_COMPARED = 1_000  # names, to say which are near

_WILDCARDS = re.compile(r"[*?!\[\]{}]")


class Entry:
    """A document in a list. What the system says about it is asked for when it is first needed."""

    __slots__ = ("_status", "_tree", "path")

    def __init__(self, path: str, tree: "DocumentTree") -> None:
        self.path = path
        self._tree = tree
        self._status: os.stat_result | None = None

    @property
    def size(self) -> int:
        """In bytes. Raises NotFound where the document is gone meanwhile."""
        return self._known().st_size

    @property
    def modified(self) -> float:
        """Seconds since 1970."""
        return self._known().st_mtime

    @property
    def is_text(self) -> bool | None:
        """Reads the document; None is one too large to look at."""
        return self._tree.read(self.path).is_text

    def _known(self) -> os.stat_result:
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
    """The documents below a root. Any thread may use it."""

    def __init__(self, root: Path, *, cached_bytes: int = CACHED_BYTES) -> None:
        self._files = Files(root)
        self._root = os.fspath(root)
        self._folders = Folders(self._files)
        self._sorted: dict[str, tuple[Listing, list[str]]] = {}
        self._lock = threading.RLock()
        self._read = DocumentCache(cached_bytes)
        self._matched: dict[tuple[str, PatternSet], tuple[dict[str, Listing], list[str]]] = {}

    @property
    def root(self) -> str:
        """The folder that everything is below."""
        return self._root

    # --- finding -------------------------------------------------------------------------------------------

    def match(self, folder: str, patterns: Sequence[str]) -> list[Entry]:
        """The documents below a folder that match any pattern, by path. No match is an empty list.

        Raises InvalidArguments, and NotFound where there is no such folder.
        """
        wanted = compile_patterns(tuple(patterns))
        base = _folder_parts(folder)
        with self._lock:
            self._listed(base)
            walked = dict(found for place in wanted.places for found in self._walk_place(base, place))
            paths = self._matching("/".join(base), walked, wanted)
        return [Entry(path, self) for path in paths]

    def entry(self, path: str) -> Entry:
        """The document of that path, with or without its extension. Raises NotFound."""
        parts = parts_of(path)
        try:
            self._files.status(parts)
        except OSError as error:
            return Entry("/".join(self._by_stem(parts, error)), self)
        return Entry(path, self)

    def folders(self, below: str = "") -> list[str]:
        """The folders directly below one, by name."""
        parts = _folder_parts(below)
        with self._lock:
            listing = self._listed(parts)
            known = self._sorted.get(below)
            if known is None or known[0] is not listing:
                names = ["/".join((*parts, name)) for name in sorted(listing.folders)]
                known = self._sorted[below] = (listing, names)
            return list(known[1])

    def walk(self, folder: str = "") -> Iterator[tuple[str, Listing]]:
        """Every folder below one, itself included, and what it holds."""
        base = _folder_parts(folder)
        with self._lock:
            self._listed(base)
            return iter(list(self._folders.walk(base)))

    def statuses(self, folder: str, listing: Listing) -> Iterator[tuple[str, os.stat_result]]:
        """What the system says about each document of a folder; what is gone meanwhile is left out."""
        try:
            opened = self._files.open_folder(_folder_parts(folder))
        except OSError:
            return
        try:
            for name in listing.names():
                with suppress(FileNotFoundError):
                    yield name, os.stat(name, dir_fd=opened, follow_symlinks=False)
        finally:
            os.close(opened)

    def nearest(self, wanted: str, folder: str = "") -> list[str]:
        """Up to five paths relative to the folder whose names are like the wanted one's; a folder ends in '/'."""
        start = len(folder) + 1 if folder else 0
        name = stem(_WILDCARDS.sub("", wanted.strip("/")).rpartition("/")[2].lower())[:100]
        by_name: dict[str, str] = {}
        for path in self._all_paths(folder):
            short = stem(path.rstrip("/").rpartition("/")[2]).lower()
            # To compare is slow, so of many only those that begin or end alike.
            if short not in by_name and name and (short[0] == name[0] or short[-1] == name[-1] or name in short):
                by_name[short] = path[start:]
        alike = sorted(by_name, key=lambda short: abs(len(short) - len(name)))[:MOST_COMPARED]
        close = get_close_matches(name, alike, n=5)
        containing = islice((short for short in by_name if name in short), 5)
        return [by_name[short] for short in dict.fromkeys([*close, *containing])][:5]

    def unreadable(self) -> dict[str, str]:
        """Folders that could not be looked into, and why."""
        with self._lock:
            return dict(self._folders.unreadable)

    def status(self, path: str) -> os.stat_result:
        """What the system says about a document. Raises NotFound."""
        parts = parts_of(path)
        with self._told(path):
            return self._files.status(parts)

    # --- reading and writing -------------------------------------------------------------------------------

    def read(self, path: str) -> Document:
        """The document of that path, with or without its extension. Raises NotFound."""
        parts = parts_of(path)
        try:
            return self._document(path, parts)
        except OSError as error:
            found = self._by_stem(parts, error)
        path = "/".join(found)
        with self._told(path):
            return self._document(path, found)

    def create(self, path: str, text: str) -> None:
        """A new document; folders that are missing are made. Raises Conflict where there is one."""
        parts, data = parts_of(path), _encoded(path, text)
        with self._told(path):
            try:
                self._files.create(parts, data)
            except FileExistsError as error:
                raise Conflict(
                    f"There is already something named {path!r}. Replace it, or take another name."
                ) from error
        self._forget(path, parts)

    def replace(self, path: str, text: str) -> None:
        """Another text for a document that is there, front matter included."""
        parts, data = parts_of(path), _encoded(path, text)
        with self._told(path):
            self._files.replace(parts, data)
        self._forget(path, parts)

    def delete(self, path: str) -> None:
        parts = parts_of(path)
        with self._told(path):
            self._files.delete(parts)
        self._forget(path, parts)

    def _document(self, path: str, parts: tuple[str, ...]) -> Document:
        kept = self._read.get(path)
        now = time.time_ns()
        status, data = self._files.read(parts, kept[0] if kept else None)
        if data is None and kept is not None:
            return kept[1]
        document = make_document(path, data or b"", status.st_mtime, status.st_size)
        if is_settled(status, now):
            self._read.keep(path, stamp(status), document)
        else:
            self._read.drop(path)
        return document

    def _forget(self, path: str, parts: tuple[str, ...]) -> None:
        self._read.drop(path)
        with self._lock:
            self._folders.forget(parts[:-1])

    # --- folders -------------------------------------------------------------------------------------------

    def _listed(self, parts: tuple[str, ...]) -> Listing:
        """What a folder holds, reached from the root without a link. Raises NotFound."""
        with self._told_of_folder("/".join(parts)):
            return self._folders.listing(parts)

    # --- matching ------------------------------------------------------------------------------------------

    def _walk_place(self, base: tuple[str, ...], place: Place) -> Iterator[tuple[str, Listing]]:
        parts = (*base, *place.folder.split("/")) if place.folder else base
        if not all(map(is_name, parts)):
            return
        try:
            yield from self._folders.walk(parts, place.depth)
        except OSError as error:
            if error.errno not in NOT_THERE:
                raise self._refusal(f"The folder {'/'.join(parts)!r}", error) from error

    def _matching(self, base: str, walked: dict[str, Listing], wanted: PatternSet) -> list[str]:
        """The paths that fit, in order. What was found is remembered for as long as the very same was walked."""
        if wanted.names is not None:
            names = wanted.names
            found = (path for f, held in walked.items() for path in _fitting(base, f, _named(held, names), wanted))
            return sorted(set(found))
        known = self._matched.get((base, wanted))
        if known is None or known[0].keys() != walked.keys() or any(known[0][f] is not walked[f] for f in walked):
            found = (path for f, held in walked.items() for path in _fitting(base, f, held.names(), wanted))
            known = self._matched[base, wanted] = (walked, sorted(found))
            if len(self._matched) > MOST_REMEMBERED:
                del self._matched[next(iter(self._matched))]
        return known[1]

    def _by_stem(self, parts: tuple[str, ...], error: OSError) -> tuple[str, ...]:
        """The path of the one document of that stem. Raises NotFound, or what the error means."""
        path = "/".join(parts)
        with self._told(path):
            if error.errno is not None and error.errno != errno.ENOENT:
                raise error
            with self._lock:
                found = [n for n in self._folders.listing(parts[:-1]).documents.get(parts[-1], ()) if n != parts[-1]]
            if not found:
                raise error
        if len(found) > 1:
            names = ", ".join(repr("/".join((*parts[:-1], name))) for name in sorted(found))
            raise Conflict(f"There are several documents named {path!r}: {names}. Give one with its extension.")
        return (*parts[:-1], found[0])

    def _all_paths(self, folder: str) -> Iterator[str]:
        for path, listing in self.walk(folder):
            prefix = f"{path}/" if path else ""
            yield from (f"{prefix}{name}" for name in listing.names())
            yield from (f"{prefix}{name}/" for name in listing.folders)

    # --- errors --------------------------------------------------------------------------------------------

    @contextmanager
    def _told(self, path: str) -> Generator[None]:
        """What the system refuses, in our words."""
        try:
            yield
        except FileNotFoundError as error:
            self._see_root()
            raise NotFound(f"There is no document {path!r}.{self._hint(path)}") from error
        except OSError as error:
            raise self._refusal(f"The document {path!r}", error) from error

    @contextmanager
    def _told_of_folder(self, folder: str) -> Generator[None]:
        try:
            yield
        except (FileNotFoundError, NotADirectoryError) as error:
            self._see_root()
            above, _, name = folder.rpartition("/")
            near = get_close_matches(name, self._folder_names(above), n=3, cutoff=0.4)
            hint = f" The nearest are {', '.join(map(repr, near))}." if near else ""
            raise NotFound(f"There is no folder {folder!r} among the documents.{hint}") from error
        except OSError as error:
            raise self._refusal(f"The folder {folder!r}", error) from error

    def _refusal(self, what: str, error: OSError) -> Exception:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
            return NotFound(f"{what} is not there: a part of its path is a link or no folder.")
        if isinstance(error, PermissionError):
            return PermissionDenied(f"{what} may not be used by this server: {error.strerror}. Change its permissions.")
        return Unavailable(f"{what} cannot be used: {error.strerror or error}.")

    def _see_root(self) -> None:
        if not os.path.isdir(self._root):  # noqa: PTH112 - kept as text, because it is joined in every walk
            raise Unavailable(f"The documents' folder {self._root!r} is not there. Make it, or name another.")

    def _hint(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        try:
            near = self.nearest(name, folder)
        except NotFound:
            return f" There is no folder {folder!r}."
        start = f"{folder}/" if folder else ""
        return f" The nearest are {', '.join(repr(start + path) for path in near)}." if near else ""

    def _folder_names(self, folder: str) -> tuple[str, ...]:
        try:
            with self._lock:
                return self._folders.listing(_folder_parts(folder)).folders
        except OSError:
            return ()


def _named(listing: Listing, names: Iterable[str]) -> Iterator[str]:
    return (found for name in names for found in listing.named(name))


def _fitting(base: str, folder: str, names: Iterable[str], wanted: PatternSet) -> Iterator[str]:
    """The paths of these names in a folder that fit, seen from the base."""
    prefix = f"{folder}/" if folder else ""
    relative = prefix[len(base) + 1 :] if base else prefix
    return (prefix + name for name in names if wanted.fits(relative + name))


def _folder_parts(folder: str) -> tuple[str, ...]:
    return () if folder in ("", ".") else parts_of(folder.rstrip("/"))


def _encoded(path: str, text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        problem = f"The text for {shown(path)} has a character that is none: {error.object[error.start]!r}."
        raise InvalidArguments(f"{problem} Remove it.") from error
    if len(data) > LARGEST_DOCUMENT:
        raise InvalidArguments(
            f"The text for {shown(path)} has {len(data):,} bytes, more than {LARGEST_DOCUMENT:,}. Split it."
        )
    return data
