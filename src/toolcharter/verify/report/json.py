"""Everything, for programs."""

import json
from typing import Any

from toolcharter.verify.outcome import Outcome
from toolcharter.verify.quality import MOST
from toolcharter.verify.rule import Finding
from toolcharter.verify.score import ToolScore, grade_of


def render(outcome: Outcome) -> str:
    """One JSON object, in ASCII: half a surrogate pair in a name must not keep it from being written."""
    return json.dumps(report(outcome), indent=2) + "\n"


def report(outcome: Outcome) -> dict[str, Any]:
    """The same as data."""
    scores = outcome.scores
    return {
        "server": outcome.server.name,
        "score": scores.score,
        "grade": scores.grade,
        "tokens": scores.tokens,
        "quality": scores.quality,
        "qualityMaximum": MOST,
        "counts": outcome.counts,
        "failsOn": outcome.fails_on,
        "failures": len(outcome.failures),
        "findings": [_finding(finding) for finding in outcome.findings],
        "ignored": [{**_finding(one.finding), "reason": one.reason} for one in outcome.ignored],
        "unusedIgnores": list(outcome.unused),
        "tools": [_tool(one) for one in scores.tools],
        "rules": [rule.id for rule in outcome.rules],
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
        "quality": one.quality,
    }
