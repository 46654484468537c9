from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import equality_key, short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        if "enum" not in node.schema:
            continue
        seen: set[str] = set()
        for option in list_at(node.schema, "enum"):
            if (key := equality_key(option)) in seen:
                yield Problem(f"{short_json(option)} is in the enum twice", f"{node.path}.enum")
                break
            seen.add(key)


RULE = Rule(
    id="SCH019",
    name="duplicate-enum-value",
    family="schema",
    severity="warning",
    what="A value that is in an enum twice.",
    why="JSON Schema says that the values should be unique, and some validators reject the schema. "
    "Often another value was intended.",
    fix="List each value once.",
    bad=[{"inputSchema": {"type": "object", "properties": {"order": {"type": "string", "enum": ["asc", "asc"]}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"order": {"type": "string", "enum": ["asc", "desc"]}}}}],
    check=check,
)
