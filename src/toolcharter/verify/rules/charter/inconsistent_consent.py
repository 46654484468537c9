from collections.abc import Iterable

from mcp_core.declare.schema import CONSENT_FIELD
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Definition, Problem, Rule


def check(server: Server) -> Iterable[Problem]:
    destructive = [tool for tool in server.tools if tool.hint("destructiveHint") is True]
    asking = [tool.name for tool in destructive if _asks(tool)]
    for tool in destructive if asking else ():
        if not _asks(tool):
            yield Problem(f"destroys without {CONSENT_FIELD}, while {asking[0]} demands it", "inputSchema", tool.name)


def _asks(tool: Tool) -> bool:
    return any(argument.name == CONSENT_FIELD for argument in tool.arguments)


def _example(name: str, *, asks: bool) -> Definition:
    properties = {CONSENT_FIELD: {"const": name.upper(), "description": "States that the user asked for this."}}
    return {
        "name": name,
        "annotations": {"destructiveHint": True},
        "inputSchema": {"type": "object", "properties": properties if asks else {}},
    }


RULE = Rule(
    id="CHA009",
    name="inconsistent-consent",
    family="charter",
    severity="note",
    what="Some destructive tools of a server demand explicit_action, and others do not.",
    why="An agent that was stopped at one tool takes the other. A server that asks for consent asks everywhere.",
    fix="Declare `consent` for the others too, or `destructive=False` where nothing is lost.",
    bad=[_example("delete_note", asks=True), _example("delete_folder", asks=False)],
    good=[_example("delete_note", asks=True), _example("delete_folder", asks=True)],
    check_server=check,
)
