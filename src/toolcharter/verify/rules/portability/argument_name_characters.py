import re
from collections.abc import Iterable

from mcp_core.schema.fields import object_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_ALLOWED = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for name in object_at(tool.schema, "properties"):
        if not _ALLOWED.fullmatch(name):
            place = f"inputSchema.properties.{name}"
            yield Problem(f"the argument name {short_json(name)} is not allowed", place, clients=("Claude", "Gemini"))


RULE = Rule(
    id="POR006",
    name="argument-name-characters",
    family="portability",
    severity="error",
    what="An argument name with characters other than letters, digits, _, . and -, or with more than 64 characters.",
    why="The Anthropic API, also through Bedrock, rejects the request with all tools: "
    "\"Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'\". Only names at the top level are checked. "
    "Gemini on Vertex AI allows even less.",
    fix="Rename the argument, and map it to the external name inside the tool.",
    bad=[{"inputSchema": {"type": "object", "properties": {"tags[]": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"tags": {"type": "string"}}}}],
    check=check,
)
