"""The benchmark's own arithmetic, and one tiny measurement of each thing it is made of. No times are judged here."""

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bench import cold_start, load, messages, readme, real_clients, report
from bench.__main__ import parse
from bench.contenders import CONTENDERS, ERAS, IN_FLIGHT, start_command
from bench.measure import Cell, cpu_seconds, difference, in_order, interleave, median, ratio, spread
from bench.processes import serving
from bench.real_clients import CLIENTS, conditions
from bench.targets import Finding, Target, targets
from tests.mcp_core.audited import audited

OURS, THEIRS = "governed_native", "low_level"


def test_every_cell_is_measured_once_in_each_round():
    cells = [Cell("memory", peer, era) for peer in ("a", "b", "c") for era in ERAS]
    seen = []
    samples = interleave(cells, 3, lambda cell, number: seen.append((number, cell)) or {"cpu_us": float(number)})
    assert sorted(seen) == sorted((number, cell) for number in range(3) for cell in cells)
    assert all(taken == [{"cpu_us": 0.0}, {"cpu_us": 1.0}, {"cpu_us": 2.0}] for taken in samples.values())


def test_cells_that_are_compared_stay_together_and_change_their_order():
    cells = [Cell("http", peer, era, 1, 32) for era in ERAS for peer in "abcdef"]
    orders = [in_order(cells, number) for number in range(5)]
    assert all({cell.era for cell in order[:6]} == {ERAS[0]} for order in orders)
    assert len({tuple(order) for order in orders}) > 1
    assert in_order(cells, 3) == orders[3]


def test_a_ratio_is_taken_round_by_round_so_that_a_busy_round_does_not_count_twice():
    assert ratio([10.0, 2.0, 10.0], [5.0, 1.0, 5.0]) == 2.0
    assert difference([12.0, 30.0, 11.0], [10.0, 29.0, 10.0]) == 1.0
    assert median([3.0, 1.0, 2.0]) == 2.0


def test_the_spread_is_half_the_distance_of_the_quartiles():
    assert spread([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(1 / 3)
    assert spread([1.0, 9.0]) == 0.0


def test_the_time_a_process_has_used_never_goes_back():
    pid = os.getpid()
    before = cpu_seconds(pid)
    assert cpu_seconds(pid) >= before > 0


def test_a_target_is_met_only_when_every_condition_meets_it():
    target = Target("speed", "least", 0.85, "x", (Finding("one", 0.9), Finding("two", 0.8)))
    assert (target.met, target.worst) == (False, Finding("two", 0.8))
    assert Target("weight", "most", 12.0, "MB", (Finding("one", 4.6),)).met is True
    assert Target("nothing measured", "most", 1.0, "x", ()).met is None


def test_the_page_says_what_was_met_and_what_was_missed():
    page = report.page(_samples(), "make bench", "2", "On a machine.")
    assert (
        "| Cold start of the demo, processor time | at most 350.0 ms | 340.0 ms (demo, 2025-11-25) "
        "| 340.0 ms to 340.0 ms | met |"
    ) in page
    assert "| 1.50 (2025-11-25, 32 in flight) | 1.50 to 1.50 | **missed** (0 of 2 conditions meet it) |" in page
    assert "| **governed, native** | 60 ± 0% | 60 ± 0% |" in page
    assert "make bench" in page
    assert "On a machine." in page


def test_the_table_of_real_clients_has_a_row_for_each_client_and_server():
    page = report.page(_clients() | _samples(), "make bench", "2", "On a machine.")
    assert "| MCP Python SDK 2 | **governed, native** | 60 ± 0% | 1.50 ± 0% | 60 ± 0% | 1.50 ± 0% |" in page
    assert "| OpenAI Agents SDK | bare low-level SDK | 300 ± 0% | 1.50 ± 0% | - | - |" in page


def test_the_table_of_the_readme_is_made_only_if_all_of_it_was_measured():
    pipes = {Cell("stdio", peer, era, 1, 32): [{"cpu_us": 42.0}] for peer in CONTENDERS for era in ERAS}
    made = readme.speed(_clients() | _samples() | pipes)
    assert made is not None
    assert (
        made.splitlines()[2] == "| governed, everything on | 340 ms | 40 MB | 60 µs | 60 µs | 60 µs | 60 µs | 42 µs |"
    )
    assert readme.speed(_samples() | pipes) is None
    assert readme.PLACE.search(readme.README.read_text(encoding="utf-8"))


def test_nothing_is_claimed_about_what_was_not_measured():
    assert [target.words for target in targets({}) if target.findings] == []
    assert report.target_section(targets({})) == ""


def test_a_table_is_markdown():
    assert report.table(["", "ms"], [["ours", "1"]]) == "|  | ms |\n|---|---:|\n| ours | 1 |\n"


@pytest.mark.parametrize(
    "response",
    [
        b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"id":1,"x":1}'[:-1],
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n14\r\nevent: x\r\ndata: 1\r\n\r\n\r\n0\r\n\r\n",
    ],
)
def test_the_few_callsgenerator_waits_for_a_whole_response(response):
    assert load.complete(response)
    assert not any(load.complete(response[:end]) for end in range(len(response)))


def test_the_few_callsgenerator_takes_only_the_right_sum_for_an_answer():
    def answer(number, total):
        text = json.dumps({"data": total})
        data = json.dumps({"id": number, "result": {"content": [{"type": "text", "text": text}]}}).encode()
        return number, b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(data), data)

    load.check([answer(1, 3), answer(2, 6)])
    with pytest.raises(ValueError, match="add 2: got"):
        load.check([answer(2, 5)])
    with pytest.raises(ValueError, match="not a success"):
        load.check([(1, b"HTTP/1.1 404 Not Found\r\n\r\n")])
    with pytest.raises(ValueError, match="an error result"):
        messages.sum_in({"result": {"isError": True}})


def test_a_measurement_or_a_contender_can_be_chosen():
    assert parse(["--quick", "--only", "http", "--only", "low_level"]).only == ["http", "low_level"]


def test_servers_and_the_floor_can_be_measured_over_http(tmp_path: Path):
    for peer in ("direct_asgi", THEIRS, OURS):
        with serving(peer, tmp_path, 2) as served:
            where = {"port": served.port, "pid": served.pid, "in_flight": 2, "seconds": 60, "calls": 3}
            for first, client in enumerate(messages.RECORDED):
                taken = [asyncio.run(load.sample(era=era, client=client, first=10 * first, **where)) for era in ERAS]
                assert [one["calls"] for one in taken] == [3, 3]
    (file,) = tmp_path.glob("audit-*.jsonl")
    # A call whose answer is in the cache would cost less: the second protocol has the numbers of the first.
    calls = [entry for entry in audited(file) if entry.get("method") == "tools/call"]
    assert {entry["outcome"] for entry in calls} == {"ok"}
    assert sum(entry["cached"] for entry in calls) == len(calls) // 2


def test_a_row_is_added_by_our_server_and_by_the_one_written_by_hand(tmp_path: Path):
    for peer in ("todo", "todo_low_level"):
        with serving(peer, tmp_path, BENCH_DB=f"sqlite:///{tmp_path}/{peer}.db") as served:
            where = {"port": served.port, "pid": served.pid, "in_flight": 2, "seconds": 60, "calls": 3, "first": 5}
            taken = [asyncio.run(load.sample(era=era, tool="add_task", **where)) for era in ERAS]
        assert [one["calls"] for one in taken] == [3, 3]
        with closing(sqlite3.connect(tmp_path / f"{peer}.db")) as database:
            titles = database.execute("SELECT title FROM todo_tasks ORDER BY title").fetchall()
            (mode,) = database.execute("PRAGMA journal_mode").fetchone()
        assert (titles, mode) == ([(f"Task {n}",) for n in (5, 5, 6, 6, 7, 7)], "wal")


def test_the_start_of_a_server_is_measured_up_to_its_tools(tmp_path: Path):
    taken = cold_start.start(start_command("todo"), ERAS[1], tmp_path / "todo")
    assert all(taken[metric] > 0 for metric in ("cpu_ms", "wall_ms", "rss_mb"))


def test_the_goals_are_targets():
    def cells(kind: str, peer: str, us: float) -> dict[Cell, list[dict[str, float]]]:
        return {Cell(kind, peer, era, 1, busy): [{"cpu_us": us}] for era in ERAS for busy in IN_FLIGHT}

    http = cells("http", OURS, 60.0) | cells("http", "direct_asgi", 45.0) | cells("http", THEIRS, 300.0)
    samples = http | cells("sqlite", "todo", 200.0) | cells("sqlite", "todo_low_level", 450.0)
    found = {target.words: (target.bound, target.met) for target in targets(samples) if target.findings}
    assert found == {
        "Over HTTP, processor time over a direct ASGI function, 32 in flight": (1.3, False),
        "Over HTTP, processor time over a direct ASGI function, 1 in flight": (1.4, True),
        "Over HTTP, times less processor time than the low-level SDK": (4.5, True),
        "A tool on SQLite, times less processor time than by hand on the low-level SDK": (2.5, False),
    }


def _samples():
    http = {
        Cell("http", peer, era, 1, busy): [{"cpu_us": us, "calls_per_s": 1.0}] * 2
        for peer, us in ((OURS, 60.0), (THEIRS, 300.0), ("direct_asgi", 40.0))
        for era in ERAS
        for busy in IN_FLIGHT
    }
    start = {
        Cell("start", name, era): [{"wall_ms": 700.0, "cpu_ms": ms, "rss_mb": mb}] * 2
        for name, ms, mb in (("demo", 340.0, 40.0), (THEIRS, 700.0, 68.0), ("plain_fastmcp", 1_000.0, 90.0))
        for era in ERAS
    }
    return http | start


def _clients():
    return {
        Cell("real_clients", peer, era, 1, busy, client): [{"cpu_us": 60.0 if peer == OURS else 300.0, "wall_ms": 1.5}]
        for peer in real_clients.PEERS
        for client in CLIENTS
        for era, busy in conditions(client)
    }
