"""Reads the records of an audit trail: all files of it, also while it is written."""

import gzip
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from mcp_core.audit.chain import Record, parse
from mcp_core.audit.file import rotated_files

POLL_SECONDS = 0.5


class RecordFilter(NamedTuple):
    """Which records are wanted. None stands for all."""

    tool: str | None = None
    caller: str | None = None
    outcome: str | None = None
    since: str | None = None
    """A time in UTC, written as records write it."""

    def matches(self, members: dict[str, Any]) -> bool:
        """Whether a record is wanted. Records about the trail itself are so only if all are."""
        if "event" in members:
            return not (self.tool or self.caller or self.outcome) and self._is_recent(members)
        caller = str(members.get("caller"))
        return (
            (self.tool is None or self.tool in (members.get("tool"), members.get("name")))
            and (self.caller is None or self.caller in (caller, caller.partition(":")[2]))
            and (self.outcome is None or members.get("outcome") == self.outcome)
            and self._is_recent(members)
        )

    def _is_recent(self, members: dict[str, Any]) -> bool:
        return self.since is None or str(members.get("time")) >= self.since


def trail_files(path: Path) -> list[Path]:
    """All files of a trail, the oldest first, the current one last."""
    older = sorted(rotated_files(path), key=lambda file: file.stat().st_mtime)
    return [*older, path] if path.exists() else older


def read_lines(file: Path) -> Iterator[bytes]:
    """The lines of a file, also of one that logrotate has compressed."""
    with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
        yield from lines


def read_records(path: Path) -> Iterator[Record]:
    """The records of all files."""
    for file in trail_files(path):
        yield from filter(None, map(parse, read_lines(file)))


def follow_records(path: Path) -> Iterator[Record]:
    """The records that are written from now on, also after the file was rotated. Never ends."""
    file = path.open("rb")
    file.seek(0, os.SEEK_END)
    return _follow(path, file)


def _follow(path: Path, file: IO[bytes]) -> Iterator[Record]:
    rest = b""
    while True:
        if chunk := file.read():
            *whole, rest = (rest + chunk).split(b"\n")
            yield from filter(None, map(parse, whole))
        elif path.exists() and path.stat().st_ino != _inode(file):
            file.close()
            file, rest = path.open("rb"), b""
        else:
            time.sleep(POLL_SECONDS)


def _inode(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_ino
