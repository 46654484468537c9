from collections.abc import Iterable

from mcp_core.schema.fields import string_at
from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_MIN_COUNT = 3


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    count = sum(_repeats(parameter.name, string_at(parameter.schema, "title")) for parameter in tool.parameters)
    if count >= _MIN_COUNT:
        yield Problem(f"{count} titles only repeat the names of their parameters", "inputSchema.properties")


def _repeats(name: str, title: str) -> bool:
    return bool(title) and words_of(title) == words_of(name)


_BAD = {name: {"type": "string", "title": name.title()} for name in ("folder", "tag", "words")}

RULE = Rule(
    id="CST010",
    name="generated-titles",
    family="cost",
    severity="note",
    what="Three or more titles in the schema that only repeat the names of parameters.",
    why="Libraries such as pydantic add them by default. Each costs about five tokens in every request, for nothing.",
    fix="Remove them when the schema is generated.",
    bad=[{"inputSchema": {"type": "object", "properties": _BAD}}],
    good=[{"inputSchema": {"type": "object", "properties": {name: {"type": "string"} for name in _BAD}}}],
    check=check,
)
