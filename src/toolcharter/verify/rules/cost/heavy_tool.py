from collections.abc import Iterable

from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.rules.cost.large_tool import LARGE
from toolcharter.verify.subject import Server, Tool

HEAVY = 1_000


def check(tool: Tool, _: Server) -> Iterable[Found]:
    if HEAVY < (tokens := tool.tokens) <= LARGE:
        yield Found(f"costs about {tokens:,} tokens in every request")


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
