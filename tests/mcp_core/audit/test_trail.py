"""The policy for records that cannot be written, and the trail in a database."""

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, Settings
from mcp_core.audit import trail as trail_module
from mcp_core.audit import verify
from mcp_core.audit.sql import DatabaseSink
from mcp_core.audit.trail import AuditTrail, Row
from mcp_core.logs.telemetry import prometheus
from tests.mcp_core.declared import Number, mutation, query


@query({"n": 1})
async def double(n: Number) -> int:
    return 2 * n


def result(answer: Any) -> dict[str, Any]:
    return json.loads(answer.text)


async def test_with_refuse_no_answer_leaves_without_its_record_and_no_call_is_carried_out(tmp_path: Path, log):
    """On a full disk. The first call runs, as nothing is known of the disk before it is written to."""
    done: list[int] = []

    @mutation({"n": 1})
    async def add(n: Number) -> int:
        done.append(n)
        return n

    path = tmp_path / "audit.jsonl"
    async with App(
        "test", version="1.0.0", format="result", tools=[add], settings=Settings(audit=path, audit_failure="refuse")
    ) as app:
        assert result(await app.call("add", {"n": 1})) == {"success": True, "value": 1}
        sink: Any = app.requests.audit._sink
        kept = sink._file
        with open("/dev/full", "wb", buffering=0) as full:  # noqa: ASYNC230, PTH123 - a device
            sink._file = full.fileno()
            withheld, refused = [result(await app.call("add", {"n": n})) for n in (2, 3)]
        sink._file = kept
        assert result(await app.call("add", {"n": 4})) == {"success": True, "value": 4}
        metrics = prometheus([app.telemetry])
    assert done == [1, 2, 4]
    assert (withheld["error_type"], withheld["error"]) == (
        "UnavailableError",
        "The audit record of 'add' could not be written: it was carried out. Check its outcome.",
    )
    assert refused["error"] == (
        "The audit trail cannot be written, so this server carries out no calls. Nothing was done."
    )
    report = verify([("audit", path.read_bytes().splitlines())])
    (chain,) = report.chains.values()
    assert report.problems == []
    assert chain.lost == 2
    assert f'toolcharter_audit_records_total{{server="test",result="lost"}} {chain.lost}' in metrics
    loud = [text for level, text in log.messages if level == "ERROR" and "Audit records cannot be written" in text]
    assert len(loud) == 1  # at most every ten seconds
    assert "and calls are refused: [Errno 28] No space left on device" in loud[0]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'audit.db'}"
    return request.getfixturevalue("postgres_url")


async def lines_in(url: str) -> list[tuple[str, list[bytes]]]:
    sink = await DatabaseSink.open(url)
    try:
        return [(chain, [line async for line in sink.lines(chain)]) for chain in await sink.chains()]
    finally:
        await sink.close()


@pytest.mark.requirement("OPS-5")
@pytest.mark.parametrize("failure", ["continue", "refuse"])
async def test_a_database_has_the_same_records_in_the_same_chain(database: str, failure: str):
    settings = Settings(audit=database, audit_failure=failure, deadline=60)
    apps = [App(name, version="1.0.0", format="result", tools=[double], settings=settings) for name in ("one", "two")]
    async with apps[0], apps[1]:
        await asyncio.gather(*(apps[n % 2].call("double", {"n": n}) for n in range(40)))
        if failure == "refuse":  # what was answered is stored
            stored = [line for _, lines in await lines_in(database) for line in lines if b'"tools/call"' in line]
            assert len(stored) == 40
    report = verify(await lines_in(database))
    assert report.problems == []
    assert sorted((chain.records, chain.closed) for chain in report.chains.values()) == [(22, True), (22, True)]


async def test_a_row_that_was_changed_or_deleted_is_found(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'audit.db'}"
    async with App("test", version="1.0.0", format="result", tools=[double], settings=Settings(audit=url)) as app:
        for n in range(5):
            await app.call("double", {"n": n})
    with closing(sqlite3.connect(tmp_path / "audit.db", isolation_level=None)) as connection:
        connection.execute("UPDATE toolcharter_audit SET record = replace(record, 'ok', 'no') WHERE seq = 3")
        connection.execute("DELETE FROM toolcharter_audit WHERE seq = 5")
    connection.close()
    problems = [problem.text.partition(" of ")[0] for problem in verify(await lines_in(url)).problems]
    assert problems[0] == "record 3"
    assert problems[1].startswith("record 5 is missing")


async def test_old_rows_are_deleted_and_the_rest_still_verifies(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'audit.db'}"
    async with App("test", version="1.0.0", format="result", tools=[double], settings=Settings(audit=url)) as app:
        for n in range(5):
            await app.call("double", {"n": n})
    with closing(sqlite3.connect(tmp_path / "audit.db", isolation_level=None)) as connection:
        connection.execute("UPDATE toolcharter_audit SET time = '2020-01-01T00:00:00.000+00:00' WHERE seq < 4")
    connection.close()
    async with App(
        "test", version="1.0.0", format="result", tools=[double], settings=Settings(audit=url, audit_keep="90d")
    ) as app:
        await app.call("double", {"n": 1})
    report = verify(await lines_in(url))
    assert report.problems == []
    assert sorted(chain.first for chain in report.chains.values()) == [1, 4]


class Sink:
    """A database that is away as long as `away` is set."""

    location = "sink://"

    def __init__(self) -> None:
        self.away, self.rows = False, list[Row]()
        self.refused = asyncio.Semaphore(0)
        self.stored = asyncio.Event()

    async def write(self, rows: Sequence[Row]) -> None:
        if self.away:
            self.refused.release()
            raise ConnectionError("away")
        self.stored.set()
        known = {(row.chain, row.seq) for row in self.rows}
        self.rows += [row for row in rows if (row.chain, row.seq) not in known]

    async def close(self) -> None:
        pass


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trail_module, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(trail_module, "MAX_QUEUED", 10)


@pytest.mark.usefixtures("short_waits")
async def test_records_wait_for_a_database_that_is_away_and_those_beyond_a_bound_are_lost_and_counted():
    sink = Sink()
    trail = AuditTrail("test", sink)
    await trail.open()
    assert await trail.settled()
    sink.away = True
    added = [trail.append(f'"n":{n}', "", None, None, "ok") for n in range(30)]
    for _ in range(3):
        await sink.refused.acquire()
    sink.away = False
    await trail.close()
    report = verify([("sink", [row.line.encode() for row in sink.rows])])
    (chain,) = report.chains.values()
    assert (report.problems, chain.lost, chain.closed) == ([], added.count(False), True)
    assert sum(b'"n":' in row.line.encode() for row in sink.rows) == added.count(True) == 10


@pytest.mark.usefixtures("short_waits")
async def test_with_refuse_an_answer_does_not_wait_long_for_a_database_that_is_away():
    sink = Sink()
    trail = AuditTrail("test", sink, policy="refuse")
    await trail.open()
    sink.away = True
    trail.append('"n":1', "", None, None, "ok")
    assert not await trail.settled()
    with pytest.raises(Exception, match="carries out no calls"):
        trail.check()
    sink.stored.clear()
    sink.away = False
    await sink.stored.wait()
    assert await trail.settled()
    trail.check()
    await trail.close()
    assert verify([("sink", [row.line.encode() for row in sink.rows])]).problems == []
