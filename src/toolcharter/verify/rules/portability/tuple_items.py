from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

CLIENTS = ("OpenAI", "Gemini")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        word = "items" if isinstance(node.schema.get("items"), list) else "prefixItems"
        if isinstance(node.schema.get(word), list):
            yield Problem(f"`{word}` lists a schema for each place", f"{node.path}.{word}", clients=CLIENTS)


RULE = Rule(
    id="POR019",
    name="tuple-items",
    family="portability",
    severity="warning",
    what="An array that has another schema for each place.",
    why="OpenAI and Gemini want one schema for all items and refuse a list, and "
    "`prefixItems` is unknown to both. 2020-12 has no `items` list any more either.",
    fix="Take an object with named members, or one schema for all items.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"at": {"type": "array", "items": [{"type": "number"}, {"type": "number"}]}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"at": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}},
            }
        }
    ],
    check=check,
)
