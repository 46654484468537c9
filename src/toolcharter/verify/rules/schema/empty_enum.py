from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        if node.schema.get("enum") == []:
            yield Problem("the enum is empty, so no value is valid", f"{node.path}.enum")


RULE = Rule(
    id="SCH012",
    name="empty-enum",
    family="schema",
    severity="error",
    what="An enum without values.",
    why="No value is valid, so the argument can never be used. Several clients reject such a schema.",
    fix="List the values, or remove the enum.",
    bad=[{"inputSchema": {"type": "object", "properties": {"order": {"type": "string", "enum": []}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"order": {"type": "string", "enum": ["asc", "desc"]}}}}],
    check=check,
)
