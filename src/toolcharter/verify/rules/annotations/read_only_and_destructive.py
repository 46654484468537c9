from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.hint("readOnlyHint") and tool.hint("destructiveHint"):
        yield Problem("is marked both read-only and destructive", "annotations")


RULE = Rule(
    id="ANN005",
    name="read-only-and-destructive",
    family="annotations",
    severity="error",
    what="A tool that is marked both read-only and destructive.",
    why="It cannot be both. Some clients trust the first hint and run it, others trust the second and ask.",
    fix="Keep the one that is true.",
    bad=[{"annotations": {"readOnlyHint": True, "destructiveHint": True}}],
    good=[{"annotations": {"readOnlyHint": True, "destructiveHint": False}}],
    check=check,
)
