"""The contents of folders, cached with their stamps.

Adding, removing or renaming an entry changes the times of a folder, so one stat call shows whether a cached listing
is still valid.
"""

import errno
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcp_guide.content.files import Files, Stamp, delete_if_left_over, is_name, is_stamp_reliable, stamp
from mcp_guide.content.patterns import normalize, stem

MISSING_ERRNOS = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The contents of a folder when it had this stamp."""

    stamp: Stamp
    is_reliable: bool
    """Whether the stamp is (`is_stamp_reliable`)."""
    documents: dict[str, list[str]]
    """Document names by stem. The stems are normalized, the names are as stored."""
    folders: tuple[str, ...]
    count: int
    """The number of documents."""

    def names(self) -> Iterator[str]:
        for names in self.documents.values():
            yield from names

    def named(self, name: str) -> Iterator[str]:
        """The document of that normalized name, else the documents of that stem."""
        exact = [other for other in self.documents.get(stem(name), ()) if normalize(other) == name]
        yield from exact if exact and stem(name) != name else self.documents.get(name, ())


class FolderListings:
    """Listings of the folders below a root. Not thread-safe. Raises OSError as the system does."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._root = os.fspath(files.root)
        self._listings: dict[str, FolderListing] = {}
        self.unreadable: dict[str, str] = {}
        """Folders that cannot be listed, with the reason."""

    def listing(self, parts: tuple[str, ...]) -> FolderListing:
        """The listing of a folder, reached from the root without following a link."""
        folder = "/".join(parts)
        opened = self._files.open_folder(parts)
        try:
            now = time.time_ns()
            status = os.fstat(opened)
            known = self._listings.get(folder)
            if known is not None and known.is_reliable and known.stamp == stamp(status):
                return known
            with os.scandir(opened) as entries:
                names = list(entries)
            for hidden in [entry.name for entry in names if entry.name[0] == "."]:
                delete_if_left_over(opened, hidden, now)
            listing = _make_listing(names, stamp(status), reliable=is_stamp_reliable(status, now))
        finally:
            os.close(opened)
        if known is not None:
            self._forget_below(folder, set(known.folders).difference(listing.folders))
        self._listings[folder] = listing
        return listing

    def walk(self, parts: tuple[str, ...], depth: int | None = None) -> Iterator[tuple[str, FolderListing]]:
        """A folder and the folders below it, down to a depth, each with its listing."""
        waiting = [("/".join(parts), self.listing(parts), 0)]
        while waiting:
            folder, listing, level = waiting.pop()
            yield folder, listing
            if depth is None or level < depth:
                for name in listing.folders:
                    path = f"{folder}/{name}" if folder else name
                    if (inner := self._child_listing(path)) is not None:
                        waiting.append((path, inner, level + 1))

    def forget(self, parts: tuple[str, ...]) -> None:
        """Drop the cached listing of a folder."""
        self._listings.pop("/".join(parts), None)

    def _child_listing(self, folder: str) -> FolderListing | None:
        """The listing of a folder that its parent names; None if it is gone or not readable.

        The path to it was just walked, so one stat of the folder itself is enough: the stamp includes the inode.
        """
        known = self._listings.get(folder)
        try:
            if known is not None and known.is_reliable and stamp(os.lstat(f"{self._root}/{folder}")) == known.stamp:
                return known
            listing = self.listing(tuple(folder.split("/")))
        except OSError as error:
            self._listings.pop(folder, None)
            if error.errno not in MISSING_ERRNOS or error.errno == errno.ENAMETOOLONG:
                self.unreadable[folder] = error.strerror or str(error)
            return None
        self.unreadable.pop(folder, None)
        return listing

    def _forget_below(self, folder: str, gone: Iterable[str]) -> None:
        for name in gone:
            path = f"{folder}/{name}" if folder else name
            for known in [k for k in self._listings if k == path or k.startswith(f"{path}/")]:
                del self._listings[known]


def _make_listing(entries: Iterable["os.DirEntry[str]"], at: Stamp, *, reliable: bool) -> FolderListing:
    documents: dict[str, list[str]] = {}
    folders: list[str] = []
    for entry in entries:
        name = entry.name
        if not is_name(name):
            continue
        if entry.is_file(follow_symlinks=False):
            documents.setdefault(stem(normalize(name)), []).append(name)
        elif entry.is_dir(follow_symlinks=False):
            folders.append(name)
    return FolderListing(at, reliable, documents, tuple(folders), sum(map(len, documents.values())))
