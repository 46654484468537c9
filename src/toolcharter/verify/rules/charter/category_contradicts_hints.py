from collections.abc import Iterable

from mcp_core.declare.charter import META
from toolcharter.verify.declaration import declared_value
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    category = declared_value(tool, "category")
    reads, destroys = tool.hint("readOnlyHint"), tool.hint("destructiveHint")
    if category in ("query", "analysis"):
        if reads is False:
            yield Problem(f"has category {category}, but readOnlyHint is false", "annotations.readOnlyHint")
        if destroys is True:
            yield Problem(f"has category {category}, but destructiveHint is true", "annotations.destructiveHint")
        if category == "query" and tool.hint("idempotentHint") is False:
            yield Problem("has category query, but idempotentHint is false", "annotations.idempotentHint")
    elif category == "mutation" and reads is True:
        yield Problem("has category mutation, but readOnlyHint is true", "annotations.readOnlyHint")


RULE = Rule(
    id="CHA003",
    name="category-contradicts-hints",
    family="charter",
    severity="error",
    what="The declared category and the annotations contradict each other.",
    why="Clients run read-only tools without asking. A mutation that is marked read-only runs unasked, or is cached.",
    fix="Declare the right category. The annotations follow from it.",
    bad=[{"_meta": {META + "category": "mutation"}, "annotations": {"readOnlyHint": True}}],
    good=[{"_meta": {META + "category": "mutation"}, "annotations": {"readOnlyHint": False}}],
    check=check,
)
