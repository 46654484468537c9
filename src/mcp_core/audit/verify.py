"""Finds records that were altered, removed, put in another order or added."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from mcp_core.audit.chain import Record, parse

_CHECKPOINT = re.compile(r"(?<![^\s:])([^\s:]++):(\d+):([0-9a-f]{64})\b")
_MAX_PROBLEMS = 100
_START_LENGTH = 40
"""Of a record. What stands before it in its line is a fragment of another one."""


class TrailProblem(NamedTuple):
    """Something that is wrong with a trail."""

    place: str
    text: str


@dataclass(slots=True)
class ChainReport:
    """The findings about one chain."""

    id: str
    first: int = 0
    last: int = 0
    head: str = ""
    records: int = 0
    lost: int = 0
    """Records that the server itself reported as not written."""
    closed: bool = False
    """Whether the server ended the chain itself. If not, it still runs, was killed, or the end was cut off."""
    keyed: bool = False


class _Run(NamedTuple):
    """Consecutive records of a chain in one file."""

    file: str
    first: Record
    last: Record


@dataclass(slots=True)
class TrailReport:
    """The findings of a verification."""

    chains: dict[str, ChainReport] = field(default_factory=dict[str, ChainReport])
    problems: list[TrailProblem] = field(default_factory=list[TrailProblem])
    fragments: int = 0
    """Parts of lines that are not records: what a full disk leaves."""
    unchecked: int = 0
    """Records with an HMAC, which cannot be checked without the key."""

    def add(self, place: str, text: str) -> None:
        """Note a problem. After a hundred, no more are noted."""
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(TrailProblem(place, text))


def verify(
    files: Iterable[tuple[str, Iterable[bytes]]], key: bytes | None = None, checkpoints: str = ""
) -> TrailReport:
    """Check all records of all files, in any order of files. `checkpoints` is any text with checkpoints in it."""
    report, known = TrailReport(), _Checkpoints(checkpoints)
    runs: dict[str, list[_Run]] = {}
    for file, lines in files:
        for chain, run in _check_file(file, lines, key, known, report).items():
            runs.setdefault(chain, []).append(run)
    for chain, parts in runs.items():
        _join(chain, sorted(parts, key=lambda run: (run.first.seq, run.last.seq)), report)
    for chain, seq in sorted(known.hashes.keys() - known.found):
        _check_missing(chain, seq, report)
    return report


class _Checkpoints:
    """The hashes that records must have, by chain and number."""

    def __init__(self, text: str) -> None:
        self.hashes = {(found[1], int(found[2])): found[3] for found in _CHECKPOINT.finditer(text)}
        self.found: set[tuple[str, int]] = set()

    def matches(self, record: Record) -> bool:
        """Whether a record is the one of its checkpoint, or has none."""
        mark = (record.chain, record.seq)
        if mark not in self.hashes:
            return True
        self.found.add(mark)
        return self.hashes[mark] == record.hash


def _check_file(
    file: str, lines: Iterable[bytes], key: bytes | None, checkpoints: _Checkpoints, report: TrailReport
) -> dict[str, _Run]:
    runs: dict[str, _Run] = {}
    for number, line in enumerate(lines, start=1):
        record = parse(line, key)
        if record is None:
            report.fragments += bool(line.strip())
            continue
        report.fragments += not line.startswith(record.line.encode("utf-8", "replace")[:_START_LENGTH])
        place = f"{file}, line {number}"
        _check_record(record, place, report, key)
        if not checkpoints.matches(record):
            report.add(place, f"record {record.seq} of {record.chain} is not the one of the checkpoint")
        before = runs.get(record.chain)
        if before is not None:
            _check_link(before.last, record, place, report)
        runs[record.chain] = _Run(file, before.first if before else record, record)
    return runs


def _check_record(record: Record, place: str, report: TrailReport, key: bytes | None) -> None:
    found = report.chains.setdefault(record.chain, ChainReport(record.chain))
    found.records += 1
    if "hmac" in record.members:
        found.keyed = True
        report.unchecked += key is None
    if not record.intact:
        missing_key = key is not None and "hmac" not in record.members
        why = "has no HMAC, though a key is given" if missing_key else "was altered: its hash does not fit"
        report.add(place, f"record {record.seq} of {record.chain} {why}")
    if record.members.get("event") == "lost":
        found.lost += _number(record.members.get("records"))


def _check_link(before: Record, record: Record, place: str, report: TrailReport) -> None:
    if record.seq == before.seq + 1:
        if record.prev != before.hash:
            report.add(place, f"record {record.seq} of {record.chain} does not follow the record before it")
    elif record.seq > before.seq + 1:
        first, last = before.seq + 1, record.seq - 1
        missing = f"record {first} is" if first == last else f"records {first} to {last} are"
        report.add(place, f"{missing} missing from {record.chain}")
    else:
        report.add(place, f"record {record.seq} of {record.chain} stands after record {before.seq}")


def _join(chain: str, runs: list[_Run], report: TrailReport) -> None:
    """Check the links between files. The first record of all may be any: retention removes older ones."""
    found = report.chains[chain]
    found.first, found.last, found.head = runs[0].first.seq, runs[-1].last.seq, runs[-1].last.hash
    found.closed = runs[-1].last.members.get("event") == "closed"
    if found.first == 1 and runs[0].first.prev:
        report.add(runs[0].file, f"record 1 of {chain} does not begin the chain")
    for before, after in pairwise(runs):
        _check_link(before.last, after.first, f"{after.file}, its first record of {chain}", report)


def _check_missing(chain: str, seq: int, report: TrailReport) -> None:
    """A checkpoint whose record was not found: a part of the chain, or all of it, is missing."""
    found = report.chains.get(chain)
    if found is None:
        report.add("checkpoints", f"chain {chain} is missing as a whole, up to record {seq} at least")
    elif seq > found.last:
        report.add("checkpoints", f"the end of {chain} is missing: records {found.last + 1} to {seq} at least")
    elif seq < found.first:
        return  # removed by retention, together with the files or rows around it
    else:
        report.add("checkpoints", f"record {seq} of {chain} is missing")


def _number(value: Any) -> int:
    return value if type(value) is int else 0
