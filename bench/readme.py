"""The table of speed in README.md, from one run of real clients, pipes and starts."""

import re

from bench import cold_start, real_clients, stdio_calls
from bench.contenders import IN_FLIGHT, ROOT
from bench.measure import Cell, Samples, median, values
from bench.messages import MODERN
from bench.report import table

README = ROOT / "README.md"
PLACE = re.compile(r"(<!-- made by `make bench` -->\n).*?(<!-- end -->)", re.DOTALL)
ROWS = {
    "governed_native": "governed, everything on",
    "low_level": "bare low-level SDK, tuned",
    "plain_fastmcp": "bare FastMCP 4, tuned",
}
CLIENTS = {"sdk": "the SDK's client", "node": "Node's client"}


def speed(samples: Samples) -> str | None:
    """The table, or None where something of it was not measured."""
    columns = {"start to the first tools/list": ("cpu_ms", "ms"), "memory": ("rss_mb", "MB")}
    heads = ["server's processor time", *columns]
    heads += [f"a call from {words}, {busy} in flight" for words in CLIENTS.values() for busy in IN_FLIGHT]
    heads.append(f"over stdio, {stdio_calls.IN_FLIGHT} in flight")
    rows: list[list[str]] = []
    for peer, label in ROWS.items():
        start = Cell(cold_start.KIND, "demo" if peer == "governed_native" else peer, MODERN)
        cells = [Cell(real_clients.KIND, peer, MODERN, 1, busy, client) for client in CLIENTS for busy in IN_FLIGHT]
        cells.append(Cell(stdio_calls.KIND, peer, MODERN, 1, stdio_calls.IN_FLIGHT))
        if not all(samples.get(cell) for cell in (start, *cells)):
            return None
        figures = [f"{median(values(samples, start, metric)):.0f} {unit}" for metric, unit in columns.values()]
        figures += [f"{median(values(samples, cell, 'cpu_us')):,.0f} µs" for cell in cells]
        rows.append([label, *figures])
    return table(heads, rows)


def write(samples: Samples) -> bool:
    """Renew the table, and say whether all of it was measured."""
    made = speed(samples)
    if made is not None:
        text = README.read_text(encoding="utf-8")
        README.write_text(PLACE.sub(lambda found: f"{found[1]}\n{made}\n{found[2]}", text), encoding="utf-8")
    return made is not None
