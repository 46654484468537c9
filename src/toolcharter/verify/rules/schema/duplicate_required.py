from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        if "required" not in node.schema:
            continue
        names = [name for name in list_at(node.schema, "required") if isinstance(name, str)]
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            yield Problem(f"`required` contains more than once: {', '.join(twice)[:80]}", f"{node.path}.required")


RULE = Rule(
    id="SCH008",
    name="duplicate-required",
    family="schema",
    severity="error",
    what="A name that is in `required` twice.",
    why="JSON Schema requires unique names, so clients that validate schemas reject the tool.",
    fix="List each name once.",
    bad=[{"inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path", "path"]}}],
    good=[{"inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}],
    check=check,
)
