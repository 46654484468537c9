from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.cost.very_large_tool import VERY_LARGE

LARGE = 1_000


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if LARGE < (tokens := tool.tokens) <= VERY_LARGE:
        yield Problem(f"costs about {tokens:,} tokens in every request")


RULE = Rule(
    id="CST002",
    name="large-tool",
    family="cost",
    severity="note",
    what="A tool whose definition has more than about 1,000 tokens.",
    why="The definition is sent with every request, used or not. Half of all tools need a tenth of that.",
    fix="Shorten descriptions, drop rare arguments, or move explanations to a resource.",
    bad=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(150)}}}],
    good=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(9)}}}],
    check=check,
)
