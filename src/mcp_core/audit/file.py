"""Audit records as lines of a file, which is rotated by size or age, or by logrotate."""

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from mcp_core.audit.chain import parse
from mcp_core.mcp_log import get_logger
from mcp_core.process.start_errors import CannotStart

logger = get_logger(__name__)

CHECK_SECONDS = 1.0
"""How often a writer looks whether its file was moved away, by another process or by logrotate."""
MAX_LINE = 1_000_000
_ROTATED = re.compile(r"\.\d{8}T\d{6}Z(-\d+)?(\.gz)?$")


class Rotation(NamedTuple):
    """When a file is full, and how long full files are kept. None means never, or for ever."""

    size: int | None = None
    seconds: float | None = None
    keep_seconds: float | None = None


class FileSink:
    """Appends lines to a file that only its owner can read. Several processes may share the file."""

    def __init__(
        self,
        path: Path,
        rotation: Rotation | None = None,
        *,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        path = path.expanduser()
        self.location, self._path = str(path), path
        self._rotation, self._clock, self._ticks = rotation or Rotation(), clock, ticks
        self._is_file, self._rotates = True, self._rotation.size is not None or self._rotation.seconds is not None
        self._torn = False
        """Whether the last line of the file may be the beginning of a record."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._open()
        except OSError as error:
            reason = f"The audit file {self.location!r} cannot be written: {error.strerror}."
            raise CannotStart(f"{reason} Choose another with --audit.") from None
        self._remove_old_files()

    def _open(self) -> int:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        status = os.fstat(file)
        self._size, self._inode, self._checked = status.st_size, (status.st_dev, status.st_ino), self._ticks()
        self._is_file = stat.S_ISREG(status.st_mode)  # not a pipe or a device: those are not rotated
        began = _first_time(self._path) if self._is_file and status.st_size else None
        self._began = self._clock() if began is None else began
        return file

    def write(self, line: bytes) -> None:
        """Append a line in one write, so that processes that share the file do not mix their lines."""
        if self._is_file and self._ticks() - self._checked >= CHECK_SECONDS:
            self._reopen_if_moved()
        if self._torn:
            line = b"\n" + line
        written = os.write(self._file, line)
        if written != len(line):
            # The disk is nearly full. What was written stays as a line that is not a record, and the record follows.
            self._torn = True
            whole = b"\n" + line
            if os.write(self._file, whole) != len(whole):
                raise OSError(errno.ENOSPC, "a line was cut short")
        self._torn = False
        self._size += len(line)
        if self._rotates and self._is_file and self._is_full():
            self._rotate()

    def write_together(self, lines: Sequence[bytes]) -> int:
        """Append lines in one write. Returns how many are complete: fewer than all if the disk is nearly full."""
        if self._torn:
            return 0
        if self._is_file and self._ticks() - self._checked >= CHECK_SECONDS:
            self._reopen_if_moved()
        data = b"".join(lines)
        written = os.write(self._file, data)
        self._size += written
        if written != len(data):
            self._torn = not data[:written].endswith(b"\n") and written > 0
            return data.count(b"\n", 0, written)
        if self._rotates and self._is_file and self._is_full():
            self._rotate()
        return len(lines)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _is_full(self) -> bool:
        size, seconds = self._rotation.size, self._rotation.seconds
        return (size is not None and self._size >= size) or (
            seconds is not None and self._clock() - self._began >= seconds
        )

    def _reopen_if_moved(self) -> None:
        self._checked = self._ticks()
        try:
            status = self._path.stat()
        except FileNotFoundError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self._inode:
            old, self._file = self._file, self._open()
            self._torn = False
            os.close(old)
        else:
            self._size = status.st_size

    def _rotate(self) -> None:
        """Move the file away, unless another process has done so, and begin a new one.

        Two processes that do so in the same moment begin two: one of the files has few records, and none is lost.
        """
        try:
            self._reopen_if_moved()
            if self._is_full():
                self._path.rename(self._free_name())
                self._reopen_if_moved()
            self._remove_old_files()
        except OSError as error:
            logger.error("The audit file %s cannot be rotated: %s", self.location, error)
            self._began, self._size = self._clock(), 0  # the next try is after as much again

    def _free_name(self) -> Path:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._clock()))
        names = (f"{self._path.name}.{stamp}{f'-{n}' if n else ''}" for n in range(10**9))
        return next(name for name in map(self._path.with_name, names) if not name.exists())

    def _remove_old_files(self) -> None:
        keep = self._rotation.keep_seconds
        if keep is None:
            return
        for file in rotated_files(self._path):
            if _ROTATED.search(file.name) and file.stat().st_mtime < self._clock() - keep:
                file.unlink(missing_ok=True)


def rotated_files(path: Path) -> Iterator[Path]:
    """The older files of a trail, by us or by logrotate: `audit.jsonl.1`, `audit.jsonl.20261118T020000Z`, `....gz`."""
    for file in sorted(path.parent.glob(f"{_literal(path.name)}[.-]*")):
        if file.is_file():
            yield file


def _literal(name: str) -> str:
    return re.sub(r"([\[*?])", r"[\1]", name)


def _first_time(path: Path) -> float | None:
    """The time of the first record in a file."""
    with path.open("rb") as file:
        record = parse(file.readline(MAX_LINE))
    try:
        return datetime.fromisoformat(record.members["time"]).timestamp() if record else None
    except (KeyError, TypeError, ValueError):
        return None
