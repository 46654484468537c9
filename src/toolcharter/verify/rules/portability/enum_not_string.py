from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        if "enum" not in node.schema:
            continue
        others = [option for option in list_at(node.schema, "enum") if not isinstance(option, str)]
        if others:
            yield Problem(
                f"the enum has {short_json(others[0])}, which is not a string", f"{node.path}.enum", clients=("Gemini",)
            )


RULE = Rule(
    id="POR009",
    name="enum-not-string",
    family="portability",
    severity="warning",
    what="An enum with a value that is not a string.",
    why='Gemini accepts enums of strings only: "enum: only allowed for STRING type" (directus/directus issue 27100, '
    "microsoft/azure-devops-mcp issue 145). The whole request is rejected.",
    fix="Write the values as strings, or set a minimum and a maximum instead.",
    bad=[{"inputSchema": {"type": "object", "properties": {"level": {"type": "integer", "enum": [1, 2, 3]}}}}],
    good=[
        {"inputSchema": {"type": "object", "properties": {"level": {"type": "integer", "minimum": 1, "maximum": 3}}}}
    ],
    check=check,
)
