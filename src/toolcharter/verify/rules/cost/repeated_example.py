from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import list_at, short_json

_ENOUGH = 6
"""Characters that are no chance repetition."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        for example in list_at(parameter.schema, "examples"):
            if isinstance(example, str) and len(example) >= _ENOUGH:
                place = _repeated(example, parameter.description, tool.description)
                if place:
                    yield Problem(
                        f"the example {short_json(example)} stands in {place} too", f"{parameter.path}.examples"
                    )
                    break


def _repeated(example: str, own: str, whole: str) -> str | None:
    if example in own:
        return "its description"
    return "the tool's description" if example in whole else None


_GIVEN = {"type": "string", "examples": ["2026/holidays"]}

RULE = Rule(
    id="CST008",
    name="repeated-example",
    family="cost",
    severity="note",
    what="An example that stands in `examples` and in a description.",
    why="The agent pays twice for it.",
    fix="Keep it in one place. Descriptions reach every model; `examples` does not pass through every client.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {**_GIVEN, "description": "Its path, such as 2026/holidays."}},
            }
        }
    ],
    good=[{"inputSchema": {"type": "object", "properties": {"folder": {**_GIVEN, "description": "Its path."}}}}],
    check=check,
)
