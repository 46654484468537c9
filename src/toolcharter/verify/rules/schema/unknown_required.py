from collections.abc import Iterable

from mcp_core.schema.fields import list_at, object_at
from mcp_core.schema.walk import BRANCHES
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        # An alternative may require properties of its parent, and a reference may define the required properties.
        if "required" not in node.schema or node.keyword in BRANCHES or not _OTHER_KEYWORDS.isdisjoint(node.schema):
            continue
        known = object_at(node.schema, "properties")
        for name in list_at(node.schema, "required"):
            if isinstance(name, str) and name not in known:
                yield Problem(
                    f"{name!r} is required, but is not a property", f"{node.path}.required", clients=("Gemini",)
                )


_OTHER_KEYWORDS = frozenset({"$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if"})

RULE = Rule(
    id="SCH007",
    name="unknown-required",
    family="schema",
    severity="error",
    what="A required name that is not in `properties`.",
    why="The agent has to send something of which it knows only the name. Gemini rejects the tool: "
    '"property is not defined" (moltis-org/moltis issue 747, google-gemini/gemini-cli issue 1458).',
    fix="Define the property, or remove its name from `required`.",
    bad=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}, "required": ["path"]}}],
    good=[{"inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}],
    check=check,
)
