"""Files below one folder, reached so that nothing outside of it is ever read or written.

A path is opened name by name, each relative to the folder before it and never through a link, so it does not
matter what is swapped in between a check and an opening. Links are ignored, also those that stay inside: a
document has one path. Hidden names, and names that could not be shown or written in a path, are ignored too.
"""

import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mcp_core.errors import InvalidArguments, Unavailable
from mcp_guide.content.patterns import shown

LONGEST_NAME = 255
LONGEST_PATH = 2_000
LARGEST_DOCUMENT = 4_000_000

# No slash or backslash, no control character or line separator, and no half character, which cannot be encoded.
_NAME = re.compile("(?!\\.)[^/\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")

_SUPPORTED = (
    hasattr(os, "O_NOFOLLOW")
    and hasattr(os, "O_DIRECTORY")
    and {os.open, os.mkdir, os.link, os.rename, os.unlink, os.stat} <= os.supports_dir_fd
    and os.scandir in os.supports_fd
)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOT_THROUGH_A_LINK = getattr(os, "O_NOFOLLOW", 0)
# A pipe that is swapped in must not be waited for, nor a terminal be taken over.
_READ = os.O_RDONLY | _NOT_THROUGH_A_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOT_THROUGH_A_LINK

_COARSE_CLOCK = 2_000_000_000
_FINE_CLOCK = 100_000_000
_SECOND = 1_000_000_000


class Stamp(NamedTuple):
    """What changes whenever a file or a folder's entries do, up to the clock's ticks: see `is_settled`."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int
    device: int


def stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


def is_settled(status: os.stat_result, now_ns: int) -> bool:
    """Whether a change after `now_ns` is sure to change the stamp.

    Two changes within a tick of the file system's clock leave the same times. A tick is a few milliseconds,
    but up to two seconds where times are whole seconds. What is that young has to be looked at again.
    """
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    return now_ns - newest > (_FINE_CLOCK if newest % _SECOND else _COARSE_CLOCK)


def is_name(name: str) -> bool:
    """Whether something of that name can be a document or a folder of documents."""
    return _NAME.fullmatch(name) is not None


def parts_of(path: str) -> tuple[str, ...]:
    """The names of a path below the root. Raises InvalidArguments."""
    if len(path) > LONGEST_PATH:
        raise InvalidArguments(f"The path {shown(path)} has {len(path):,} characters, more than {LONGEST_PATH:,}.")
    parts = tuple(path.split("/"))
    for name in parts:
        if not is_name(name) or len(name.encode()) > LONGEST_NAME:
            raise InvalidArguments(
                f"The path {shown(path)} has the part {shown(name)}, which no document has. Give a path below the "
                f"documents' folder, such as 'lang/python.md', without '..', hidden names or backslashes."
            )
    return parts


@dataclass(frozen=True, slots=True)
class Files:
    """The files below a root. Raises OSError as the system does, FileNotFoundError for what is no plain file."""

    root: Path

    def __post_init__(self) -> None:
        if not _SUPPORTED:
            raise Unavailable(
                f"The documents in {str(self.root)!r} cannot be opened safely on this system, which has no way to open "
                "a file without following links. Run the server on Linux or macOS, or in WSL."
            )

    def open_folder(self, parts: tuple[str, ...], *, create: bool = False) -> int:
        """A descriptor of the folder; the caller closes it."""
        folder = os.open(self.root, _FOLDER)
        for name in parts:
            try:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=folder)
                inner = os.open(name, _FOLDER | _NOT_THROUGH_A_LINK, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
        return folder

    def status(self, parts: tuple[str, ...]) -> os.stat_result:
        """What the system says about a document."""
        folder = self.open_folder(parts[:-1])
        try:
            return _status(folder, parts[-1])
        finally:
            os.close(folder)

    def read(self, parts: tuple[str, ...], known: Stamp | None = None) -> tuple[os.stat_result, bytes | None]:
        """A document's bytes, at most one more than the largest has; None where it is still what is known."""
        folder = self.open_folder(parts[:-1])
        try:
            status = _status(folder, parts[-1])  # first, because opening a device can do things
            if known is not None and stamp(status) == known:
                return status, None
            return _read(folder, parts[-1])
        finally:
            os.close(folder)

    def create(self, parts: tuple[str, ...], data: bytes) -> None:
        """A new file, folders included. FileExistsError where something has that name, whoever came first."""
        folder = self.open_folder(parts[:-1], create=True)
        try:
            temporary = _write_temporary(folder, data)
            try:
                _link(folder, temporary, parts[-1], data)
            finally:
                os.unlink(temporary, dir_fd=folder)
        finally:
            os.close(folder)

    def replace(self, parts: tuple[str, ...], data: bytes) -> None:
        """Other content for a file that is there, at once, with the mode it had."""
        folder = self.open_folder(parts[:-1])
        try:
            mode = stat.S_IMODE(_status(folder, parts[-1]).st_mode)
            temporary = _write_temporary(folder, data, mode)
            try:
                os.rename(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
        finally:
            os.close(folder)

    def delete(self, parts: tuple[str, ...]) -> None:
        folder = self.open_folder(parts[:-1])
        try:
            _status(folder, parts[-1])
            os.unlink(parts[-1], dir_fd=folder)
        finally:
            os.close(folder)


def _status(folder: int, name: str) -> os.stat_result:
    return _plain(os.stat(name, dir_fd=folder, follow_symlinks=False), name)


def _plain(status: os.stat_result, name: str) -> os.stat_result:
    if not stat.S_ISREG(status.st_mode):
        raise FileNotFoundError(f"{name!r} is no plain file")
    return status


def _read(folder: int, name: str) -> tuple[os.stat_result, bytes]:
    opened = os.open(name, _READ, dir_fd=folder)
    try:
        status = _plain(os.fstat(opened), name)
        pieces, left = list[bytes](), LARGEST_DOCUMENT + 1
        while left > 0 and (piece := os.read(opened, min(left, status.st_size + 1 if not pieces else 65_536))):
            pieces.append(piece)
            left -= len(piece)
        return status, b"".join(pieces)
    finally:
        os.close(opened)


def _write_temporary(folder: int, data: bytes, mode: int | None = None) -> str:
    name = f".{secrets.token_hex(12)}.tmp"  # hidden, so that no one takes it for a document
    _write(folder, name, data, mode)
    return name


def _write(folder: int, name: str, data: bytes, mode: int | None = None) -> None:
    opened = os.open(name, _WRITE, 0o666 if mode is None else 0o600, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(opened, view) :]
        if mode is not None:
            os.fchmod(opened, mode)
        os.fsync(opened)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(opened)


def _link(folder: int, temporary: str, name: str, data: bytes) -> None:
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: seen half written for a moment, and still never overwritten
        _write(folder, name, data)
