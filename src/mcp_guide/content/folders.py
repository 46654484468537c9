"""What folders hold, remembered together with their times.

Adding, removing or renaming changes a folder's times, so one question to the system tells whether the memory of it
still holds.
"""

import errno
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcp_guide.content.files import Files, Stamp, is_name, is_settled, stamp
from mcp_guide.content.patterns import stem

NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder held when it had this stamp."""

    stamp: Stamp
    is_settled: bool
    documents: dict[str, list[str]]
    """The names of the documents by their stems."""
    folders: tuple[str, ...]

    def names(self) -> Iterator[str]:
        for names in self.documents.values():
            yield from names

    def named(self, name: str) -> Iterator[str]:
        """The document of that name, and those of that stem."""
        yield from self.documents.get(name, ())
        if (short := stem(name)) != name and name in self.documents.get(short, ()):
            yield name


class Folders:
    """The folders of documents. Not for several threads at once; raises OSError as the system does."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._root = os.fspath(files.root)
        self._listings: dict[str, Listing] = {}
        self.unreadable: dict[str, str] = {}
        """Those that could not be looked into, and why."""

    def listing(self, parts: tuple[str, ...]) -> Listing:
        """What a folder holds, reached from the root without a link."""
        folder = "/".join(parts)
        opened = self._files.open_folder(parts)
        try:
            now = time.time_ns()
            status = os.fstat(opened)
            known = self._listings.get(folder)
            if known is not None and known.is_settled and known.stamp == stamp(status):
                return known
            with os.scandir(opened) as entries:
                listing = _listing(entries, stamp(status), settled=is_settled(status, now))
        finally:
            os.close(opened)
        if known is not None:
            self._forget_below(folder, set(known.folders).difference(listing.folders))
        self._listings[folder] = listing
        return listing

    def walk(self, parts: tuple[str, ...], depth: int | None = None) -> Iterator[tuple[str, Listing]]:
        """A folder and those below it, at most so deep, each with what it holds."""
        waiting = [("/".join(parts), self.listing(parts), 0)]
        while waiting:
            folder, listing, level = waiting.pop()
            yield folder, listing
            if depth is None or level < depth:
                for name in listing.folders:
                    path = f"{folder}/{name}" if folder else name
                    if (inner := self._inner(path)) is not None:
                        waiting.append((path, inner, level + 1))

    def forget(self, parts: tuple[str, ...]) -> None:
        """Look into it again next time."""
        self._listings.pop("/".join(parts), None)

    def _inner(self, folder: str) -> Listing | None:
        """What a folder holds that a listing names; None where it is gone or closed to us.

        Its way was walked just now, so one question about it alone is enough: the inode is part of the answer.
        """
        known = self._listings.get(folder)
        try:
            if known is not None and known.is_settled and stamp(os.lstat(f"{self._root}/{folder}")) == known.stamp:
                return known
            listing = self.listing(tuple(folder.split("/")))
        except OSError as error:
            self._listings.pop(folder, None)
            if error.errno not in NOT_THERE or error.errno == errno.ENAMETOOLONG:
                self.unreadable[folder] = error.strerror or str(error)
            return None
        self.unreadable.pop(folder, None)
        return listing

    def _forget_below(self, folder: str, gone: Iterable[str]) -> None:
        for name in gone:
            path = f"{folder}/{name}" if folder else name
            for known in [k for k in self._listings if k == path or k.startswith(f"{path}/")]:
                del self._listings[known]


def _listing(entries: Iterable["os.DirEntry[str]"], at: Stamp, *, settled: bool) -> Listing:
    documents: dict[str, list[str]] = {}
    folders: list[str] = []
    for entry in entries:
        name = entry.name
        if not is_name(name):
            continue
        if entry.is_file(follow_symlinks=False):
            documents.setdefault(stem(name), []).append(name)
        elif entry.is_dir(follow_symlinks=False):
            folders.append(name)
    return Listing(at, settled, documents, tuple(folders))
