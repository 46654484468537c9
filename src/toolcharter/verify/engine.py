"""Runs rules on the tools of a server."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from mcp_core.declare.listed import ListedTool
from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import OtherText, Server, Tool
from toolcharter.verify.rule import Definition, Finding, Problem, Rule

OnStep = Callable[[str], object]
"""Called with the name of each rule or tool before its turn, for a progress bar."""


class RuleFailed(Exception):
    """A rule raised an exception, so its findings are not known."""


def run_rules(server: Server, rules: Iterable[Rule], on_step: OnStep = lambda _: None) -> list[Finding]:
    """All findings, by tool in the order of the list, then by rule. Raises RuleFailed."""
    chosen = list(rules)
    findings: list[Finding] = []
    for rule in chosen:
        on_step(rule.name)
        try:
            findings += _run(rule, server)
        except Exception as error:
            raise RuleFailed(
                f"The rule {rule.id} {rule.name} failed: {error!r}. This is a bug in the rule, not in the server."
            ) from error
    return _sort(_without_repeats(findings, chosen), server)


def run_live_rules(server: Server, observations: Observations, rules: Iterable[Rule]) -> list[Finding]:
    """The findings of live rules, in the same order."""
    checks = [(rule, rule.check_live) for rule in rules if rule.check_live is not None]
    findings = [
        _finding(rule, problem, problem.tool) for rule, check in checks for problem in check(server, observations)
    ]
    return _sort(findings, server)


def _without_repeats(findings: Sequence[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """The findings without those that another one supersedes: one cause, one finding."""
    supersedes = {rule.id: rule.supersedes for rule in rules if rule.supersedes}
    repeats = {(finding.tool, finding.path, rule) for finding in findings for rule in supersedes.get(finding.rule, ())}
    return [finding for finding in findings if (finding.tool, finding.path, finding.rule) not in repeats]


def _sort(findings: list[Finding], server: Server) -> list[Finding]:
    order = {tool.name: number for number, tool in enumerate(server.tools)}
    return sorted(findings, key=lambda finding: (order.get(finding.tool or "", -1), finding.rule, finding.path))


def _run(rule: Rule, server: Server) -> Iterator[Finding]:
    if rule.check is not None:
        for tool in server.tools:
            for problem in rule.check(tool, server):
                yield _finding(rule, problem, tool.name)
        # Warnings are about the manners of tools: instructions may well say which tool to call first.
        for other in server.others if rule.family == "security" and rule.severity == "error" else ():
            for problem in rule.check(other.tool, server):
                message, path = f"{other.label} {problem.message}", f"{other.path}.{problem.path}"
                yield _finding(rule, problem._replace(message=message, path=path), None)
        for other in (one for one in server.others if one.is_prompt) if rule.checks_prompts else ():
            for problem in rule.check(other.tool, server):
                message, path = f"{other.label}: {problem.message}", f"{other.path}.{problem.path}"
                yield _finding(rule, problem._replace(message=message, path=path), None)
    if rule.check_server is not None:
        for problem in rule.check_server(server):
            yield _finding(rule, problem, problem.tool)


def _finding(rule: Rule, problem: Problem, tool: str | None) -> Finding:
    return Finding(
        rule.id,
        rule.name,
        rule.family,
        rule.severity,
        tool,
        problem.path,
        problem.message,
        rule.fix,
        tuple(problem.clients),
    )


def server_from_tools(tools: Sequence[ListedTool], name: str = "", others: Sequence[OtherText] = ()) -> Server:
    """The server that rules check, from its list of tools."""
    return Server([Tool(tool) for tool in tools], name, others=others)


_FAULTLESS: Definition = {
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
"""A tool without findings. The examples of a rule replace the fields that the rule is about."""


def example_server(definitions: Sequence[Definition]) -> Server:
    """A server with the tools of an example. Fields that the example leaves out are without findings."""
    return server_from_tools(
        [ListedTool.from_wire({**_FAULTLESS, **definition}) for definition in definitions], "example"
    )
