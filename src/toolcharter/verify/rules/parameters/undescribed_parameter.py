import re
from collections.abc import Iterable

from mcp_core.schema.walk import Node
from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_AFTER_NAME = re.compile(
    r"[`*'\"]{0,3}\s{0,3}(?:\([^)\n]{0,99}\)|\[[^\]\n]{0,99}\])?[`*'\"]{0,3}\s{0,3}(?::|=|-\s|\u2013)|[`'\"]"
)
"""The text after the name if the description documents a parameter: `name: ...`, `name (str): ...`, `name`."""
_GEOMETRY = frozenset(
    {"bottom", "height", "lat", "latitude", "left", "lng", "lon", "longitude", "right", "top", "width", "x", "y", "z"}
)
"""Names that say everything."""
_VAGUE = frozenset(
    {"action", "config", "data", "date", "fields", "filter", "id", "ids", "input", "mode", "name", "options", "order"}
    | {"params", "query", "state", "status", "time", "type", "value", "values"}
)
"""Words that need an explanation even if the description of the tool has them."""
_MIN_WORD = 3
_MIN_EXPLANATION = 30
"""A longer description of an argument may say what its members are."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    missing = [parameter for parameter in tool.parameters if _lacks_description(parameter, tool)]
    if len(missing) > 1 and len(missing) == len(tool.parameters):
        yield Problem(f"none of its {len(missing)} parameters has a description", "inputSchema.properties")
        return
    for argument in tool.arguments:
        if argument in missing:
            yield Problem(f"{argument.name!r} has no description", argument.path)
        members = [one for one in missing if one.depth and one.path.startswith(f"{argument.path}.")]
        if len(members) == 1:
            yield Problem(f"{members[0].name!r} has no description", members[0].path)
        elif members:
            some = f"{len(members)} members of {argument.name!r} have no description"
            yield Problem(f"{some}, such as {members[0].name!r}", members[0].path)


def _lacks_description(parameter: Node, tool: Tool) -> bool:
    if parameter.description or "const" in parameter.schema or parameter.name.lower() in _GEOMETRY:
        return False
    if parameter.depth and _has_described_parent(parameter, tool):
        return False
    if "enum" in parameter.schema or _is_mentioned(parameter, tool):
        return False
    return not _is_documented(parameter.name, tool.listed.description)


def _is_mentioned(parameter: Node, tool: Tool) -> bool:
    """Whether the description of the tool has all words of the name, as in: Lint the files at these paths."""
    words = words_of(parameter.name)
    if parameter.depth or not words or not _VAGUE.isdisjoint(words) or min(map(len, words)) < _MIN_WORD:
        return False
    prose = {word.rstrip("s") for word in tool.prose_words}
    return all(word.rstrip("s") in prose for word in words)


def _has_described_parent(member: Node, tool: Tool) -> bool:
    """Whether a member belongs to an argument with a description, which may describe its members too."""
    described = (argument for argument in tool.arguments if len(argument.description) > _MIN_EXPLANATION)
    return any(member.path.startswith(f"{argument.path}.") for argument in described)


def _is_documented(name: str, text: str) -> bool:
    start = text.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        alone = not start or not (text[start - 1].isalnum() or text[start - 1] in "_-")
        if alone and _AFTER_NAME.match(text, end):
            return True
        start = text.find(name, end)
    return False


RULE = Rule(
    id="PAR001",
    name="undescribed-parameter",
    family="parameters",
    severity="warning",
    what="A parameter of a tool or prompt without a description, which the other description does not mention either.",
    why="The agent knows only the name, not the format, the unit, or where the value comes from.",
    fix="Describe it in one sentence, with its format, and an example if the format is not obvious.",
    bad=[{"inputSchema": {"type": "object", "properties": {"order_by": {"type": "string"}}}}],
    good=[
        {"inputSchema": {"type": "object", "properties": {"order_by": {"type": "string", "description": "Its name."}}}}
    ],
    check=check,
    checks_prompts=True,
)
