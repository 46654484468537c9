"""The report as SARIF 2.1.0, for code scanning and editors. A tool is a logical location."""

import hashlib
import json
from importlib.metadata import version
from typing import Any

from toolcharter.verify.report.groups import message_of
from toolcharter.verify.result import VerifyResult
from toolcharter.verify.rule import Finding, Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

JsonObject = dict[str, Any]


def render(result: VerifyResult) -> str:
    """One log with one run."""
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(result)]}, indent=2) + "\n"


def _run(result: VerifyResult) -> JsonObject:
    numbers = {rule.id: number for number, rule in enumerate(result.rules)}
    results = [_result(finding, result, numbers) for finding in result.findings]
    for finding, reason in result.ignored:
        suppression = {"kind": "external", "status": "accepted", "justification": reason}
        results.append(_result(finding, result, numbers) | {"suppressions": [suppression]})
    driver = {
        "name": "toolcharter",
        "semanticVersion": version("toolcharter"),
        "rules": [_rule(rule) for rule in result.rules],
    }
    scores = result.scores
    properties = {"server": result.server.name, "score": scores.score, "grade": scores.grade, "tokens": scores.tokens}
    return {"tool": {"driver": driver}, "results": results, "properties": properties}


def _rule(rule: Rule) -> JsonObject:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": f"{rule.what} {rule.why}"},
        "help": {"text": f"{rule.why} {rule.fix}", "markdown": f"{rule.why}\n\n**Fix:** {rule.fix}"},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": ["mcp", rule.family]},
    }


def _result(finding: Finding, result: VerifyResult, numbers: dict[str, int]) -> JsonObject:
    message = f"{finding.tool}: {message_of(finding)}" if finding.tool else message_of(finding)
    entry: JsonObject = {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": message},
        "locations": [_location(finding, result)],
        "partialFingerprints": {"toolcharter/v1": _fingerprint(finding, result.server.name)},
    }
    if finding.rule in numbers:
        entry["ruleIndex"] = numbers[finding.rule]
    return entry


def _location(finding: Finding, result: VerifyResult) -> JsonObject:
    server = result.server.name or "server"
    parts = [server, *([finding.tool] if finding.tool else []), *([finding.path] if finding.path else [])]
    kind = "member" if finding.path else "function" if finding.tool else "module"
    location: JsonObject = {
        "logicalLocations": [{"name": parts[-1], "fullyQualifiedName": "/".join(parts), "kind": kind}],
    }
    if result.file:
        # Code scanning requires a line, but a list of tools has no line numbers.
        location["physicalLocation"] = {"artifactLocation": {"uri": result.file}, "region": {"startLine": 1}}
    return location


def _fingerprint(finding: Finding, server: str) -> str:
    """Identifies a finding in later runs, even if its wording changes."""
    place = "\0".join((server, finding.rule, finding.tool or "", finding.path))
    return hashlib.sha256(place.encode(errors="backslashreplace")).hexdigest()
