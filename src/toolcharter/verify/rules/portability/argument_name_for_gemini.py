import re
from collections.abc import Iterable

from mcp_core.schema.fields import object_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_ALLOWED = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
_ALLOWED_BY_OTHERS = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for name in object_at(tool.schema, "properties"):
        if not _ALLOWED.fullmatch(name) and _ALLOWED_BY_OTHERS.fullmatch(name):
            place = f"inputSchema.properties.{name}"
            yield Problem(f"Gemini rejects the argument name {short_json(name)}", place, clients=("Gemini",))


RULE = Rule(
    id="POR007",
    name="argument-name-for-gemini",
    family="portability",
    severity="note",
    what="An argument name with characters other than letters, digits and underscores, or with a digit first.",
    why="Vertex AI documents for Gemini: parameter names must start with a letter or an underscore and must only "
    "contain a-z, A-Z, 0-9 or underscores, with at most 64 characters.",
    fix="Write the name in snake_case.",
    bad=[{"inputSchema": {"type": "object", "properties": {"start-date": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"start_date": {"type": "string"}}}}],
    check=check,
)
