from collections.abc import Iterable

from mcp_core.schema.fields import string_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_MAX_REFS = 500
"""A limit, because comparing thousands of references with each other takes long."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    refs = [(node, string_at(node.schema, "$ref")) for node in tool.nodes if "$ref" in node.schema][:_MAX_REFS]
    targets = {ref: "inputSchema" + ref[1:].replace("/", ".") for _, ref in refs if ref.startswith("#")}
    # The references inside each definition.
    inner_refs = {
        ref: {inner for node, inner in refs if inner in targets and (node.path + ".").startswith(place + ".")}
        for ref, place in targets.items()
    }
    for ref in sorted(targets):
        if _reaches(ref, inner_refs):
            yield Problem(f"{short_json(ref)} contains itself", targets[ref])


def _reaches(start: str, inner_refs: dict[str, set[str]]) -> bool:
    seen: set[str] = set()
    stack = list(inner_refs[start])
    while stack:
        ref = stack.pop()
        if ref == start:
            return True
        if ref not in seen:
            seen.add(ref)
            stack += inner_refs[ref]
    return False


_TREE = {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}

RULE = Rule(
    id="SCH011",
    name="recursive-ref",
    family="schema",
    severity="warning",
    what="A definition that contains itself.",
    why="Many clients expand references before they send a tool to a model, and fail or stop at some depth. "
    "Anthropic's strict tool use and Gemini's function declarations do not support recursion.",
    fix="Use a flat list with parent ids, or a fixed depth.",
    bad=[{"inputSchema": {"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": _TREE}}}],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"t": {"$ref": "#/$defs/Tree"}},
                "$defs": {"Tree": {"type": "object", "properties": {"parent": {"type": "string"}}}},
            }
        }
    ],
    check=check,
)
