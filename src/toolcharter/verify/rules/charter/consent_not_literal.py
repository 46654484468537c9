from collections.abc import Iterable
from typing import Any, cast

from mcp_core.declare.describe import CONSENT_HEADING
from mcp_core.declare.schema import CONSENT_FIELD
from toolcharter.verify.model import Schema, Server, Tool
from toolcharter.verify.rule import Definition, Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for argument in tool.arguments:
        if argument.name == CONSENT_FIELD:
            if not _is_literal(argument.schema):
                yield Problem("takes more than one value, so nothing is stated by it", argument.path)
            if not argument.required or "default" in argument.schema:
                yield Problem("may be left out, so nobody has to state it", argument.path)
            if CONSENT_HEADING not in tool.listed.description:
                yield Problem(f"is not explained: the description lacks {CONSENT_HEADING!r}", "description")


def _is_literal(schema: Schema) -> bool:
    options = schema.get("enum")
    return isinstance(schema.get("const"), str) or (isinstance(options, list) and len(cast(list[Any], options)) == 1)


def _example(*, required: bool) -> list[Definition]:
    field = {"const": "DELETE_NOTE", "description": "States that the user asked for this."}
    needed = [CONSENT_FIELD] if required else []
    return [
        {
            "name": "delete_note",
            "description": f"Delete a note. {CONSENT_HEADING}: set {CONSENT_FIELD} to 'DELETE_NOTE'.",
            "inputSchema": {"type": "object", "properties": {CONSENT_FIELD: field}, "required": needed},
        }
    ]


RULE = Rule(
    id="CHA008",
    name="consent-not-literal",
    family="charter",
    severity="error",
    what="A tool has explicit_action, but not as one literal that must be stated, or does not explain it.",
    why="Consent that has a default, or takes any text, is given without a thought, and refuses nobody.",
    fix="Declare `consent='DELETE_NOTE'`: the required literal and its explanation are generated.",
    bad=_example(required=False),
    good=_example(required=True),
    check=check,
)
