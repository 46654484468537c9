"""The time to check 6,000 tools with all rules, including scores and duplicates, on one core.

`python -m bench.verify_speed COUNT [FOLDER]` is one sample, in a process of its own. FOLDER has lists of real tools,
one JSON object a line; each is taken several times, with another name and a quarter of its words changed. Where there
is none, tools are made up.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count as numbers
from itertools import islice
from pathlib import Path
from typing import Any

from bench.contenders import ROOT
from bench.measure import Cell, Sample, interleave
from bench.processes import environment

KIND = "verify"
TOOLS = 6000
REAL = ROOT.parent / "shared" / "data" / "tools"
CHANGED = 0.25

VERBS = ("get", "list", "search", "create", "update", "delete", "send", "open", "close", "move", "copy", "check")
NOUNS = ("note", "folder", "user", "task", "page", "board", "issue", "card", "deck", "label", "comment", "file")
WORDS = (
    "the",
    "of",
    "a",
    "in",
    "by",
    "with",
    "its",
    "all",
    "one",
    "given",
    "current",
    "every",
    "last",
    "first",
    "open",
)


def cell(tools: int = TOOLS) -> Cell:
    return Cell(KIND, "rules", "", tools)


def measure(
    rounds: int, tools: int, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> dict[Cell, list[Sample]]:
    return interleave([cell(tools)], rounds, lambda *_: sample(tools, folder), log)


def sample(tools: int, folder: Path) -> Sample:
    command = [sys.executable, "-m", "bench.verify_speed", str(tools)]
    done = subprocess.run(command, cwd=ROOT, env=environment(folder), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def many_tools(count: int, folder: Path = REAL) -> list[dict[str, Any]]:
    """`count` definitions, the same in every run."""
    found = [
        json.loads(line)["tool"] for path in sorted(folder.glob("*.jsonl")) for line in path.open(encoding="utf-8")
    ]
    originals = found or [made_up(random.Random(number)) for number in range(min(count, 1500))]
    return list(islice(copies(originals), count))


def copies(originals: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    pool = sorted({word for tool in originals for word in str(tool.get("description") or "").split()}) or list(WORDS)
    yield from originals
    for number in numbers(2):
        dice = random.Random(number)
        for tool in originals:
            words = str(tool.get("description") or "").split()
            other = [dice.choice(pool) if dice.random() < CHANGED else word for word in words]
            yield tool | {"name": f"{tool['name']}_{number}", "description": " ".join(other)}


def made_up(dice: random.Random) -> dict[str, Any]:
    verb, noun = dice.choice(VERBS), dice.choice(NOUNS)
    words = " ".join(word(dice) for _ in range(dice.randint(0, 60)))
    fields = {
        f"{dice.choice(NOUNS)}_{number}": {"type": "string", "description": f"The {dice.choice(NOUNS)} to {verb}."}
        for number in range(dice.randint(0, 6))
    }
    schema = {"type": "object", "properties": fields, "required": list(fields)[:2]}
    name = f"{verb}_{noun}_{dice.randint(0, 10**6)}"
    return {"name": name, "description": f"{verb.capitalize()} a {noun}. {words}", "inputSchema": schema}


def word(dice: random.Random) -> str:
    """A few words are frequent and many are rare, as in real texts."""
    return dice.choice(WORDS) if dice.random() < 0.5 else f"{dice.choice(NOUNS)}{int(dice.paretovariate(0.5))}"


def run(count: int, folder: Path) -> dict[str, float]:
    """Seconds for everything that `toolcharter verify --format html` does after it has the list."""
    from mcp_core.declare.listed import read_tools  # noqa: PLC0415 - only the sample's own process needs it
    from toolcharter.verify.engine import server_from_tools  # noqa: PLC0415
    from toolcharter.verify.report import render  # noqa: PLC0415
    from toolcharter.verify.result import verify_server  # noqa: PLC0415
    from toolcharter.verify.rules import static_rules  # noqa: PLC0415

    answer = many_tools(count, folder)
    rules = static_rules()
    wall, cpu = time.perf_counter(), time.process_time()
    result = verify_server(server_from_tools(read_tools(answer), "many"), rules)
    render(result, "html")
    return {
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "rules": len(rules),
        "findings": len(result.findings),
    }


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else REAL)))
