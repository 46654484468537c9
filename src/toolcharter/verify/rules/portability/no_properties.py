from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.schema.get("type") == "object" and "properties" not in tool.schema and "$ref" not in tool.schema:
        yield Problem("inputSchema has no `properties`", "inputSchema", clients=("OpenAI",))


RULE = Rule(
    id="POR005",
    name="no-properties",
    family="portability",
    severity="warning",
    what="An input schema that is an object without `properties`.",
    why='OpenAI rejects the function ("object schema missing properties"), and with it the whole request, unless the '
    "client corrects the schema first (Azure/azure-mcp issue 197, grafana/mcp-grafana issue 390).",
    fix='For a tool without arguments, write `"properties": {}`.',
    bad=[{"inputSchema": {"type": "object"}}],
    good=[{"inputSchema": {"type": "object", "properties": {}}}],
    check=check,
)
