"""The benchmark's own arithmetic, and one tiny measurement of each thing it is made of. No times are judged here."""

import asyncio
import json
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from bench import http_calls, load, memory_calls, messages, report
from bench.__main__ import parse
from bench.contenders import CONTENDERS, ERAS, IN_FLIGHT
from bench.measure import Cell, cpu_seconds, difference, in_order, interleave, median, ratio, spread
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
        "| Memory over the bare low-level SDK | at most 12.0 MB | 4.0 MB (2025-11-25) | 4.0 MB to 4.0 MB | met |"
        in page
    )
    assert "100.0 µs (2025-11-25, 1 tool) | 100.0 µs to 100.0 µs | **missed** (0 of 2 conditions meet it) |" in page
    assert "| **governed, native** | 300 ± 0% | 300 ± 0% |" in page
    assert "make bench" in page
    assert "On a machine." in page


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
    with pytest.raises(ValueError, match=r"asked for 2 \+ 4"):
        load.check([answer(2, 5)])
    with pytest.raises(ValueError, match="not a success"):
        load.check([(1, b"HTTP/1.1 404 Not Found\r\n\r\n")])
    with pytest.raises(ValueError, match="an error result"):
        messages.sum_in({"result": {"isError": True}})


@pytest.mark.parametrize(("client", "era"), sorted(tuple(path.stem.split("-", 1)) for path in messages.HEADS.iterdir()))
def test_a_request_is_byte_for_byte_what_the_client_sends(client: str, era: str):
    recorded = json.loads((messages.HEADS / f"{client}-{era}.json").read_text())
    number = json.loads(recorded["body"])["id"]
    body = messages.request(era, number, "tools/call", client=client, name="add", arguments={"a": 40, "b": 80})
    session = "SESSION" if era == messages.LEGACY else None
    pieces = messages.post(8000, body, era, session, client=client)
    assert len(pieces) == recorded["writes"]
    assert b"".join(pieces).decode() == "\r\n".join([*recorded["head"], "", recorded["body"]])


def test_each_client_is_recorded_in_the_protocols_that_it_speaks():
    recorded = {path.stem for path in messages.HEADS.iterdir()}
    assert recorded == {f"{client}-{era}" for client in CLIENTS for era, _ in conditions(client)}
    assert messages.recorded("agents", messages.MODERN).head == messages.recorded("sdk", messages.MODERN).head


def test_a_request_may_lack_what_its_method_does_not_have_and_carry_a_token():
    listed = messages.request(messages.MODERN, 1, "tools/list")
    head = messages.post(8000, listed, messages.MODERN, token="ana")[0].decode()
    assert "\r\nauthorization: Bearer ana\r\n" in head
    assert "mcp-name" not in head
    assert "mcp-session-id" not in b"".join(messages.post(8000, messages.INITIALIZE, messages.LEGACY)).decode()


def test_a_request_is_sent_in_as_many_writes_as_it_has_pieces():
    class Transport:
        def __init__(self) -> None:
            self.writes: list[bytes] = []

        def is_closing(self) -> bool:
            return False

        def write(self, data: bytes) -> None:
            self.writes.append(data)
            if b"{}" in data:
                wire.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    async def writes_of(*pieces: bytes) -> list[bytes]:
        transport = Transport()
        wire.connection_made(transport)
        await wire.ask(*pieces)
        return transport.writes

    wire = load.Wire()
    assert asyncio.run(writes_of(b"POST {}")) == [b"POST {}"]
    assert asyncio.run(writes_of(b"POST ", b"{}")) == [b"POST ", b"{}"]


def test_a_measurement_or_a_contender_can_be_chosen():
    assert parse(["--quick", "--only", "memory", "--only", "low_level"]).only == ["memory", "low_level"]


def test_our_tool_and_the_bare_one_can_be_measured_in_memory():
    with tempfile.TemporaryDirectory() as folder:
        samples = memory_calls.measure([OURS, THEIRS], [2], 1, 5, Path(folder))
        (file,) = Path(folder).glob("audit-*.jsonl")
        audit = audited(file)
    assert set(samples) == {Cell("memory", peer, era, 2) for peer in (OURS, THEIRS) for era in ERAS}
    assert all(taken[0]["cpu_us"] > 0 for taken in samples.values())
    # Warm-up and measured calls, both eras, once before the rounds and once in the only one; each does its work.
    calls = [entry for entry in audit if entry.get("method") == "tools/call"]
    assert [(entry["outcome"], entry["cached"]) for entry in calls] == [("ok", False)] * (4 * (20 + 5))
    assert {OURS, THEIRS} <= set(CONTENDERS)


def test_a_bare_server_without_sessions_and_the_floor_can_be_measured_over_http(tmp_path):
    for peer in ("direct_asgi", THEIRS):
        with ExitStack() as stack:
            served = http_calls.serve(stack, peer, 1, tmp_path)
            where = {"port": served.port, "pid": served.pid, "in_flight": 2, "seconds": 60, "calls": 3, "first": 5}
            assert [asyncio.run(load.sample(era=era, **where))["calls"] for era in ERAS] == [3, 3]


def test_processor_time_over_the_floor_is_a_target():
    samples = {
        Cell("http", peer, era, 1, busy): [{"cpu_us": us, "calls_per_s": 1.0}]
        for peer, us in ((OURS, 3.0), ("direct_asgi", 2.0))
        for era in ERAS
        for busy in IN_FLIGHT
    }
    over_the_floor = [target for target in targets(samples) if "direct ASGI" in target.words]
    assert [(target.bound, target.met) for target in over_the_floor] == [(1.3, False), (2.1, True)]


def _samples():
    memory = {
        Cell("memory", peer, era): [{"cpu_us": us}, {"cpu_us": us}]
        for peer, us in ((OURS, 300.0), (THEIRS, 200.0))
        for era in ERAS
    }
    start = {
        Cell("start", peer, era): [{"wall_ms": 700.0, "cpu_ms": 690.0, "rss_mb": mb}] * 2
        for peer, mb in ((OURS, 72.0), (THEIRS, 68.0))
        for era in ERAS
    }
    return memory | start
