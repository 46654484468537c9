from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    schema = tool.listed.output_schema
    if schema is not None and schema.get("type") != "object":
        given = short_json(schema["type"]) if "type" in schema else "missing"
        yield Problem(
            f'the type of outputSchema is {given}, not "object"',
            "outputSchema.type",
            clients=("clients of protocol 2025-11-25",),
        )


RULE = Rule(
    id="SCH018",
    name="output-not-object",
    family="schema",
    severity="warning",
    what='An output schema whose root does not say `"type": "object"`.',
    why="Up to protocol 2025-11-25 structured content is an object, and clients of it refuse a tool whose output "
    "schema says something else. Protocol 2026-07-28 allows any schema.",
    fix='Wrap what the tool answers in an object, such as {"result": [...]}.',
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
