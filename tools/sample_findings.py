"""Print a seeded sample of findings on tools of other people, to be judged by reading.

    python tools/sample_findings.py FILE [FILE ...] [--half tune|measure] [--per-rule 10] [--per-server 3]

A line of FILE is {"server", "server_name", "tool"}, as in ../shared/data/tools. `--half` takes half of the servers, by
a hash of their name: tune rules on one half, and measure on the other. Each line that is printed is a finding for
docs/rule-judgements.jsonl: fill in `right` and `why`.
"""

import argparse
import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mcp_core.declare.listed import ListedTool
from toolcharter.verify.engine import run_rules, server_from_tools
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Finding
from toolcharter.verify.rules import static_rules

SEED = "toolcharter-14"


def half_of(server: str) -> str:
    """The half that a server belongs to: the same on every machine."""
    return "measure" if hashlib.sha256(f"{SEED}:{server}".encode()).digest()[0] & 1 else "tune"


def read_servers(files: Iterable[Path], half: str | None) -> dict[str, Server]:
    """The servers in the files, by name."""
    tools: defaultdict[tuple[str, str], list[ListedTool]] = defaultdict(list)
    for file in files:
        for line in filter(None, file.read_text(encoding="utf-8").splitlines()):
            entry = json.loads(line)
            if half in (None, half_of(entry["server"])):
                tools[entry["server"], entry["server_name"]].append(ListedTool.from_wire(entry["tool"]))
    return {server: server_from_tools(found, name) for (server, name), found in tools.items()}


def sample(servers: dict[str, Server], per_rule: int, per_server: int) -> Iterator[tuple[str, Finding]]:
    """Errors and warnings: at most so many of each rule, and so many of each rule on one server."""
    rules = [rule for rule in static_rules() if not rule.optional and rule.severity != "note"]
    by_rule: defaultdict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for name, server in servers.items():
        for finding in run_rules(server, rules):
            by_rule[finding.rule].append((name, finding))
    for rule, found in sorted(by_rule.items()):
        random.Random(f"{SEED}:{rule}").shuffle(found)  # noqa: S311 - the same sample every time
        yield from _spread(found, per_server)[:per_rule]


def _spread(found: Sequence[tuple[str, Finding]], per_server: int) -> list[tuple[str, Finding]]:
    taken: Counter[str] = Counter()
    spread: list[tuple[str, Finding]] = []
    for name, finding in found:
        if taken[name] < per_server:
            taken[name] += 1
            spread.append((name, finding))
    return spread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--half", choices=["tune", "measure"])
    parser.add_argument("--per-rule", type=int, default=10)
    parser.add_argument("--per-server", type=int, default=3)
    options = parser.parse_args()
    servers = read_servers(options.files, options.half)
    for name, finding in sample(servers, options.per_rule, options.per_server):
        line = {"server": name, "tool": finding.tool, "rule": finding.rule, "severity": finding.severity}
        print(json.dumps({**line, "path": finding.path, "says": finding.message, "right": None, "why": ""}))


if __name__ == "__main__":
    main()
