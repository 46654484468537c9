from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_UNSUPPORTED = {
    "oneOf": ("Claude", "OpenAI"),
    "anyOf": ("Claude", "OpenAI"),
    "allOf": ("Claude", "OpenAI"),
    "not": ("OpenAI",),
    "enum": ("OpenAI",),
}


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for word, clients in _UNSUPPORTED.items():
        if word in tool.schema:
            yield Problem(f"inputSchema has `{word}` at the top level", f"inputSchema.{word}", clients=clients)


RULE = Rule(
    id="POR004",
    name="top-level-choice",
    family="portability",
    severity="error",
    what="A choice at the top level of the input schema: `oneOf`, `anyOf`, `allOf`, `not` or `enum`.",
    why='The Anthropic API rejects the request ("input_schema does not support oneOf, allOf, or anyOf at the top '
    "level\", anthropics/claude-code issue 5973), and so does OpenAI (\"schema must have type 'object' and not have "
    "'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level\"). All other tools are rejected with it.",
    fix="List all properties at the top level, check the combination inside the tool, and describe it. "
    "Or make two tools.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "path": {"type": "string"}},
                "oneOf": [{"required": ["id"]}, {"required": ["path"]}],
            }
        }
    ],
    good=[{"inputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "path": {"type": "string"}}}}],
    check=check,
)
