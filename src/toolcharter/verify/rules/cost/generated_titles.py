from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import string_at

_FEWEST = 3


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    count = sum(_restates(parameter.name, string_at(parameter.schema, "title")) for parameter in tool.parameters)
    if count >= _FEWEST:
        yield Problem(f"{count} titles restate the names of their parameters", "inputSchema.properties")


def _restates(name: str, title: str) -> bool:
    return bool(title) and words_of(title) == words_of(name)


_BAD = {name: {"type": "string", "title": name.title()} for name in ("folder", "tag", "words")}

RULE = Rule(
    id="CST010",
    name="generated-titles",
    family="cost",
    severity="note",
    what="Three or more titles in the schema that only restate the names of parameters.",
    why="Libraries such as pydantic write them unasked. Each costs about five tokens in every request, for nothing.",
    fix="Leave them out when the schema is made.",
    bad=[{"inputSchema": {"type": "object", "properties": _BAD}}],
    good=[{"inputSchema": {"type": "object", "properties": {name: {"type": "string"} for name in _BAD}}}],
    check=check,
)
