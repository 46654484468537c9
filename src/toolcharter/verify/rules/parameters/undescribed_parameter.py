import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_AFTER = re.compile(
    r"[`*'\"]{0,3}\s{0,3}(?:\([^)\n]{0,99}\)|\[[^\]\n]{0,99}\])?[`*'\"]{0,3}\s{0,3}(?::|=|-\s|\u2013)|[`'\"]"
)
"""What follows the name where the text of a tool tells of a parameter: `name: ...`, `name (str): ...`, `name`."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if parameter.description or "const" in parameter.schema:
            continue
        if not _is_told(parameter.name, tool.listed.description):
            yield Problem(f"{parameter.name!r} has no description", parameter.path)


def _is_told(name: str, text: str) -> bool:
    start = text.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        alone = not start or not (text[start - 1].isalnum() or text[start - 1] in "_-")
        if alone and _AFTER.match(text, end):
            return True
        start = text.find(name, end)
    return False


RULE = Rule(
    id="PAR001",
    name="undescribed-parameter",
    family="parameters",
    severity="warning",
    what="A parameter without a description, of which the tool's description says nothing either.",
    why="The agent has only its name to go by: it does not learn the form, the unit, or where the value comes from.",
    fix="Say in one sentence what it is, in which form, with an example where the form is not plain.",
    bad=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}}}],
    good=[
        {"inputSchema": {"type": "object", "properties": {"folder": {"type": "string", "description": "Its name."}}}}
    ],
    check=check,
)
