from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp_core.schema.fields import string_at
from mcp_core.schema.references import resolve_pointer
from mcp_core.schema.walk import Node
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    yield from _dangling(tool.nodes, tool.schema)
    yield from _dangling(tool.output_nodes, tool.listed.output_schema or {})


def _dangling(nodes: Sequence[Node], root: Mapping[str, Any]) -> Iterable[Problem]:
    for node in nodes:
        ref = string_at(node.schema, "$ref")
        if not ref.startswith("#") or ref == "#":
            continue
        is_pointer = ref.startswith("#/")
        exists = resolve_pointer(root, ref) is not None if is_pointer else any(_is_anchor(one, ref) for one in nodes)
        if not exists:
            yield Problem(f"{short_json(ref)} has no target", f"{node.path}.$ref")


def _is_anchor(node: Node, ref: str) -> bool:
    return ref[1:] in (node.schema.get("$anchor"), node.schema.get("$dynamicAnchor")) or ref == node.schema.get("$id")


RULE = Rule(
    id="SCH010",
    name="dangling-ref",
    family="schema",
    severity="error",
    what="A `$ref` without a target.",
    why="The type of the argument is unknown, and a client that follows references fails on the whole tool.",
    fix="Add the definition to `$defs`, or write the schema inline.",
    bad=[{"inputSchema": {"type": "object", "properties": {"folder": {"$ref": "#/$defs/Folder"}}}}],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {"$ref": "#/$defs/Folder"}},
                "$defs": {"Folder": {"type": "string"}},
            }
        }
    ],
    check=check,
)
