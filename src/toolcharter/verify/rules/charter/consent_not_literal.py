from collections.abc import Iterable
from typing import Any, cast

from mcp_core.declare.charter import CONSENT_FIELD, CONSENT_HEADING
from mcp_core.schema.fields import Schema
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Definition, Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for argument in tool.arguments:
        if argument.name == CONSENT_FIELD:
            if not _is_literal(argument.schema):
                yield Problem("accepts more than one value, so it states nothing", argument.path)
            if not argument.required or "default" in argument.schema:
                yield Problem("is optional, so an agent need not state it", argument.path)
            if CONSENT_HEADING not in tool.listed.description:
                yield Problem(f"is not explained: the description has no {CONSENT_HEADING!r}", "description")


def _is_literal(schema: Schema) -> bool:
    options = schema.get("enum")
    return isinstance(schema.get("const"), str) or (isinstance(options, list) and len(cast(list[Any], options)) == 1)


def _example(*, required: bool) -> list[Definition]:
    field = {"const": "DELETE_NOTE", "description": "States that the user asked for this."}
    required_fields = [CONSENT_FIELD] if required else []
    return [
        {
            "name": "delete_note",
            "description": f"Delete a note. {CONSENT_HEADING}: set {CONSENT_FIELD} to 'DELETE_NOTE'.",
            "inputSchema": {"type": "object", "properties": {CONSENT_FIELD: field}, "required": required_fields},
        }
    ]


RULE = Rule(
    id="CHA008",
    name="consent-not-literal",
    family="charter",
    severity="error",
    what="A tool has explicit_action, but not as a required literal, or does not explain it.",
    why="Consent with a default, or that accepts any text, protects nothing.",
    fix="Declare `confirm=Confirm('DELETE_NOTE')`. The required literal and its explanation are generated.",
    bad=_example(required=False),
    good=_example(required=True),
    check=check,
)
