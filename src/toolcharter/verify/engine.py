"""Runs the rules over a server's tools."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mcp_core.app import App
from mcp_core.declare.listed import ListedTool
from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Definition, Finding, Found, Rule
from toolcharter.verify.subject import Server, Tool

Step = Callable[[str], object]
"""Told the name of each rule before it runs, for a progress bar."""


class RuleFailed(Exception):
    """A rule broke down on what a server lists, so nobody can say what it would have found."""


def verify(server: Server, rules: Iterable[Rule], step: Step = lambda _: None) -> list[Finding]:
    """All findings, by tool in the order of the list, then by rule. Raises RuleFailed."""
    found: list[Finding] = []
    for rule in rules:
        step(rule.name)
        try:
            found += _held_to(rule, server)
        except Exception as error:
            raise RuleFailed(
                f"The rule {rule.id} {rule.name} broke down: {error!r}. It is a fault of the rule."
            ) from error
    return _in_order(found, server)


def verify_live(server: Server, observed: Observed, rules: Iterable[Rule]) -> list[Finding]:
    """The same, of rules about how a server behaves."""
    live = [(rule, rule.check_live) for rule in rules if rule.check_live is not None]
    found = [_finding(rule, one, one.tool) for rule, check in live for one in check(server, observed)]
    return _in_order(found, server)


def _in_order(found: list[Finding], server: Server) -> list[Finding]:
    order = {tool.name: number for number, tool in enumerate(server.tools)}
    return sorted(found, key=lambda finding: (order.get(finding.tool or "", -1), finding.rule, finding.path))


def _held_to(rule: Rule, server: Server) -> Iterator[Finding]:
    if rule.check is not None:
        for tool in server.tools:
            for one in rule.check(tool, server):
                yield _finding(rule, one, tool.name)
    if rule.check_server is not None:
        for one in rule.check_server(server):
            yield _finding(rule, one, one.tool)


def _finding(rule: Rule, found: Found, tool: str | None) -> Finding:
    return Finding(
        rule.id, rule.name, rule.family, rule.severity, tool, found.path, found.message, rule.fix, tuple(found.clients)
    )


def server_of(tools: Sequence[ListedTool], name: str = "", app: App | None = None) -> Server:
    """What rules look at, from what a server lists. With the app in hand, its declarations are looked at too."""
    specs: dict[str, Any] = {}
    if app is not None:
        specs = {final: app.registry.resolve(final) for final in app.registry.final_names().values()}
    read = [Tool(tool, specs.get(tool.name)) for tool in tools]
    return Server(read, name or (app.name if app else ""), app.registry.naming if app else None)


_PLAIN: Definition = {
    "name": "list_notes",
    "title": "List notes",
    "description": (
        "List the notes of a folder. Use this when the user wants to see what they wrote down. "
        "Returns the id and title of each note, at most 100."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {"folder": {"type": "string", "description": "The name of the folder.", "maxLength": 100}},
        "required": ["folder"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
}
"""A tool that no rule has anything to say about; the examples of rules change what they are about."""


def example_server(definitions: Sequence[Definition]) -> Server:
    """The server that the example of a rule stands for: what it does not give is as it should be."""
    return server_of([ListedTool.from_wire({**_PLAIN, **given}) for given in definitions], "example")
