"""Changes as text for people, for a pull request and for programs."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from toolcharter.contract.changes import Change

ORDER = ("breaking", "accepted", "behavioural", "additive")
COLOURS = {"breaking": "bold red", "accepted": "yellow", "behavioural": "cyan", "additive": "green"}


def status(change: Change) -> str:
    """The effect of a change; a breaking one that is allowed is called accepted."""
    return "accepted" if change.accepted else change.effect


def needs(change: Change) -> str:
    """What a change needs before it may be published."""
    return f"nothing more: {change.accepted}" if change.accepted else change.rule.needs


def by_weight(changes: Sequence[Change]) -> list[Change]:
    """The worst first; otherwise as they came."""
    return sorted(changes, key=lambda change: ORDER.index(status(change)))


def summary(changes: Sequence[Change]) -> str:
    """How many there are of each."""
    if not changes:
        return "No change that an agent or a client can notice."
    counts = {name: sum(status(change) == name for change in changes) for name in ORDER}
    parts = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{len(changes)} change{'s' if len(changes) > 1 else ''}: {parts}."


def as_plain(changes: Sequence[Change]) -> str:
    """One line a change, and the summary."""
    lines = [
        f"{status(change)}: {change.tool} {change.path}: {change.sentence}"
        + ("" if change.effect != "breaking" else f" [{change.kind}; needs {needs(change)}]")
        for change in by_weight(changes)
    ]
    return "\n".join([*lines, summary(changes)])


def as_markdown(changes: Sequence[Change]) -> str:
    """A table."""
    lines = [summary(changes)]
    if changes:
        lines += ["", "| | tool | change | where | needs |", "|---|---|---|---|---|"]
    for change in by_weight(changes):
        cells = (status(change), f"`{change.tool}`", change.sentence, f"`{change.path}`", needs(change))
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def as_json(changes: Sequence[Change]) -> str:
    """All there is, for programs."""
    whole: dict[str, Any] = {
        "breaking": any(change.breaks for change in changes),
        "changes": [
            {
                "kind": change.kind,
                "effect": change.effect,
                "tool": change.tool,
                "path": change.path,
                "sentence": change.sentence,
                "rule": change.rule.says,
                "needs": change.rule.needs,
                "accepted": change.accepted,
            }
            for change in changes
        ],
    }
    return json.dumps(whole, ensure_ascii=False, indent=2)


def show(changes: Sequence[Change], console: Console) -> None:
    """A table on a terminal."""
    table = Table("", "tool", "change", "needs", box=None, padding=(0, 2, 0, 0))
    for change in by_weight(changes):
        colour = COLOURS[status(change)]
        words = f"{escape(change.sentence)}\n[dim]{escape(change.path)}[/]"
        table.add_row(f"[{colour}]{status(change)}[/]", escape(change.tool), words, escape(needs(change)))
    if changes:
        console.print(table)
    console.print(summary(changes))
