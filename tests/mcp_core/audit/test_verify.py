"""What `verify` finds, and what it cannot find, in the trail of a real server."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_core import App, Settings
from mcp_core.audit import TrailReport, verify
from mcp_core.audit.chain import Chain, parse
from tests.mcp_core.declared import Number, query

KEY = b"0123456789abcdef0123456789abcdef"


@query({"n": 1})
async def double(n: Number) -> int:
    return 2 * n


async def trail(folder: Path, key: bool = False, calls: int = 5) -> Path:
    """The file of a server that answered calls and ended: one record to open it, one for each call, one to close it."""
    (folder / "key").write_bytes(KEY)
    settings = Settings(audit=folder / "audit.jsonl", audit_key=folder / "key" if key else None)
    async with App("test", version="1.0.0", tools=[double], settings=settings) as app:
        for n in range(calls):
            await app.call("double", {"n": n})
    return folder / "audit.jsonl"


def check(path: Path, key: bytes | None = None, checkpoints: str = "") -> TrailReport:
    return verify([(path.name, path.read_bytes().splitlines())], key, checkpoints)


def problems(report: TrailReport) -> list[str]:
    return [problem.text.replace(next(iter(report.chains), "-"), "CHAIN") for problem in report.problems]


@pytest.mark.requirement("OPS-5")
@pytest.mark.parametrize("key", [False, True], ids=["hash", "hmac"])
async def test_a_trail_that_nobody_touched_is_in_order(tmp_path: Path, key: bool):
    report = check(await trail(tmp_path, key), KEY if key else None)
    (chain,) = report.chains.values()
    assert problems(report) == []
    assert (chain.first, chain.last, chain.records, chain.closed, chain.lost, chain.keyed) == (1, 7, 7, True, 0, key)
    assert (report.fragments, report.unchecked) == (0, 0)


def alter(lines: list[bytes]) -> list[bytes]:
    return [*lines[:3], lines[3].replace(b'"outcome":"ok"', b'"outcome":"no"'), *lines[4:]]


def alter_and_hash_again(lines: list[bytes]) -> list[bytes]:
    record = json.loads(lines[3])
    chain = Chain("x", chain_id=record["chain"])
    chain.seq, chain.head = record["seq"] - 1, record["prev"]
    body = lines[3].split(b",", 3)[3].rpartition(b',"hash"')[0].replace(b'"ok"', b'"no"').decode()
    return [*lines[:3], chain.line(body).rstrip(), *lines[4:]]


TAMPERED: dict[str, tuple[Callable[[list[bytes]], list[bytes]], list[str]]] = {
    "altered": (alter, ["record 4 of CHAIN was altered: its hash does not fit"]),
    "altered, with a new hash": (alter_and_hash_again, ["record 5 of CHAIN does not follow the record before it"]),
    "removed": (lambda lines: lines[:3] + lines[4:], ["record 4 is missing from CHAIN"]),
    "two removed": (lambda lines: lines[:2] + lines[4:], ["records 3 to 4 are missing from CHAIN"]),
    "reordered": (
        lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
        [
            "record 3 is missing from CHAIN",
            "record 3 of CHAIN stands after record 4",
            "record 4 is missing from CHAIN",
        ],
    ),
    "repeated": (lambda lines: [*lines[:3], *lines[2:]], ["record 3 of CHAIN stands after record 3"]),
    "made unreadable": (lambda lines: [*lines[:3], b"{}", *lines[4:]], ["record 4 is missing from CHAIN"]),
}


@pytest.mark.requirement("OPS-5")
@pytest.mark.parametrize(("change", "found"), TAMPERED.values(), ids=TAMPERED)
async def test_what_was_changed_is_found(tmp_path: Path, change: Callable[..., list[bytes]], found: list[str]):
    path = await trail(tmp_path)
    path.write_bytes(b"\n".join(change(path.read_bytes().splitlines())))
    assert problems(check(path)) == found


async def test_without_the_key_nobody_can_make_a_chain_that_fits(tmp_path: Path):
    path = await trail(tmp_path, key=True)
    lines = path.read_bytes().splitlines()
    assert check(path).unchecked == 7
    assert (
        problems(check(path, b"another key of enough bytes"))[0]
        == "record 1 of CHAIN was altered: its hash does not fit"
    )
    # Somebody without the key writes the whole chain again, as one without a key.
    chain, forged = Chain("x", chain_id=parse(lines[0]).chain), []
    for line in lines:
        forged.append(chain.line(line.split(b",", 3)[3].rpartition(b',"hmac"')[0].decode()).rstrip())
        chain.advance()
    path.write_bytes(b"\n".join(forged))
    assert problems(check(path)) == []
    assert problems(check(path, KEY))[0] == "record 1 of CHAIN has no HMAC, though a key is given"


async def test_an_end_that_was_cut_off_is_seen_and_proved_by_a_checkpoint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    path = await trail(tmp_path)
    assert check(path, checkpoints=caplog.text).problems == []
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join(lines[:5]))
    report = check(path)
    assert (problems(report), [chain.closed for chain in report.chains.values()]) == ([], [False])
    assert problems(check(path, checkpoints=caplog.text)) == ["the end of CHAIN is missing: records 6 to 7 at least"]
    path.write_bytes(b"")
    (gone,) = check(path, checkpoints=caplog.text).problems
    assert gone.text.endswith("is missing as a whole, up to record 7 at least")


async def test_files_of_one_chain_are_joined_in_any_order_and_old_ones_may_be_gone(tmp_path: Path):
    path = await trail(tmp_path)
    lines = path.read_bytes().splitlines()
    files = [
        ("new", lines[5:]),
        ("old", lines[:2]),
        ("middle", gzip.decompress(gzip.compress(b"\n".join(lines[2:5]))).splitlines()),
    ]
    assert verify(files).problems == []
    kept = verify(files[::2])
    assert (kept.problems, [chain.first for chain in kept.chains.values()]) == ([], [3])
    assert problems(verify(files[:2])) == ["records 3 to 5 are missing from CHAIN"]


async def test_several_writers_share_a_file_each_with_a_chain_of_its_own(tmp_path: Path):
    settings = Settings(audit=tmp_path / "audit.jsonl")
    apps = [App(name, version="1.0.0", tools=[double], settings=settings) for name in ("one", "two")]
    async with apps[0], apps[1]:
        for n in range(10):
            await apps[n % 2].call("double", {"n": n})
    report = check(tmp_path / "audit.jsonl")
    assert report.problems == []
    assert sorted((chain.id[:4], chain.records) for chain in report.chains.values()) == [("one-", 7), ("two-", 7)]


async def test_a_fragment_in_front_of_a_record_does_not_hide_it(tmp_path: Path):
    path = await trail(tmp_path)
    lines = path.read_bytes().splitlines()
    lines[3] = lines[2][:40] + lines[3]
    lines.insert(5, lines[5][:70])
    path.write_bytes(b"\n".join(lines))
    report = check(path)
    assert (problems(report), report.fragments) == ([], 2)


@pytest.mark.parametrize(
    "line", [b"", b"x", b"[]", b"{}", b'{"chain":"a"}', b'{"chain":"a","seq":"1","prev":""}', b"\xff"]
)
def test_a_line_without_a_record_is_none(line: bytes):
    assert parse(line) is None
