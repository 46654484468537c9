"""SARIF 2.1.0, which code-scanning pages and editors read. A tool is a logical location."""

import hashlib
import json
from importlib.metadata import version
from typing import Any

from toolcharter.verify.outcome import Outcome
from toolcharter.verify.report.groups import told
from toolcharter.verify.rule import Finding, Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Fields = dict[str, Any]


def render(outcome: Outcome) -> str:
    """One log with one run."""
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(outcome)]}, indent=2) + "\n"


def _run(outcome: Outcome) -> Fields:
    numbers = {rule.id: number for number, rule in enumerate(outcome.rules)}
    results = [_result(finding, outcome, numbers) for finding in outcome.findings]
    for finding, reason in outcome.ignored:
        suppression = {"kind": "external", "status": "accepted", "justification": reason}
        results.append(_result(finding, outcome, numbers) | {"suppressions": [suppression]})
    driver = {
        "name": "toolcharter",
        "semanticVersion": version("toolcharter"),
        "rules": [_rule(rule) for rule in outcome.rules],
    }
    scores = outcome.scores
    properties = {"server": outcome.server.name, "score": scores.score, "grade": scores.grade, "tokens": scores.tokens}
    return {"tool": {"driver": driver}, "results": results, "properties": properties}


def _rule(rule: Rule) -> Fields:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": f"{rule.what} {rule.why}"},
        "help": {"text": f"{rule.why} {rule.fix}", "markdown": f"{rule.why}\n\n**Fix:** {rule.fix}"},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": ["mcp", rule.family]},
    }


def _result(finding: Finding, outcome: Outcome, numbers: dict[str, int]) -> Fields:
    about = f"{finding.tool}: {told(finding)}" if finding.tool else told(finding)
    result: Fields = {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": about},
        "locations": [_location(finding, outcome)],
        "partialFingerprints": {"toolcharter/v1": _fingerprint(finding, outcome.server.name)},
    }
    if finding.rule in numbers:
        result["ruleIndex"] = numbers[finding.rule]
    return result


def _location(finding: Finding, outcome: Outcome) -> Fields:
    server = outcome.server.name or "server"
    parts = [server, *([finding.tool] if finding.tool else []), *([finding.path] if finding.path else [])]
    kind = "member" if finding.path else "function" if finding.tool else "module"
    location: Fields = {
        "logicalLocations": [{"name": parts[-1], "fullyQualifiedName": "/".join(parts), "kind": kind}],
    }
    if outcome.file:
        # A page that shows code wants a line; which one it is, the list of a server does not say.
        location["physicalLocation"] = {"artifactLocation": {"uri": outcome.file}, "region": {"startLine": 1}}
    return location


def _fingerprint(finding: Finding, server: str) -> str:
    """The same for the same fault in the next run, whatever its wording."""
    place = "\0".join((server, finding.rule, finding.tool or "", finding.path))
    return hashlib.sha256(place.encode(errors="backslashreplace")).hexdigest()
