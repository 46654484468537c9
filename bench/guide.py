"""What the documents of the guide server cost, at several sizes: processor time of the server for each call over HTTP,
and of the engine alone.

`python -m bench --only guide --write` writes docs/benchmarks-guide.md.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench.http_calls import cpu_ms
from bench.measure import median
from bench.processes import serving
from mcp_guide.content.formats import render
from mcp_guide.content.pages import PageLimits, get_page
from mcp_guide.content.tree import DocumentTree
from mcp_guide.search.index import SearchIndex

KIND = "guide"
SIZES = (100, 1_000, 10_000, 100_000)
MIDDLE = 10_000
IN_A_FOLDER = 100
PAGE = 100
NOWHERE = "everywhere common bator lusm heading rare42 nowhere"
WORDS = [
    f"{a}{b}{c}" for a in "bdfklmnprst" for b in ("a", "e", "ing", "or", "us") for c in ("", "r", "tion", "ly", "m")
]


class Figure(NamedTuple):
    """A measured value and its upper bound."""

    title: str
    value: float
    most: float


def run(folder: Path, log: Callable[[str], None], *, quick: bool) -> dict[str, Any]:
    """Everything that the page shows."""
    sizes = SIZES[:-1] if quick else SIZES
    log(f"making {sum(sizes):,} documents")
    engine = measure(folder, sizes)
    log("over HTTP")
    served = _served_figures(folder, sizes)
    return {"engine": engine, "served": served}


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Figure]:
    """Milliseconds of processor time, with their bounds."""
    trees = {size: _tree(folder / str(size), size) for size in sizes}
    _settle()
    figures: list[Figure] = []
    for title, call in (
        ("a document by its path", lambda tree: tree.read("d0/doc7.md")),
        ("a document by its stem", lambda tree: tree.read(tree.match("d0", ("doc7",))[0].path)),
        (
            "a document by its stem in a folder with half of them",
            lambda tree: tree.read(tree.match("all", ("doc7",))[0].path),
        ),
    ):
        taken = _interleaved({size: partial(call, tree) for size, tree in trees.items()})
        figures += [Figure(f"{title}, of {size:,}", taken[size], 3.0) for size in sizes]
        figures.append(Figure(f"{title}: slowest size / fastest size", max(taken.values()) / min(taken.values()), 1.5))
    for size in sizes:
        if size > MIDDLE:
            search, built = _build_index(folder, trees[size], size)
            figures += built
            figures.append(
                Figure(
                    f"search, three words, of {size:,}", _cpu(partial(search.find, "tation rare42 lor"), 5), math.inf
                )
            )
            search.close()
    tree = trees[MIDDLE]
    search, built = _build_index(folder, tree, MIDDLE)
    figures += built
    _settle()
    calls = {
        f"**/name, of {MIDDLE:,}": (lambda: tree.match("", ("**/doc77",)), 10.0),
        f"**/*7.md, of {MIDDLE:,}": (lambda: tree.match("", ("**/*7.md",)), math.inf),
        f"a page of {PAGE} documents, of {MIDDLE:,}": (lambda: _page(tree), 30.0),
        f"search, one word in 1 % of {MIDDLE:,}": (lambda: search.find("rare42"), 10.0),
        f"search, three words, of {MIDDLE:,}": (lambda: search.find("tation rare42 lor"), 10.0),
        f"search, a word in a third of {MIDDLE:,}": (lambda: search.find("common"), 10.0),
        f"search, a word in all of {MIDDLE:,}": (lambda: search.find("everywhere"), 10.0),
        f"search, five common words and a rare one, of {MIDDLE:,}": (lambda: search.find(NOWHERE), 10.0),
        f"search in one folder, of {MIDDLE:,}": (lambda: search.find("rare42", ["d3"]), 10.0),
        f"search after one file changed, of {MIDDLE:,}": (lambda: _changed(search, folder / str(MIDDLE)), 10.0),
    }
    taken = _interleaved({name: call for name, (call, _) in calls.items()})
    figures += [Figure(name, taken[name], most) for name, (_, most) in calls.items()]
    search.close()
    return figures


def _build_index(folder: Path, tree: DocumentTree, size: int) -> tuple[SearchIndex, list[Figure]]:
    """A complete index, and what it took. The first search answers before it is complete."""
    file = folder / f"index{size}.db"
    search = SearchIndex(tree, file)
    started, began = time.process_time(), time.monotonic()
    search.find("everywhere")
    first = time.monotonic() - began
    search.refresh()
    taken = time.process_time() - started
    search.close()  # closing moves all of it into one file
    documents = sum(path.stat().st_size for path in Path(tree.root).rglob("*.md"))
    stored = file.stat().st_size
    search = SearchIndex(tree, file)
    search.refresh()
    return search, [
        Figure(f"the first search, of {size:,}: elapsed time", 1000 * first, 2_000.0),
        Figure(f"building the index of {size:,}: for each thousand", 1000 * taken / (size / 1000), 500.0),
        Figure(f"size of the index of {size:,} / size of the documents", stored / documents, 1.5),
    ]


def _page(tree: DocumentTree) -> str:
    part = get_page(tree.match("", ("**/*.md",)), None, PageLimits(PAGE, 10_000_000), query="**/*.md")
    assert len(part.entries) == PAGE
    return render([tree.read(entry.path) for entry in part.entries], "plain")


def _changed(search: SearchIndex, folder: Path) -> None:
    path, word = folder / "d5" / "doc5.md", f"changed{random.randrange(10**9)}"
    path.write_text(word)
    assert [hit.path for hit in search.find(word).hits] == ["d5/doc5.md"]


def _tree(root: Path, size: int) -> DocumentTree:
    """Half of the documents in folders of a hundred, half in one folder."""
    dice = random.Random(size)
    for number in range(size):
        folder = root / ("all" if number % 2 else f"d{number // 2 // IN_A_FOLDER}")
        if number < 2 or number // 2 % IN_A_FOLDER == 0:
            folder.mkdir(parents=True, exist_ok=True)
        text = " ".join(dice.choices(WORDS, k=150))
        more = f"rare{number % 100} everywhere {'common' if number % 3 == 0 else ''}"
        name = f"doc{number // 2 if number % 2 else number // 2 % IN_A_FOLDER}.md"
        (folder / name).write_text(f"---\ntitle: Document {number}\ntags: [a, b]\n---\n# Heading\n\n{text}\n{more}\n")
    return DocumentTree(root)


def _settle() -> None:
    """Wait until no file is so new that the index reads it twice."""
    time.sleep(0.3)


def _interleaved(calls: dict, rounds: int = 9, times: int = 10) -> dict:
    """The median of all rounds; calls take turns, so that load on the machine affects all of them."""
    for call in calls.values():
        call()
    _settle()
    taken: dict = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(_cpu(call, times))
    return {name: median(figures) for name, figures in taken.items()}


def _cpu(call: Callable[[], object], times: int) -> float:
    call()
    started = time.process_time()
    for _ in range(times):
        call()
    return 1000 * (time.process_time() - started) / times


# --- the server over HTTP ----------------------------------------------------------------------------------


def _served_figures(folder: Path, sizes: tuple[int, ...]) -> list[Figure]:
    with ExitStack() as stack:
        variables = {size: {"BENCH_DOCS": str(folder / str(size)), "MCP_TOOL_PREFIX": ""} for size in sizes}
        servers = {size: stack.enter_context(serving("guide", folder, **variables[size])) for size in sizes}
        by_path = ("get_content", {"expression": "d0/doc7.md"})
        others = [
            ("a document by `**/name`", "get_content", {"expression": "d0/**/doc7"}, 10.0),
            ("a page of 100 documents", "get_content", {"expression": "d0"}, 30.0),
            ("a search", "search_content", {"query": "heading rare42"}, 10.0),
        ]
        for server in servers.values():
            cpu_ms(server, *by_path, 3)
        taken: dict[int, list[float]] = {size: [] for size in sizes}
        for _ in range(7):
            for size, server in servers.items():
                taken[size].append(cpu_ms(server, *by_path, 40))
        shown = {size: median(figures) for size, figures in taken.items()}
        figures = [Figure(f"a document by its path, of {size:,}", shown[size], 3.0) for size in sizes]
        figures.append(Figure("slowest size / fastest size", max(shown.values()) / min(shown.values()), 1.5))
        for title, tool, arguments, most in others:
            cpu_ms(servers[MIDDLE], tool, arguments, 3)
            rounds = [cpu_ms(servers[MIDDLE], tool, arguments, 15) for _ in range(5)]
            figures.append(Figure(f"{title}, of {MIDDLE:,}", median(rounds), most))
    return figures


# --- the page ----------------------------------------------------------------------------------------------


def page_of(taken: dict[str, list[Figure]], made_by: str, about: str) -> str:
    parts = [
        "# Benchmarks of the guide server",
        f"Made by `{made_by}`; do not edit.",
        about,
        "## Over HTTP: the server's processor time for each call, ms",
        "Protocol 2026-07-28, one call after the other, everything governed; all documents in the cache.",
        _table(taken["served"]),
        "## The engine alone: processor time, ms",
        _table(taken["engine"]),
    ]
    return "\n\n".join(parts) + "\n"


def _table(figures: Sequence[Figure]) -> str:
    lines = ["| | | target: at most |", "|---|---:|---|"]
    for figure in figures:
        verdict = (
            ""
            if figure.most == math.inf
            else f"{figure.most:g}: {'met' if figure.value <= figure.most else '**missed**'}"
        )
        lines.append(f"| {figure.title} | {figure.value:,.3f} | {verdict} |")
    return "\n".join(lines)
