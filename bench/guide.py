"""What the documents of the guide server cost: processor time of one call of the engine, at several sizes.

`python -m bench.guide [--quick]` prints a table and ends with 1 where a target is missed.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.measure import median
from mcp_guide.content.documents import Limits, page
from mcp_guide.content.formats import render
from mcp_guide.content.search import Search
from mcp_guide.content.tree import DocumentTree

SIZES = (100, 1_000, 10_000, 100_000)
MIDDLE = 10_000
IN_A_FOLDER = 100
PAGE = 100
NOWHERE = "everywhere common bator lusm heading rare42 nowhere"
WORDS = [
    f"{a}{b}{c}" for a in "bdfklmnprst" for b in ("a", "e", "ing", "or", "us") for c in ("", "r", "tion", "ly", "m")
]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="without the 100,000 documents")
    sizes = SIZES[:-1] if options.parse_args().quick else SIZES
    folder = Path(tempfile.mkdtemp(prefix="bench-guide-"))
    try:
        missed = _table(measure(folder, sizes))
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if missed else 0)


def measure(folder: Path, sizes: tuple[int, ...]) -> list[tuple[str, float, float]]:
    """What was measured, its milliseconds of processor time, and what is asked at most."""
    trees = {size: _tree(folder / str(size), size) for size in sizes}
    _settle()
    figures: list[tuple[str, float, float]] = []
    for title, call in (
        ("a document by its path", lambda tree: tree.read("d0/doc7.md")),
        ("a document by its stem", lambda tree: tree.read(tree.match("d0", ("doc7",))[0].path)),
        ("a document by its stem in a folder with half", lambda tree: tree.read(tree.match("all", ("doc7",))[0].path)),
    ):
        taken = _interleaved({size: partial(call, tree) for size, tree in trees.items()})
        figures += [(f"{title}, of {size:,}", taken[size], 3.0) for size in sizes]
        figures.append((f"{title}: the dearest by the cheapest size", max(taken.values()) / min(taken.values()), 1.5))
    tree = trees[MIDDLE]
    search = Search(tree, folder / "index.db")
    started = time.process_time()
    search.find("first")
    figures.append((f"making the index of {MIDDLE:,}, once", 1000 * (time.process_time() - started), float("inf")))
    _settle()
    calls = {
        f"**/name, of {MIDDLE:,}": (lambda: tree.match("", ("**/doc77",)), 10.0),
        f"**/*7.md, of {MIDDLE:,}": (lambda: tree.match("", ("**/*7.md",)), float("inf")),
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
    figures += [(name, taken[name], most) for name, (_, most) in calls.items()]
    search.close()
    return figures


def _page(tree: DocumentTree) -> str:
    part = page(tree.match("", ("**/*.md",)), None, Limits(PAGE, 10_000_000), of="**/*.md")
    assert len(part.entries) == PAGE
    return render([tree.read(entry.path) for entry in part.entries], "plain")


def _changed(search: Search, folder: Path) -> None:
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
    """Until nothing is so young that it must be looked at twice, as it is when people are not just writing."""
    time.sleep(0.3)


def _interleaved(calls: dict, rounds: int = 9, times: int = 10) -> dict:
    """The median of so many rounds, each call in turn, so that a busy moment hits all alike."""
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


def _table(figures: list[tuple[str, float, float]]) -> bool:
    print("| | ms of processor time, or times | asked at most |\n|---|---:|---|")
    for name, value, most in figures:
        verdict = "" if most == float("inf") else f"{most:g}: {'met' if value <= most else '**missed**'}"
        print(f"| {name} | {value:.3f} | {verdict} |")
    return any(value > most for _, value, most in figures)


if __name__ == "__main__":
    main()
