from collections.abc import Iterable

from mcp_core.declare.charter import CONSENT_FIELD
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Definition, Problem, Rule


def check(server: Server) -> Iterable[Problem]:
    destructive = [tool for tool in server.tools if tool.hint("destructiveHint") is True]
    requiring = [tool.name for tool in destructive if _requires_consent(tool)]
    for tool in destructive if requiring else ():
        if not _requires_consent(tool):
            yield Problem(
                f"is destructive, but does not require {CONSENT_FIELD} as {requiring[0]} does", "inputSchema", tool.name
            )


def _requires_consent(tool: Tool) -> bool:
    return any(argument.name == CONSENT_FIELD for argument in tool.arguments)


def _example(name: str, *, consent: bool) -> Definition:
    properties = {CONSENT_FIELD: {"const": name.upper(), "description": "States that the user asked for this."}}
    return {
        "name": name,
        "annotations": {"destructiveHint": True},
        "inputSchema": {"type": "object", "properties": properties if consent else {}},
    }


RULE = Rule(
    id="CHA009",
    name="inconsistent-consent",
    family="charter",
    severity="note",
    what="Some destructive tools of a server require explicit_action, and others do not.",
    why="An agent that one tool refuses can use another. A server should require consent everywhere or nowhere.",
    fix="Declare a literal with `confirm` for the others too, or `destructive=False` if nothing is lost.",
    bad=[_example("delete_note", consent=True), _example("delete_folder", consent=False)],
    good=[_example("delete_note", consent=True), _example("delete_folder", consent=True)],
    check_server=check,
)
