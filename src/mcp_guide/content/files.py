"""Files below one folder. Nothing outside it is ever read or written.

A path is opened name by name, each relative to the previous folder and never through a link, so a swap between
check and open does no harm. Links are ignored, even those that stay inside: a document has one path. Hidden names
and names that cannot be written in a path are ignored too.
"""

import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mcp_guide.content.patterns import quote_text
from toolcharter import InvalidArguments, Unavailable

MAX_NAME_LENGTH = 255
MAX_PATH_LENGTH = 2_000
MAX_DOCUMENT_BYTES = 4_000_000

# No slash or backslash, control character, line separator or lone surrogate (which cannot be encoded).
_NAME = re.compile("(?!\\.)[^/\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")

_SUPPORTED = (
    hasattr(os, "O_NOFOLLOW")
    and hasattr(os, "O_DIRECTORY")
    and {os.open, os.mkdir, os.link, os.rename, os.unlink, os.stat} <= os.supports_dir_fd
    and os.scandir in os.supports_fd
)
_OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# Do not wait for a pipe that was swapped in, and do not let a terminal become the controlling one.
_OPEN_TO_READ = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_OPEN_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW

_TEMPORARY = re.compile(r"\.mcp-guide-[0-9a-f]{24}\.tmp")
_LEFT_OVER_NS = 3_600_000_000_000
"""A temporary file that is one hour old is no longer being written."""

_COARSE_TICK_NS = 2_000_000_000
_FINE_TICK_NS = 100_000_000
_SECOND_NS = 1_000_000_000


class Stamp(NamedTuple):
    """Changes whenever a file or the entries of a folder change, within clock resolution (`is_stamp_reliable`)."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int
    device: int


def stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


def is_stamp_reliable(status: os.stat_result, now_ns: int) -> bool:
    """Whether any change after `now_ns` is sure to change the stamp.

    Two changes within one tick of the file system clock have the same times. A tick is a few milliseconds, or up
    to two seconds where times are whole seconds. A stamp younger than that must be checked again.
    """
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    return now_ns - newest > (_FINE_TICK_NS if newest % _SECOND_NS else _COARSE_TICK_NS)


def is_name(name: str) -> bool:
    """Whether a document or a folder of documents can have this name."""
    return _NAME.fullmatch(name) is not None


def split_path(path: str) -> tuple[str, ...]:
    """The names of a path below the root. Raises InvalidArguments."""
    if len(path) > MAX_PATH_LENGTH:
        raise InvalidArguments(
            f"The path {quote_text(path)} has {len(path):,} characters. Use at most {MAX_PATH_LENGTH:,}."
        )
    parts = tuple(path.split("/"))
    for name in parts:
        if not is_name(name) or len(name.encode()) > MAX_NAME_LENGTH:
            raise InvalidArguments(
                f"The path {quote_text(path)} contains {quote_text(name)}, which is not allowed. Use a path below the "
                "document root, such as 'lang/python.md', without '..', hidden names or backslashes."
            )
    return parts


@dataclass(frozen=True, slots=True)
class Files:
    """The files below a root. Raises OSError as the system does; FileNotFoundError for anything but a regular file."""

    root: Path

    def __post_init__(self) -> None:
        if not _SUPPORTED:
            raise Unavailable(
                f"The documents in {str(self.root)!r} cannot be opened safely: this system cannot open a file without "
                "following links. Run the server on Linux, macOS or in WSL."
            )

    def open_folder(self, parts: tuple[str, ...], *, create: bool = False) -> int:
        """Open a folder and return its descriptor. The caller closes it."""
        folder = os.open(self.root, _OPEN_FOLDER)
        for name in parts:
            try:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=folder)
                inner = os.open(name, _OPEN_FOLDER | _NO_FOLLOW, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
        return folder

    def status(self, parts: tuple[str, ...]) -> os.stat_result:
        """The stat result of a document."""
        folder = self.open_folder(parts[:-1])
        try:
            return _status(folder, parts[-1])
        finally:
            os.close(folder)

    def read(self, parts: tuple[str, ...], known: Stamp | None = None) -> tuple[os.stat_result, bytes | None]:
        """The bytes of a document, up to one more than the maximum; None when its stamp is still `known`."""
        folder = self.open_folder(parts[:-1])
        try:
            status = _status(folder, parts[-1])  # before opening: opening a device can have effects
            if known is not None and stamp(status) == known:
                return status, None
            return _read(folder, parts[-1])
        finally:
            os.close(folder)

    def create(self, parts: tuple[str, ...], data: bytes) -> None:
        """Create a file and its folders. Raises FileExistsError if anything has that name, even in a race."""
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
        """Replace the content of an existing file atomically. Its mode stays."""
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
    return _require_regular_file(os.stat(name, dir_fd=folder, follow_symlinks=False), name)


def _require_regular_file(status: os.stat_result, name: str) -> os.stat_result:
    if not stat.S_ISREG(status.st_mode):
        raise FileNotFoundError(f"{name!r} is not a regular file")
    return status


def _read(folder: int, name: str) -> tuple[os.stat_result, bytes]:
    opened = os.open(name, _OPEN_TO_READ, dir_fd=folder)
    try:
        status = _require_regular_file(os.fstat(opened), name)
        pieces, left = list[bytes](), MAX_DOCUMENT_BYTES + 1
        while left > 0 and (piece := os.read(opened, min(left, status.st_size + 1 if not pieces else 65_536))):
            pieces.append(piece)
            left -= len(piece)
        return status, b"".join(pieces)
    finally:
        os.close(opened)


def delete_if_left_over(folder: int, name: str, now_ns: int) -> None:
    """Delete a temporary file of a process that was killed while it was writing. Others are not touched."""
    if _TEMPORARY.fullmatch(name) is None:
        return
    with suppress(OSError):  # a folder that cannot be written to, or another process was faster
        if now_ns - _status(folder, name).st_mtime_ns > _LEFT_OVER_NS:
            os.unlink(name, dir_fd=folder)


def _write_temporary(folder: int, data: bytes, mode: int | None = None) -> str:
    name = f".mcp-guide-{secrets.token_hex(12)}.tmp"  # hidden, so that it is never listed as a document
    _write(folder, name, data, mode)
    return name


def _write(folder: int, name: str, data: bytes, mode: int | None = None) -> None:
    opened = os.open(name, _OPEN_NEW, 0o666 if mode is None else 0o600, dir_fd=folder)
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
    except OSError:  # a file system without hard links: briefly visible half written, but never overwritten
        _write(folder, name, data)
