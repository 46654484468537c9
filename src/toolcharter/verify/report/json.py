"""The report as JSON: everything, for programs."""

import json
from typing import Any

from toolcharter.verify.result import VerifyResult
from toolcharter.verify.rule import Finding
from toolcharter.verify.score import ToolScore, grade_of


def render(result: VerifyResult) -> str:
    """One JSON object, in ASCII, so that a lone surrogate in a name can be written."""
    return json.dumps(to_json(result), indent=2) + "\n"


def to_json(result: VerifyResult) -> dict[str, Any]:
    """The report as data."""
    scores = result.scores
    return {
        "server": result.server.name,
        "score": scores.score,
        "grade": scores.grade,
        "tokens": scores.tokens,
        "counts": result.counts,
        "notes": list(result.notes),
        "failsOn": result.fails_on,
        "failures": len(result.failures),
        "findings": [_finding(finding) for finding in result.findings],
        "ignored": [{**_finding(one.finding), "reason": one.reason} for one in result.ignored],
        "unusedIgnores": list(result.unused_ignores),
        "tools": [_tool(one) for one in scores.tools],
        "rules": [rule.id for rule in result.rules],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    fields = finding._asdict()
    return {key: value for key, value in fields.items() if value not in (None, "", ())}


def _tool(one: ToolScore) -> dict[str, Any]:
    return {
        "name": one.tool.name,
        "score": one.score,
        "grade": grade_of(one.score),
        "tokens": one.tool.tokens,
    }
