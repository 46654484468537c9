from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.cost.very_large_tool import LARGE

HEAVY = 1_000


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if HEAVY < (tokens := tool.tokens) <= LARGE:
        yield Problem(f"costs about {tokens:,} tokens in every request")


RULE = Rule(
    id="CST002",
    name="large-tool",
    family="cost",
    severity="note",
    what="A tool whose definition takes more than about 1,000 tokens.",
    why="The definition is sent with every request, used or not. Half of all tools get by with a tenth of that.",
    fix="Shorten descriptions, drop rare arguments, or move explanations to a resource.",
    bad=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(150)}}}],
    good=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(9)}}}],
    check=check,
)
