"""How soon a page of the console is seen, with 200 and with 5,000 tools.

`python -m bench --only console-pages --write` writes docs/benchmarks-console-pages.md. A server with that many tools
runs in a process of its own; Chromium opens each page in a new window without a cache, and tells when it painted the
first content, and how large everything was that it loaded. Needs Chromium.
"""

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import Browser, async_playwright

from bench.measure import median
from bench.processes import serving_command

KIND = "console-pages"
TOOLS = (200, 5_000)
FIRST_PAINT_MS = 300.0
"""The target, at 200 tools."""
PAGES = {
    "list of tools": "/console/tools",
    "search": "/console/tools?q=sum+7",
    "one tool": "/console/tools/governed/{tool}",
    "servers": "/",
}
SERVER = """
from bench.peers.governed_app import build
from toolcharter import run
run(lambda settings: build({tools}), ["http", "--port", "0"])
"""
PAINTED = """() => new Promise((done) => {
  const look = () => {
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    if (!paint) return setTimeout(look, 5);
    const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    done([paint.startTime, all[0].responseEnd, all.reduce((sum, one) => sum + one.decodedBodySize, 0)]);
  };
  look();
})"""


class Seen(NamedTuple):
    """What the browser told of one page."""

    paint_ms: float
    response_ms: float
    bytes: float


Figures = dict[tuple[int, str], list[Seen]]


def measure(rounds: int, folder: Path, log: Callable[[str], None]) -> Figures:
    return asyncio.run(_measure(rounds, folder, log))


async def _measure(rounds: int, folder: Path, log: Callable[[str], None]) -> Figures:
    figures: Figures = {(tools, name): [] for tools in TOOLS for name in PAGES}
    async with async_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for tools in TOOLS:
            with _serve(tools, folder) as base:
                for number in range(-1, rounds):
                    log(f"{tools} tools, round {number + 1} of {rounds}")
                    for name in PAGES:
                        seen = await _look(browser, base, await _path(browser, base, name))
                        if number >= 0:  # the first round warms up
                            figures[tools, name].append(seen)
        await browser.close()
    return figures


@contextmanager
def _serve(tools: int, folder: Path) -> Iterator[str]:
    with serving_command([sys.executable, "-c", SERVER.format(tools=tools)], folder) as served:
        yield f"http://127.0.0.1:{served.port}"


async def _path(browser: Browser, base: str, name: str) -> str:
    if "{tool}" not in PAGES[name]:
        return PAGES[name]
    page = await browser.new_page()
    await page.goto(base + PAGES["list of tools"])
    link = await page.locator("#entries a").first.get_attribute("href")
    await page.close()
    return str(link)


async def _look(browser: Browser, base: str, path: str) -> Seen:
    page = await browser.new_page()
    await page.goto(base + path)
    found: Any = await page.evaluate(PAINTED)
    await page.close()
    return Seen(*found)


def page(figures: Figures, made_by: str, about: str) -> str:
    rows = [
        f"| {tools:,} | {name} | {median([one.paint_ms for one in seen]):.0f} ms | "
        f"{median([one.response_ms for one in seen]):.0f} ms | {median([one.bytes for one in seen]) / 1000:.0f} KB |"
        for (tools, name), seen in figures.items()
    ]
    worst = max(median([one.paint_ms for one in seen]) for (tools, _), seen in figures.items() if tools == TOOLS[0])
    return "\n".join(
        [
            "# How soon a page of the console is seen",
            "",
            f"Made by `{made_by}`; do not edit.",
            "Chromium on the same machine, each page in a new window without a cache.",
            "",
            about,
            "",
            "| tools | page | first paint | page received after | size of everything |",
            "|---|---|---|---|---|",
            *rows,
            "",
            f"- The slowest first paint at {TOOLS[0]} tools: {worst:.0f} ms (target: {FIRST_PAINT_MS:.0f} ms).",
            "",
        ]
    )
