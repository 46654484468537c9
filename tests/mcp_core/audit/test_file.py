"""The audit file: short writes, rotation, retention, logrotate, full disks and jumping clocks."""

import errno
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcp_core.audit import AuditTrail, verify
from mcp_core.audit import file as audit_file
from mcp_core.audit.chain import parse
from mcp_core.audit.file import FileSink, Rotation, rotated_files


class Clock:
    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def files_of(path: Path) -> list[tuple[str, list[bytes]]]:
    return [(file.name, file.read_bytes().splitlines()) for file in (path, *rotated_files(path))]


async def opened(
    path: Path, rotation: Rotation | None = None, clock: Clock | None = None, ticks: Clock | None = None
) -> AuditTrail:
    sink = FileSink(path, rotation, clock=clock or Clock(), ticks=ticks or Clock(0.0))
    trail = AuditTrail("test", sink)
    await trail.open()
    return trail


def add(trail: AuditTrail, number: int = 0) -> bool:
    return trail.append(f'"number":{number}', "2026-01-01", None, None, "ok")


async def test_a_short_write_does_not_join_two_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "audit.jsonl"
    trail = await opened(path)
    write, cut = os.write, [30, 0]

    def short(file: int, data: bytes) -> int:
        return write(file, data[: cut.pop(0)] if cut else data)

    monkeypatch.setattr(audit_file.os, "write", short)
    assert not add(trail, 1)  # cut twice: not written
    assert add(trail, 2)
    cut[:] = [25]
    assert add(trail, 3)  # cut once: written whole in a second try
    monkeypatch.undo()
    await trail.close()
    report = verify(files_of(path))
    (chain,) = report.chains.values()
    assert (report.problems, report.fragments, chain.lost) == ([], 2, 1)
    assert b'"number":1' not in path.read_bytes()


@pytest.mark.parametrize("cut", [0, 30, 600, 601, 10_000])
async def test_a_short_write_of_several_records_loses_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int):
    path = tmp_path / "audit.jsonl"
    trail = await opened(path)
    write, cuts = os.write, [cut]

    def short(file: int, data: bytes) -> int:
        if cuts and cuts[0] == 601:  # after a whole line
            cuts[0] = data.index(b"\n") + 1
        return write(file, data[: cuts.pop()] if cuts else data)

    monkeypatch.setattr(audit_file.os, "write", short)
    trail.hold()
    assert all(add(trail, number) for number in range(10))
    assert b"number" not in path.read_bytes()
    trail.release()
    assert add(trail, 10)
    await trail.close()
    report = verify(files_of(path))
    (chain,) = report.chains.values()
    assert (report.problems, chain.lost, chain.records, trail.written) == ([], 0, 13, 13)
    records = filter(None, map(parse, path.read_bytes().splitlines()))
    assert [record.members["number"] for record in records if "number" in record.members] == [*range(11)]


async def test_records_that_are_written_together_can_fail_and_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "audit.jsonl"
    trail = await opened(path)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as disk:
        disk.setattr(audit_file.os, "write", full)
        trail.hold()
        add(trail, 1)
        add(trail, 2)
        trail.release()
        assert (trail.lost, trail.failing) == (2, True)
    trail.hold()
    add(trail, 3)
    add(trail, 4)
    trail.release()
    await trail.close()
    report = verify(files_of(path))
    (chain,) = report.chains.values()
    assert (report.problems, chain.lost, trail.failing) == ([], 2, False)


async def test_with_refuse_each_record_is_written_at_once(tmp_path: Path):
    path = tmp_path / "audit.jsonl"
    trail = AuditTrail("test", FileSink(path), policy="refuse")
    await trail.open()
    trail.hold()
    add(trail, 1)
    assert b'"number":1' in path.read_bytes()
    trail.release()
    await trail.close()


async def test_a_full_file_is_rotated_by_size_and_the_chain_goes_on(tmp_path: Path):
    path, clock = tmp_path / "audit.jsonl", Clock()
    trail = await opened(path, Rotation(size=2000), clock)
    for number in range(50):
        add(trail, number)
    await trail.close()
    names = sorted(file.name for file in rotated_files(path))
    assert names[0] == "audit.jsonl.20270115T080000Z"
    assert len(names) > 3
    assert all(file.stat().st_size < 2400 for file in (path, *rotated_files(path)))
    report = verify(files_of(path))
    assert (report.problems, [chain.records for chain in report.chains.values()]) == ([], [52])


async def test_a_file_is_rotated_by_age_also_one_that_was_begun_before_a_restart(tmp_path: Path):
    path, clock = tmp_path / "audit.jsonl", Clock()
    first = await opened(path, Rotation(seconds=3600), clock)
    add(first)
    assert not list(rotated_files(path))
    clock.now += 3601
    add(first)
    await first.close()
    assert len(list(rotated_files(path))) == 1
    # The records say when their file began: in the real present, years before this clock.
    await (await opened(path, Rotation(seconds=3600), clock)).close()
    assert len(list(rotated_files(path))) >= 2
    assert verify(files_of(path)).problems == []


async def test_a_clock_that_jumps_loses_no_record_and_breaks_no_chain(tmp_path: Path):
    path, clock = tmp_path / "audit.jsonl", Clock(time.time())
    trail = await opened(path, Rotation(seconds=600, keep_seconds=86_400), clock)
    for jump in (0, 3600, -3600, -3600, 7200):
        clock.now += jump
        for number in range(3):
            assert add(trail, number)
    await trail.close()
    report = verify(files_of(path))
    assert (report.problems, [chain.records for chain in report.chains.values()]) == ([], [17])


async def test_old_files_are_removed_and_the_rest_still_verifies(tmp_path: Path):
    path, clock = tmp_path / "audit.jsonl", Clock(time.time())
    trail = await opened(path, Rotation(size=1000, keep_seconds=86_400), clock)
    for number in range(30):
        add(trail, number)
    old = list(rotated_files(path))
    for file in old[:4]:
        os.utime(file, (clock.now - 90_000, clock.now - 90_000))
    for file in old[4:]:
        os.utime(file, (clock.now, clock.now))
    (tmp_path / "audit.jsonl.notes").write_text("not ours")
    for number in range(3):
        add(trail, number)
    await trail.close()
    assert not any(file.exists() for file in old[:4])
    assert all(file.exists() for file in old[4:])
    assert (tmp_path / "audit.jsonl.notes").exists()
    report = verify(files_of(path))
    assert report.problems == []
    assert [chain.first > 1 for chain in report.chains.values()] == [True]


async def test_after_logrotate_the_new_file_is_written(tmp_path: Path):
    path, ticks = tmp_path / "audit.jsonl", Clock(0.0)
    trail = await opened(path, ticks=ticks)
    add(trail, 1)
    path.rename(tmp_path / "audit.jsonl.1")
    add(trail, 2)  # within the second: still in the old file
    ticks.now += audit_file.CHECK_SECONDS
    add(trail, 3)
    await trail.close()
    assert b'"number":3' in path.read_bytes()
    assert b'"number":2' in (tmp_path / "audit.jsonl.1").read_bytes()
    assert verify(files_of(path)).problems == []


async def test_two_writers_rotate_one_file_and_lose_nothing(tmp_path: Path):
    path, ticks = tmp_path / "audit.jsonl", Clock(0.0)
    trails = [await opened(path, Rotation(size=1500), ticks=ticks) for _ in range(2)]
    for number in range(60):
        ticks.now += 0.3
        add(trails[number % 2], number)
    for trail in trails:
        await trail.close()
    report = verify(files_of(path))
    assert (report.problems, [chain.records for chain in report.chains.values()]) == ([], [32, 32])
    assert len(list(rotated_files(path))) > 3


FULL = """
import asyncio, resource, sys
from mcp_core.audit import AuditTrail
from mcp_core.audit.file import FileSink
from pathlib import Path

async def main():
    trail = AuditTrail("test", FileSink(Path(sys.argv[1])))
    await trail.open()
    write = lambda: trail.append('"text":"%s"' % ("x" * 200), "", None, None, "ok")
    while write():
        pass
    print(trail.lost, trail.failing, write())
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(write(), trail.failing)
    await trail.close()

asyncio.run(main())
"""


def test_a_full_disk_cuts_no_record_and_is_over_when_there_is_room_again(tmp_path: Path):
    """A file size limit makes the system write a part of a line, as a full disk does."""
    path = tmp_path / "audit.jsonl"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))

    done = subprocess.run(
        [sys.executable, "-c", FULL, path], preexec_fn=limit, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["1 True False", "True False"]
    report = verify(files_of(path))
    (chain,) = report.chains.values()
    assert (report.problems, chain.lost, chain.closed) == ([], 2, True)


async def test_a_folder_that_does_not_allow_rotation_is_said_and_records_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log
):
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "audit.jsonl"
    trail = await opened(path, Rotation(size=600))
    monkeypatch.setattr(Path, "rename", refuse)
    assert all(add(trail, number) for number in range(10))
    monkeypatch.undo()
    await trail.close()
    assert any("cannot be rotated" in text for level, text in log.messages if level == "ERROR")
    assert verify(files_of(path)).problems == []
