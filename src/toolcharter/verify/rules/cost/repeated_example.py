from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_MIN_LENGTH = 6
"""Shorter examples repeat by chance."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        for example in list_at(parameter.schema, "examples"):
            if isinstance(example, str) and len(example) >= _MIN_LENGTH:
                place = _repeated(example, parameter.description, tool.description)
                if place:
                    yield Problem(f"the example {short_json(example)} is also in {place}", f"{parameter.path}.examples")
                    break


def _repeated(example: str, own: str, tool: str) -> str | None:
    if example in own:
        return "its description"
    return "the tool's description" if example in tool else None


_FOLDER = {"type": "string", "examples": ["2026/holidays"]}

RULE = Rule(
    id="CST008",
    name="repeated-example",
    family="cost",
    severity="note",
    what="An example that is both in `examples` and in a description.",
    why="It costs tokens twice.",
    fix="Keep it in one place. Descriptions reach every model, but some clients drop `examples`.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {**_FOLDER, "description": "Its path, such as 2026/holidays."}},
            }
        }
    ],
    good=[{"inputSchema": {"type": "object", "properties": {"folder": {**_FOLDER, "description": "Its path."}}}}],
    check=check,
)
