from collections.abc import Iterable

from mcp_core.schema.fields import has_type, list_at, types_of
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        options = [node.schema["const"]] if "const" in node.schema else list_at(node.schema, "enum")
        if not options or "type" not in node.schema:
            continue
        types = types_of(node.schema)
        wrong = [option for option in options if not any(has_type(option, kind) for kind in types)]
        if wrong:
            word = "const" if "const" in node.schema else "enum"
            yield Problem(f"{short_json(wrong[0])} is not of type {' or '.join(types)}", f"{node.path}.{word}")


RULE = Rule(
    id="SCH013",
    name="enum-type-mismatch",
    family="schema",
    severity="warning",
    what="An enum value that does not have the type of the schema.",
    why="The value can be chosen, but is then rejected: a value must match both the type and the enum.",
    fix="Write the values in the declared type, or correct the type.",
    bad=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "string", "enum": [1, 2]}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "enum": [1, 2]}}}}],
    check=check,
)
