"""How well tools are found among many: `python -m bench.tool_search [FOLDER]`.

tasks     LiveMCPBench: 94 tasks of several sentences, each of which needs one to seven of 527 tools. Recall at k is
          the share of the needed tools that are among the first k, averaged over the tasks
steps     the same tasks: the query has the steps that people wrote down for them, each on a line
searches  the same tasks, one search for each step; the share of the needed tools that any of these searches has among
          the first k
requests  83 short requests, each for one of 1,521 tools of 215 servers (Toucan and LiveMCPBench): the share whose tool
          is among the first k
together  60 queries, each of two to four of these requests in one sentence; recall as for tasks

The weights were chosen by the even tasks, their steps, and the requests; the odd tasks were measured beside them.
"After use" has learned from the other half of the tasks: the words of a task count for its tools.
"""

import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from fastmcp.server.transforms.search.base import _extract_searchable_text
from fastmcp.server.transforms.search.bm25 import _BM25Index
from fastmcp.tools import Tool

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.word_vectors import WordVectors
from toolcharter.govern.search.analysis import SearchedTool, field_texts, words_of
from toolcharter.govern.search.search_file import SearchFile
from toolcharter.govern.search.tool_index import ToolIndex
from toolcharter.govern.search.word_ranking import WordRanking

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "tools"
REQUESTS = Path(__file__).resolve().parent.parent / "tests" / "data" / "tool_search_queries.jsonl"
RANKS = (1, 5, 10)
_TOGETHER, _JOINTS = 60, (", then ", " and ", ". ", " and then ", ", ")
Search = Callable[[str], Sequence[SearchedTool]]


@dataclass(frozen=True)
class Task:
    question: str
    needed: frozenset[str]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Data:
    tasks: Sequence[Task]
    tools: Sequence[SearchedTool]
    """Of the tasks."""
    requests: Sequence[dict[str, str]]
    all_tools: Sequence[SearchedTool]


def read(folder: Path = FOLDER) -> Data:
    tools = list(_tools(folder / "livemcpbench_tools.jsonl"))
    names = {one.own_name for one in tools}
    tasks: list[Task] = []
    for entry in json.loads((folder / "livemcpbench_tasks.json").read_text(encoding="utf-8")):
        about = entry["Annotator Metadata"]
        needed = names.intersection(_lines(about["Tools"]))
        if needed:
            tasks.append(Task(entry["Question"], frozenset(needed), tuple(_lines(about["Steps"]))))
    requests = [json.loads(line) for line in REQUESTS.read_text(encoding="utf-8").splitlines()]
    return Data(tasks, tools, requests, [*tools, *_tools(folder / "toucan_sample.jsonl")])


def _tools(file: Path) -> Iterator[SearchedTool]:
    for line in file.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        tool = ListedTool.from_wire(entry["tool"])
        # Two servers may have one name, and a request is for one of them: the id is kept beside it.
        yield SearchedTool(entry["server_name"] or entry["server"], tool.name, _with_server(tool, entry["server"]))


def _with_server(tool: ListedTool, server: str) -> ListedTool:
    return replace(tool, meta={"server": server})


def _lines(text: str) -> list[str]:
    lines = [re.sub(r"^\s*\d+[.)]\s*", "", line).strip() for line in text.splitlines()]
    return [line for line in lines if line]


# --- searches ------------------------------------------------------------------------------------------------


def words_alone(tools: Sequence[SearchedTool]) -> Search:
    """BM25 over the four fields, and nothing else."""
    ranking = WordRanking(
        [words_of(field_texts(one)) for one in tools],
        {"server": 1.0, "name": 3.0, "description": 1.5, "arguments": 0.5},
    )
    return lambda query: [tools[n] for n in ranking.rank(words_of({"query": query})["query"], 50)]


def fastmcp(tools: Sequence[SearchedTool]) -> Search:
    """FastMCP's BM25SearchTransform: its index over its texts."""
    index = _BM25Index()
    made = [
        Tool(name=one.own_name, description=one.tool.description, parameters=dict(one.tool.input_schema))
        for one in tools
    ]
    index.build([_extract_searchable_text(tool) for tool in made])
    return lambda query: [tools[n] for n in index.query(query, 50)]


def ours(tools: Sequence[SearchedTool], vectors: WordVectors | None) -> Search:
    index = ToolIndex(tools, vectors)
    return lambda query: index.search(query, 50)


def taught(data: Data, vectors: WordVectors | None, half: int) -> Search:
    """Ours after the tasks of the other half were carried out."""
    index = ToolIndex(data.tools, vectors)
    used: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for number, task in enumerate(data.tasks):
        if number % 2 != half:
            for one in data.tools:
                if one.own_name in task.needed:
                    used[one.server, one.own_name].update(index.known_words(task.question))
    index.learn({key: Counter(dict(words.most_common(40))) for key, words in used.items()})
    return lambda query: index.search(query, 50)


# --- recall --------------------------------------------------------------------------------------------------


def first_names(found: Sequence[SearchedTool], k: int) -> set[str]:
    return set(list(dict.fromkeys(one.own_name for one in found))[:k])


def task_recall(tasks: Sequence[Task], search: Search) -> list[float]:
    return [
        sum(len(task.needed & first_names(search(task.question), k)) / len(task.needed) for task in tasks) / len(tasks)
        for k in RANKS
    ]


def step_recall(tasks: Sequence[Task], search: Search) -> list[float]:
    shares: list[float] = []
    for k in RANKS:
        found = [set[str]().union(*(first_names(search(step), k) for step in task.steps)) for task in tasks]
        shares.append(sum(len(t.needed & f) / len(t.needed) for t, f in zip(tasks, found, strict=True)) / len(tasks))
    return shares


def in_one_query(tasks: Sequence[Task]) -> list[Task]:
    """The tasks, asked for by their steps."""
    return [replace(task, question="\n".join(task.steps)) for task in tasks]


def together_recall(requests: Sequence[dict[str, Any]], search: Search) -> list[float]:
    """Recall of queries that are made of several requests, the same ones each time."""
    dice, shares = random.Random(1), [0.0] * len(RANKS)
    for _ in range(_TOGETHER):
        chosen = dice.sample(requests, dice.choice((2, 3, 4)))
        query = chosen[0]["query"] + "".join(dice.choice(_JOINTS) + one["query"] for one in chosen[1:])
        wanted = {(one["server"], one["tool"]) for one in chosen}
        found = [(tool.tool.meta["server"], tool.own_name) for tool in search(query)]
        for at, k in enumerate(RANKS):
            shares[at] += len(wanted.intersection(found[:k])) / len(wanted) / _TOGETHER
    return shares


def request_recall(requests: Sequence[dict[str, Any]], search: Search) -> list[float]:
    places: list[int] = []
    for one in requests:
        found = [(tool.tool.meta["server"], tool.own_name) for tool in search(one["query"])]
        wanted = (one["server"], one["tool"])
        places.append(found.index(wanted) if wanted in found else 999)
    return [sum(place < k for place in places) / len(places) for k in RANKS]


def table(data: Data) -> str:
    lines = [
        "| recall at 1 / 5 / 10 | tasks | even ones | odd ones | steps | searches | requests | together |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    vectors = WordVectors()
    for label, make in (
        ("FastMCP's search transform (BM25)", fastmcp),
        ("BM25 over fields alone", words_alone),
        ("**ours without embeddings**", lambda tools: ours(tools, None)),
        ("**ours**", lambda tools: ours(tools, vectors)),
    ):
        search = make(data.tools)
        whole = task_recall(data.tasks, search)
        halves = [task_recall(data.tasks[half::2], search) for half in (0, 1)]
        steps = task_recall(in_one_query(data.tasks), search), step_recall(data.tasks, search)
        among_all = make(data.all_tools)
        requests = request_recall(data.requests, among_all), together_recall(data.requests, among_all)
        lines.append(f"| {label} | {' | '.join(map(_percent, (whole, *halves, *steps, *requests)))} |")
    halves = [task_recall(data.tasks[half::2], taught(data, vectors, half)) for half in (0, 1)]
    counts = [len(data.tasks[half::2]) for half in (0, 1)]
    whole = [
        sum(r * n for r, n in zip(rates, counts, strict=True)) / sum(counts) for rates in zip(*halves, strict=True)
    ]
    lines.append(f"| **ours, after use** | {' | '.join(map(_percent, (whole, *halves)))} | | | | |")
    return "\n".join(lines)


# --- cost ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """Processor time with 5,000 tools: seconds for the index, milliseconds for searches."""

    build: float
    from_file: float
    one_changed: float
    request: float
    task: float


def measure_cost(data: Data, folder: Path, count: int = 5_000) -> Cost:
    """Real tools, each several times with different words."""
    times = range(-(-count // len(data.all_tools)))
    tools = [
        one._replace(
            server=f"{one.server} {n}", tool=replace(one.tool, description=f"{one.tool.description} Part {n}.")
        )
        for n in times
        for one in data.all_tools
    ][:count]
    vectors, file = WordVectors(), SearchFile(folder / "search.db")
    build = _cpu(lambda: ToolIndex(tools, vectors, file))
    from_file = _cpu(lambda: ToolIndex(tools, vectors, file))
    index = ToolIndex(tools, vectors, file)
    one_changed = _cpu(lambda: ToolIndex([*tools[1:], tools[0]._replace(own_name="renamed")], vectors, file))
    index.search("warm up")
    requests = [_cpu(lambda one=one: index.search(one["query"], 5)) for one in data.requests]
    tasks = [_cpu(lambda one=one: index.search(one.question, 5)) for one in data.tasks]
    return Cost(build, from_file, one_changed, median(requests) * 1_000, median(tasks) * 1_000)


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _percent(rates: Sequence[float]) -> str:
    return " / ".join(f"{rate:.0%}" for rate in rates)


if __name__ == "__main__":
    print(table(read(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)))
