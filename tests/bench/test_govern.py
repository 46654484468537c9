from bench import govern
from bench.contenders import IN_FLIGHT
from bench.govern import HTTP, NO_CONSOLE, SCALE, STDIO, Figures, cell
from bench.govern_proxies import CONNECTED, DIRECT, FASTMCP, OTHER, OURS, PROXIES
from bench.measure import Cell

RATES = {DIRECT: 2_000.0, OURS: 1_500.0, FASTMCP: 20.0, CONNECTED: 100.0, OTHER: 300.0}


def figures(**missing: str) -> Figures:
    pairs = [(proxy, kind) for proxy in PROXIES for kind in (HTTP, STDIO) if proxy.only in (None, kind)]
    calls = {
        cell(proxy, kind, busy): [
            {"calls_per_s": RATES[proxy], "cpu_us": 1e5 / RATES[proxy], "median_ms": 1_000 / RATES[proxy]}
        ]
        for proxy, kind in pairs
        for busy in IN_FLIGHT
    }
    scale = {
        Cell("scale", name, "", 1, 32): [{"calls_per_s": 1_000.0, "cpu_us": 200.0 + n}] for n, name in enumerate(SCALE)
    }
    return Figures(calls, scale, {NO_CONSOLE: 70.0, **{name: 79.0 + n for n, name in enumerate(SCALE)}}, 250, missing)


def test_the_page_compares_ours_with_the_other_proxies():
    lines = govern.page(figures(), "make bench", "A machine.").splitlines()
    assert (
        "| Calls a second, upstream over http, 32 in flight (direct: 2,000) | at least 1,200 | 1,500 | met |" in lines
    )
    assert "| Added to the median, upstream over stdio | at most 1 ms | 0.17 ms | met |" in lines
    assert "| **toolcharter govern** | 1,500 ± 0% | 0.67 | 1,500 ± 0% | 67 |" in lines
    assert "| mcp-proxy 0.13.0, `--stateless` | cannot serve an upstream over http to HTTP clients | | | |" in lines
    missed = [line for line in lines if "missed" in line]
    assert len(missed) == 2
    assert missed[0].startswith(
        f"| Processor time against {CONNECTED.label}, upstream over http, times less | at least 20 | 15.0"
    )


def test_a_proxy_that_cannot_be_had_has_the_reason_in_its_row():
    assert "| mcp-proxy 0.13.0, `--stateless` | no network | | | |" in govern.page(
        figures(mcp_proxy="no network"), "", ""
    )
