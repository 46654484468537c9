from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    schema = tool.listed.output_schema
    if schema is not None and schema.get("type") != "object":
        actual = short_json(schema["type"]) if "type" in schema else "missing"
        yield Problem(
            f'the type of outputSchema is {actual}, not "object"',
            "outputSchema.type",
            clients=("clients of protocol 2025-11-25",),
        )


RULE = Rule(
    id="SCH018",
    name="output-not-object",
    family="schema",
    severity="warning",
    what='An output schema without `"type": "object"` at the top level.',
    why="Up to protocol 2025-11-25, structured content is an object, and clients reject a tool with another output "
    "schema. Protocol 2026-07-28 allows any schema.",
    fix='Wrap the result in an object, such as {"result": [...]}.',
    bad=[{"outputSchema": {"type": "array", "items": {"type": "string"}}}],
    good=[
        {
            "outputSchema": {
                "type": "object",
                "properties": {"result": {"type": "array", "items": {"type": "string"}}},
            }
        }
    ],
    check=check,
)
