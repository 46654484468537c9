from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

VERY_LARGE = 2_500


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.tokens > VERY_LARGE:
        yield Problem(f"costs about {tool.tokens:,} tokens in every request")


RULE = Rule(
    id="CST001",
    name="very-large-tool",
    family="cost",
    severity="warning",
    what="A tool whose definition has more than about 2,500 tokens.",
    why="The definition is sent with every request, used or not. "
    "It takes the place of a page or two of conversation, and its important parts are hard to find.",
    fix="Shorten descriptions, drop rare arguments, move explanations to a resource, or split the tool.",
    bad=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(400)}}}],
    good=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(9)}}}],
    check=check,
)
