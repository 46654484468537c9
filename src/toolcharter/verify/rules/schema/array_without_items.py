from collections.abc import Iterable

from mcp_core.schema.fields import types_of
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

CLIENTS = ("VS Code", "Gemini", "OpenAI")
_ITEMS = frozenset({"items", "prefixItems", "$ref"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        if "type" in node.schema and _ITEMS.isdisjoint(node.schema) and "array" in types_of(node.schema):
            yield Problem("is an array without `items`", node.path, clients=CLIENTS)


RULE = Rule(
    id="SCH015",
    name="array-without-items",
    family="schema",
    severity="error",
    what="An array without `items`.",
    why='VS Code rejects the tool ("tool parameters array type must have items", microsoft/vscode issue 246119), '
    'as do OpenAI ("array schema missing items", apify/apify-mcp-server issue 36) and Gemini '
    '("items: missing field", Ingenimax/agent-sdk-go pull request 319). '
    "An agent has to guess the items.",
    fix='Give the type of the items, such as `"items": {"type": "string"}`.',
    bad=[{"inputSchema": {"type": "object", "properties": {"tags": {"type": "array"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}}],
    check=check,
)
