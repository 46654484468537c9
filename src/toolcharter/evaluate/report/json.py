"""The report as JSON, which can be read again to compare with."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.metrics import AccuracyChange, Proportion, SelectorMetrics
from toolcharter.evaluate.report import EvaluationReport
from toolcharter.evaluate.result import CaseResult, SelectorResult

_FORM = "toolcharter evaluate 1"
_MAX_RANKED = 20  # places of a ranking that a report has


def render(report: EvaluationReport) -> str:
    """The whole report."""
    return json.dumps(to_json(report), indent=2, ensure_ascii=False) + "\n"


def to_json(report: EvaluationReport) -> dict[str, Any]:
    """The whole report as data."""
    metrics = report.metrics()
    return {
        "form": _FORM,
        "target": report.server,
        "digest": report.digest,
        "selectors": {result.selector: _result(result, metrics[result.selector]) for result in report.results},
        "against": report.against,
        "changes": {name: _change(change) for name, change in report.changes().items()},
        "notes": list(report.notes),
    }


def read_results(file: Path) -> list[SelectorResult] | None:
    """The results in an earlier report; None if the file is something else, such as a tools/list result."""
    value = json.loads(file.read_text(encoding="utf-8"))
    fields = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    if fields.get("form") != _FORM:
        return None
    selectors: dict[str, Any] = fields["selectors"]
    return [
        SelectorResult(name, [_read_case(entry) for entry in result["answers"]]) for name, result in selectors.items()
    ]


def _read_case(entry: Mapping[str, Any]) -> CaseResult:
    case = Case(entry["utterance"], entry["expected"])
    return CaseResult(case, entry["chosen"], tuple(entry.get("ranked", ())), entry.get("score"), entry.get("arguments"))


def _result(result: SelectorResult, metrics: SelectorMetrics) -> dict[str, Any]:
    tools = {one.tool: {"precision": _share(one.precision), "recall": _share(one.recall)} for one in metrics.tools}
    return {
        "accuracy": _share(metrics.accuracy),
        "served": _share(metrics.served),
        "none": _share(metrics.none),
        "threshold": result.threshold,
        "parts": list(result.parts),
        "recall": {str(k): _share(share) for k, share in metrics.recall.items()},
        "arguments": {"whole": _share(metrics.all_arguments), "each": _share(metrics.arguments)},
        "tools": tools,
        "confused": [
            {"expected": pair.expected, "chosen": pair.chosen, "utterances": list(pair.utterances)}
            for pair in metrics.confusions
        ],
        "unanswered": dict(result.unanswered),
        "answers": [_case(one) for one in result.cases],
    }


def _case(one: CaseResult) -> dict[str, Any]:
    fields: dict[str, Any] = {"utterance": one.case.utterance, "expected": one.case.tool, "chosen": one.tool}
    if one.ranked:
        fields |= {"score": round(one.score or 0, 4), "ranked": list(one.ranked[:_MAX_RANKED])}
    return fields if one.arguments is None else fields | {"arguments": dict(one.arguments)}


def _share(share: Proportion) -> dict[str, Any]:
    low, high = share.interval
    return {
        "value": round(share.value, 4),
        "interval": [round(low, 4), round(high, 4)],
        "right": share.right,
        "of": share.of,
    }


def _change(change: AccuracyChange) -> dict[str, Any]:
    return {
        "before": _share(change.before),
        "after": _share(change.after),
        "fixed": list(change.fixed),
        "broken": list(change.broken),
        "p": round(change.p, 6),
    }
