from collections.abc import Iterable

from toolcharter.verify.model import HINTS, Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if all(tool.hint(name) is None for name in HINTS):
        yield Problem("has no hints, so clients treat it as destructive", "annotations")


RULE = Rule(
    id="ANN001",
    name="missing-annotations",
    family="annotations",
    severity="note",
    what="A tool without any of the four hints: read-only, destructive, idempotent, open world.",
    why=(
        "Clients use them to decide whether to ask the user before a call. A tool without hints counts as "
        "destructive, so users are asked about harmless tools too, until they stop reading."
    ),
    fix="Set at least readOnlyHint.",
    bad=[{"annotations": {}}],
    good=[{"annotations": {"readOnlyHint": True}}],
    check=check,
)
