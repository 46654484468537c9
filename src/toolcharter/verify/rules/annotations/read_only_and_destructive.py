from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.hint("readOnlyHint") and tool.hint("destructiveHint"):
        yield Problem("is marked read-only and destructive at once", "annotations")


RULE = Rule(
    id="ANN005",
    name="read-only-and-destructive",
    family="annotations",
    severity="error",
    what="A tool that is marked both read-only and destructive.",
    why="It cannot be both. Clients that look at the first let it pass, those that look at the second ask.",
    fix="Keep the one that is true.",
    bad=[{"annotations": {"readOnlyHint": True, "destructiveHint": True}}],
    good=[{"annotations": {"readOnlyHint": True, "destructiveHint": False}}],
    check=check,
)
