"""Recall of the offline selectors on LiveMCPBench: `python -m bench.selection [FOLDER]`.

A task needs several tools. Recall at k is the share of them that are among the first k, averaged over the tasks.
Names that no tool of the data has are left out, and so is a task of which nothing remains.
"""

import json
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.bm25 import Bm25Selector
from toolcharter.evaluate.choice import rank
from toolcharter.evaluate.embedding import EmbeddingSelector
from toolcharter.evaluate.hybrid import HybridSelector
from toolcharter.evaluate.minilm import MiniLmSelector

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "tools"
RANKS = (1, 5, 10, 20)


@dataclass(frozen=True)
class Task:
    question: str
    needed: frozenset[str]


def read(folder: Path) -> tuple[list[ListedTool], list[Task]]:
    lines = (folder / "livemcpbench_tools.jsonl").read_text(encoding="utf-8").splitlines()
    tools = [ListedTool.from_wire(json.loads(line)["tool"]) for line in lines]
    names = {tool.name for tool in tools}
    tasks: list[Task] = []
    for entry in json.loads((folder / "livemcpbench_tasks.json").read_text(encoding="utf-8")):
        listed = entry["Annotator Metadata"]["Tools"].splitlines()
        needed = {re.sub(r"^\s*\d+[.)]\s*", "", line).strip() for line in listed} & names
        tasks.append(Task(entry["Question"], frozenset(needed)))
    return tools, [task for task in tasks if task.needed]


def recall(tools: Sequence[ListedTool], tasks: Sequence[Task], scores: Sequence[Sequence[float]]) -> list[float]:
    names = [tool.name for tool in tools]
    ranked = [rank(names, row) for row in scores]
    return [
        sum(len(task.needed & set(found[:k])) / len(task.needed) for task, found in zip(tasks, ranked, strict=True))
        / len(tasks)
        for k in RANKS
    ]


def table(folder: Path) -> str:
    tools, tasks = read(folder)
    lines = [
        f"{len(tools)} tools with {len({tool.name for tool in tools})} names, {len(tasks)} tasks.",
        "",
        f"| selector | {' | '.join(f'recall at {k}' for k in RANKS)} | seconds of CPU |",
        "|---" * (len(RANKS) + 2) + "|",
    ]
    words, vectors, sentences = Bm25Selector(), EmbeddingSelector(), MiniLmSelector()
    for selector in (
        words,
        vectors,
        sentences,
        HybridSelector([words, vectors]),
        HybridSelector([words, vectors, sentences]),
    ):
        started = time.process_time()
        found = recall(tools, tasks, selector.score(tools, [task.question for task in tasks]))
        took = time.process_time() - started
        name = f"hybrid of {', '.join(selector.parts)}" if isinstance(selector, HybridSelector) else selector.name
        lines.append(f"| {name} | {' | '.join(f'{value:.1%}' for value in found)} | {took:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
