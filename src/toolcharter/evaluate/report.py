"""A report: the results of all selectors on one server. Written as JSON, and read again to compare with."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.figures import Change, Figures, Share, compare, figures
from toolcharter.evaluate.outcome import Outcome, Result

_FORM = "toolcharter evaluate 1"
_RANKED = 20  # places of a ranking that a report keeps


@dataclass(frozen=True, slots=True)
class Report:
    """`against` is what it is compared with: its name, and its results."""

    target: str
    digest: str
    results: Sequence[Result]
    ranks: Sequence[int] = ()
    against: str | None = None
    earlier: Sequence[Result] = ()
    notes: Sequence[str] = field(default_factory=tuple)

    def figures(self) -> dict[str, Figures]:
        """By selector."""
        return {result.selector: figures(result, self.ranks) for result in self.results}

    def changes(self) -> dict[str, Change]:
        """By selector, where both have it."""
        before = {result.selector: result.outcomes for result in self.earlier}
        return {
            result.selector: compare(before[result.selector], result.outcomes)
            for result in self.results
            if result.selector in before
        }


def to_json(report: Report) -> dict[str, Any]:
    """Everything, for the next program."""
    found = report.figures()
    return {
        "form": _FORM,
        "target": report.target,
        "digest": report.digest,
        "selectors": {result.selector: _result(result, found[result.selector]) for result in report.results},
        "against": report.against,
        "changes": {name: _change(change) for name, change in report.changes().items()},
        "notes": list(report.notes),
    }


def read_earlier(file: Path) -> list[Result] | None:
    """The results of an earlier report; None where the file is something else, such as a tools/list answer."""
    value = json.loads(file.read_text(encoding="utf-8"))
    fields = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    if fields.get("form") != _FORM:
        return None
    selectors: dict[str, Any] = fields["selectors"]
    return [Result(name, [_outcome(entry) for entry in found["answers"]]) for name, found in selectors.items()]


def _outcome(entry: Mapping[str, Any]) -> Outcome:
    case = Case(entry["utterance"], entry["expected"])
    return Outcome(case, entry["chosen"], tuple(entry.get("ranked", ())), entry.get("score"), entry.get("arguments"))


def _result(result: Result, found: Figures) -> dict[str, Any]:
    return {
        "accuracy": _share(found.accuracy),
        "served": _share(found.served),
        "none": _share(found.none),
        "threshold": result.threshold,
        "recall": {str(k): _share(share) for k, share in found.recall.items()},
        "arguments": {"whole": _share(found.whole_arguments), "each": _share(found.arguments)},
        "tools": {one.tool: {"precision": _share(one.precision), "recall": _share(one.recall)} for one in found.tools},
        "confused": [
            {"expected": pair.expected, "chosen": pair.chosen, "utterances": list(pair.utterances)}
            for pair in found.confusions
        ],
        "unanswered": dict(result.unanswered),
        "answers": [_answer(one) for one in result.outcomes],
    }


def _answer(one: Outcome) -> dict[str, Any]:
    fields: dict[str, Any] = {"utterance": one.case.utterance, "expected": one.case.tool, "chosen": one.tool}
    if one.ranked:
        fields |= {"score": round(one.score or 0, 4), "ranked": list(one.ranked[:_RANKED])}
    return fields if one.arguments is None else fields | {"arguments": dict(one.arguments)}


def _share(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {
        "value": round(share.value, 4),
        "interval": [round(low, 4), round(high, 4)],
        "right": share.right,
        "of": share.of,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "before": _share(change.before),
        "after": _share(change.after),
        "mended": list(change.mended),
        "broken": list(change.broken),
        "p": round(change.p, 6),
    }
