from collections.abc import Iterable

from mcp_core.schema.fields import string_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        ref = string_at(node.schema, "$ref")
        if ref and not ref.startswith("#"):
            yield Problem(f"refers to {short_json(ref)}, outside the schema", f"{node.path}.$ref")


RULE = Rule(
    id="SCH009",
    name="remote-ref",
    family="schema",
    severity="error",
    what="A `$ref` to an external schema.",
    why="A client would have to fetch it. Few clients do and none should, because the schema can change after the "
    "tool was reviewed.",
    fix="Copy the schema into `$defs`, and refer to it there.",
    bad=[{"inputSchema": {"type": "object", "properties": {"folder": {"$ref": "https://example.com/folder.json"}}}}],
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
