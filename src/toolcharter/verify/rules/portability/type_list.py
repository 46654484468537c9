from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    nodes = [node for node in tool.nodes if isinstance(node.schema.get("type"), list)]
    if nodes:
        first = nodes[0]
        more = f", here and in {len(nodes) - 1} more places" if len(nodes) > 1 else ""
        message = f"`type` is the list {short_json(first.schema['type'])}{more}"
        yield Problem(message, f"{first.path}.type", clients=("Gemini",))


RULE = Rule(
    id="POR008",
    name="type-list",
    family="portability",
    severity="warning",
    what='A list of types, such as `"type": ["string", "null"]`.',
    why='Gemini accepts one type: "Proto field is not repeating, cannot start list" (n8n-io/n8n issue 15553). '
    "Clients that convert schemas have also failed on it (google/adk-js pull request 199).",
    fix="Give one type. For an optional value, leave it out of `required` instead of allowing null.",
    bad=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": ["string", "null"]}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}}}],
    check=check,
)
