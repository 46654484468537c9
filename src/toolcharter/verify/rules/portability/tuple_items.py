from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

CLIENTS = ("OpenAI", "Gemini")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        word = "items" if isinstance(node.schema.get("items"), list) else "prefixItems"
        if isinstance(node.schema.get(word), list):
            yield Problem(f"`{word}` has a schema for each position", f"{node.path}.{word}", clients=CLIENTS)


RULE = Rule(
    id="POR019",
    name="tuple-items",
    family="portability",
    severity="warning",
    what="An array with a different schema for each position.",
    why="OpenAI and Gemini require one schema for all items and reject a list; "
    "neither supports `prefixItems`. JSON Schema 2020-12 no longer has a list in `items`.",
    fix="Use an object with named fields, or one schema for all items.",
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
