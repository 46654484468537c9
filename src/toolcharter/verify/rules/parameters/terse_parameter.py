import re
from collections.abc import Iterable
from typing import Any

from mcp_core.schema.walk import Node
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

MAX_WORDS = 4
_VALUES_IN_TEXT = re.compile(r"(?i:\bsuch as\b)|\d|['\"`<>=:]|\b[A-Z]{3,}\b|\b(?:true|false|null|UUID|URL|ISO)\b")
"""Signs of values in a text: an example, a number, something quoted, a form such as YYYY-MM-DD."""
_SAY_VALUES = frozenset({"boolean", "integer", "number"})
"""Types whose values are known; PAR004 asks for the bounds of numbers."""
_VALUES_IN_SCHEMA = frozenset({"enum", "const", "format", "pattern", "minimum", "maximum", "multipleOf", "examples"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        text = parameter.description
        if text and text.isascii() and len(text.split()) <= MAX_WORDS and not _has_values(parameter):
            yield Problem(f"{parameter.name!r} is only described as {text!r}", parameter.path)


def _has_values(parameter: Node) -> bool:
    """Whether the text or the schema says which values are valid."""
    if _VALUES_IN_TEXT.search(parameter.description) or not _SAY_VALUES.isdisjoint(parameter.types):
        return True
    items: Any = parameter.schema.get("items")
    schemas: list[Any] = [parameter.schema, items if isinstance(items, dict) else {}]
    return any(not _VALUES_IN_SCHEMA.isdisjoint(schema) for schema in schemas)


RULE = Rule(
    id="PAR022",
    name="terse-parameter",
    family="parameters",
    severity="note",
    what="A parameter is described with four words or fewer, and neither they nor the schema say which values are "
    "valid.",
    why="The description is often all that a model sees of an argument. It needs its purpose and its values: what "
    "happens with it, in which form it is written, and where it comes from.",
    fix="Say what the argument is for and what may be in it, such as: 'Id of a project, as list_projects has it'.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"project": {"type": "string", "description": "Another project."}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {
                    "project": {
                        "type": "string",
                        "description": "Name of a project, as list_projects returns it; default: the active one.",
                    },
                    "status": {"type": "string", "enum": ["open", "done"], "description": "Filter by status."},
                },
            }
        }
    ],
    check=check,
)
