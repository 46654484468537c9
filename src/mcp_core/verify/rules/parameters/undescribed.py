import re
from collections.abc import Iterable
from functools import lru_cache

from mcp_core.verify.rule import Found, Rule
from mcp_core.verify.subject import Server, Tool


def check(tool: Tool, _: Server) -> Iterable[Found]:
    for parameter in tool.parameters:
        if not parameter.description and "const" not in parameter.schema:
            name = parameter.name
            if name not in tool.listed.description or not _telling(name).search(tool.listed.description):
                yield Found(f"{name!r} has no description", parameter.path)


@lru_cache(maxsize=5_000)
def _telling(name: str) -> re.Pattern[str]:
    """How the text of a tool speaks of a parameter: `name: ...`, `name (str): ...`, `name - ...`, "the `name`"."""
    word = re.escape(name)
    return re.compile(
        rf"(?<![\w-]){word}[`*'\"]*\s*(?:\([^)\n]*\)|\[[^\]\n]*\])?[`*'\"]*\s*(?::|=|-\s|\u2013)|[`'\"]{word}[`'\"]"
    )


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
