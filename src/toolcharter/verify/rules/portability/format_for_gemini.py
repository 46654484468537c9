from collections.abc import Iterable

from mcp_core.schema.fields import string_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_SUPPORTED = {
    "string": {"enum", "date-time"},
    "number": {"float", "double"},
    "integer": {"int32", "int64"},
}


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        form = string_at(node.schema, "format")
        if form and form not in _SUPPORTED.get(string_at(node.schema, "type"), ()):
            yield Problem(f"the format {short_json(form)} is not supported", f"{node.path}.format", clients=("Gemini",))


RULE = Rule(
    id="POR010",
    name="format-for-gemini",
    family="portability",
    severity="warning",
    what="A format that Gemini does not support.",
    why="Gemini's function declarations reject all others: \"only 'enum' and 'date-time' are supported for STRING "
    'type" (google-gemini/gemini-cli issue 3178). Other models use formats, so this rule is optional.',
    fix="Describe the format in the description.",
    bad=[{"inputSchema": {"type": "object", "properties": {"link": {"type": "string", "format": "uri"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"due": {"type": "string", "format": "date-time"}}}}],
    check=check,
    optional=True,
)
