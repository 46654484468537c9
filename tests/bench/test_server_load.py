from bench import server_load
from bench.server_load import SERVERS, SETUPS, SQLITE, Setup, Soaked, Taken


def taken(calls_per_s: float, cpu_us: float = 100.0) -> Taken:
    return Taken(calls_per_s, cpu_us, 50.0, 5.0, [float(n) for n in range(1, 101)])


def test_a_percentile_is_the_time_that_this_share_of_the_calls_did_not_exceed():
    assert [taken(1).percentile(share) for share in (0.5, 0.95, 0.99, 1.0)] == [50.0, 95.0, 99.0, 100.0]


def test_the_page_compares_ours_with_fastmcp_on_each_database():
    figures = {setup: [taken(900 if setup.who == "ours" else 250)] * 3 for setup in SETUPS}
    figures[Setup(SERVERS, "ours")] = [taken(500)] * 3
    lines = server_load.page(figures, "make bench", "A machine.").splitlines()
    assert "| SQLite | FastMCP 4 | 1 | 250 ± 0% | 50.0 | 95.0 | 99.0 | 100 |  |  |" in lines
    assert f"| {SQLITE} | 3.60 | 1.00 | at least 3: met |" in lines
    assert f"| {SERVERS} | 2.00 | 1.00 | at least 3: **missed** |" in lines


def test_memory_that_grows_breaks_the_promise_of_a_soak():
    assert [Soaked([taken(1)], 100.0, after).is_clean for after in (90.0, 104.0, 106.0)] == [True, True, False]
