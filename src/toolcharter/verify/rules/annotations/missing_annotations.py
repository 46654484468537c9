from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if all(tool.hint(name) is None for name in HINTS):
        yield Problem("has no annotations, so clients take it for destructive", "annotations")


RULE = Rule(
    id="ANN001",
    name="missing-annotations",
    family="annotations",
    severity="note",
    what="A tool without any of the four hints: read-only, destructive, idempotent, open world.",
    why=(
        "Clients decide by them whether to ask the user before a call. "
        "What carries none counts as destructive, so harmless tools are asked about too, until users stop reading."
    ),
    fix="Say at least whether the tool only reads, with readOnlyHint.",
    bad=[{"annotations": {}}],
    good=[{"annotations": {"readOnlyHint": True}}],
    check=check,
)
