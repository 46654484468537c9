"""Reports of changes: for a terminal, a pipe, a pull request and programs."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mcp_core.foreign.terminal import escape_invisible
from mcp_core.text.plurals import count
from toolcharter.contract.changes import Change

if TYPE_CHECKING:
    from rich.console import Console

ORDER = ("breaking", "accepted", "behavioural", "additive")
COLOURS = {"breaking": "bold red", "accepted": "yellow", "behavioural": "cyan", "additive": "green"}


def status(change: Change) -> str:
    """The effect of a change; `accepted` for a breaking change that is allowed."""
    return "accepted" if change.accepted else change.effect


def needs(change: Change) -> str:
    """The requirement of a change before it may be published."""
    return f"nothing, because {change.accepted}" if change.accepted else change.rule.needs


def worst_first(changes: Sequence[Change]) -> list[Change]:
    """The worst changes first; otherwise in the same order."""
    return sorted(changes, key=lambda change: ORDER.index(status(change)))


def summary(changes: Sequence[Change]) -> str:
    """The number of changes of each status."""
    if not changes:
        return "No change that an agent or a client can notice."
    counts = {name: sum(status(change) == name for change in changes) for name in ORDER}
    parts = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    return f"{count(len(changes), 'change')}: {parts}."


def to_text(changes: Sequence[Change], *, for_author: bool = True) -> str:
    """One line for each change, and the summary. The author of the server also reads what a change needs."""
    lines = [
        escape_invisible(f"{status(change)}: {change.tool}{_place(change)}: {change.sentence}")
        + (f" [{change.kind}; needs {needs(change)}]" if for_author and change.effect == "breaking" else "")
        for change in worst_first(changes)
    ]
    return "\n".join([*lines, summary(changes)])


def _place(change: Change) -> str:
    """The place in the tool; nothing for the tool as a whole."""
    return "" if change.path == "$" else f" {change.path}"


def to_markdown(changes: Sequence[Change]) -> str:
    """A table in Markdown."""
    lines = [summary(changes)]
    if changes:
        lines += ["", "| | tool | change | where | needs |", "|---|---|---|---|---|"]
    for change in worst_first(changes):
        cells = (status(change), f"`{change.tool}`", change.sentence, f"`{change.path}`", needs(change))
        lines.append("| " + " | ".join(escape_invisible(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def to_json(changes: Sequence[Change]) -> str:
    """Everything, for programs."""
    whole: dict[str, Any] = {
        "breaking": any(change.is_breaking for change in changes),
        "changes": [
            {
                "kind": change.kind,
                "effect": change.effect,
                "tool": change.tool,
                "path": change.path,
                "sentence": change.sentence,
                "rule": change.rule.text,
                "needs": change.rule.needs,
                "accepted": change.accepted,
            }
            for change in changes
        ],
    }
    return json.dumps(whole, indent=2)


def print_table(changes: Sequence[Change], console: "Console") -> None:
    """Print a table on a terminal."""
    from rich.markup import escape  # noqa: PLC0415 - 20 ms and 3 MB, which a governor does not need
    from rich.table import Table  # noqa: PLC0415 - the same

    def shown(text: str) -> str:
        return escape(escape_invisible(text))

    table = Table("", "tool", "change", "needs", box=None, padding=(0, 2, 0, 0))
    for change in worst_first(changes):
        colour = COLOURS[status(change)]
        text = shown(change.sentence) + (f"\n[dim]{shown(change.path)}[/]" if _place(change) else "")
        table.add_row(f"[{colour}]{status(change)}[/]", shown(change.tool), text, shown(needs(change)))
    if changes:
        console.print(table)
    console.print(summary(changes))
