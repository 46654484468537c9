"""Each client that is measured, and a few of its calls."""

from pathlib import Path

import pytest

from bench import real_clients
from bench.measure import Cell
from bench.processes import serving
from bench.real_clients import conditions


def test_a_real_client_calls_our_server(tmp_path: Path):
    client = "sdk"
    with real_clients.running(client) as process, serving("governed_native", tmp_path) as served:
        for era, in_flight in conditions(client):
            cell = Cell(real_clients.KIND, "governed_native", era, 1, in_flight, client)
            taken = real_clients.sample(process, served, cell, 3, 1)
            assert taken["cpu_us"] > 0 < taken["wall_ms"]


def test_a_wrong_or_missing_answer_to_a_real_client_is_an_error():
    real_clients.check({"2": "6"}, 1)
    with pytest.raises(ValueError, match=r"asked for 2 \+ 4, got 5"):
        real_clients.check({"2": "5"}, 1)
    with pytest.raises(ValueError, match="0 answers to 1 calls"):
        real_clients.check({}, 1)
