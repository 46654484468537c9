import re
from collections.abc import Iterable
from typing import Any

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_DEFAULT = re.compile(
    r"\bdefaults? (?:is |to |value is |value: ?|: ?|= ?)[`'\"]?(?P<value>-?\d+(?:\.\d+)?|true|false)\b"
    r"(?![.,]\d|\s?[%a-z]*[/x*])",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        default = parameter.schema.get("default")
        if not isinstance(default, bool | int | float) or "efault" not in parameter.description:
            continue
        match = _DEFAULT.search(parameter.description)
        if match and not _is_same(match["value"], default):
            yield Problem(f"says that the default is {match['value']}, but it is {short_json(default)}", parameter.path)


def _is_same(text: str, default: Any) -> bool:
    if isinstance(default, bool) or text.lower() in {"true", "false"}:
        return text.lower() == str(default).lower()
    return float(text) == float(default)


RULE = Rule(
    id="PAR020",
    name="contradicted-default",
    family="parameters",
    severity="warning",
    what="The description of a parameter says another default than the schema.",
    why="The agent relies on one of the two, and gets a different result than it expects.",
    fix="Correct the one that is wrong. The schema alone is enough.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {
                    "limit": {"type": "integer", "default": 20, "description": "How many notes; defaults to 50."}
                },
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {
                    "limit": {"type": "integer", "default": 20, "description": "How many notes; defaults to 20."}
                },
            }
        }
    ],
    check=check,
)
