from collections.abc import Iterable

from mcp_core.calling.render import META
from toolcharter.verify.declared import declared
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool


def check(tool: Tool, _: Server) -> Iterable[Found]:
    category = declared(tool, "category")
    reads, destroys = tool.hint("readOnlyHint"), tool.hint("destructiveHint")
    if category in ("query", "analysis"):
        if reads is False:
            yield Found(f"is of category {category}, but readOnlyHint is false", "annotations.readOnlyHint")
        if destroys is True:
            yield Found(f"is of category {category}, but destructiveHint is true", "annotations.destructiveHint")
        if category == "query" and tool.hint("idempotentHint") is False:
            yield Found("is of category query, but idempotentHint is false", "annotations.idempotentHint")
    elif category == "mutation" and reads is True:
        yield Found("is of category mutation, but readOnlyHint is true", "annotations.readOnlyHint")


RULE = Rule(
    id="CHA003",
    name="category-against-hints",
    family="charter",
    severity="error",
    what="The declared category and the annotations contradict each other.",
    why="Clients let read-only tools run without asking. A mutation that passes for one runs unasked, or is cached.",
    fix="Make the category what the tool does; the annotations follow from it.",
    bad=[{"_meta": {META + "category": "mutation"}, "annotations": {"readOnlyHint": True}}],
    good=[{"_meta": {META + "category": "mutation"}, "annotations": {"readOnlyHint": False}}],
    check=check,
)
