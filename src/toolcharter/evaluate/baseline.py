"""The accuracy of an earlier run, saved in a file, so that a change of wording cannot lower it unnoticed."""

import json
from pathlib import Path
from typing import Any

from toolcharter.evaluate.minilm_package import INSTALL_COMMAND
from toolcharter.evaluate.report import EvaluationReport


class InvalidBaseline(Exception):
    """The file cannot be compared with. The message says why."""


MEASURES = {"accuracy": "of the cases", "served": "of the cases that expect a tool"}
"""The metrics in a baseline. `accuracy` also depends on the threshold, `served` on the wording alone."""


def write_baseline(report: EvaluationReport, file: Path) -> None:
    """Save the accuracy of each selector."""
    baseline = {"target": report.server, "cases": report.digest, "parts": _parts(report), **_measures(report)}
    file.write_text(json.dumps(baseline, indent=2) + "\n", encoding="utf-8")


def regressions(report: EvaluationReport, file: Path, points: float) -> list[str]:
    """One sentence for each selector that is worse than the baseline by more than this number of points."""
    baseline, now = _read(file), _measures(report)
    if baseline["cases"] != report.digest:
        raise InvalidBaseline(f"{file} was made with other cases. To replace it, run the same command with --renew.")
    if different := sorted(set(now["accuracy"]) ^ set(baseline["accuracy"])):
        raise InvalidBaseline(f"{file} and this run have different selectors: {', '.join(different)}.")
    if baseline["parts"] != (parts := _parts(report)):
        raise InvalidBaseline(
            f"{file} was made with other parts of hybrid: {baseline['parts']} there, {parts} here. "
            f"To install minilm: {INSTALL_COMMAND}. To replace the baseline, run the same command with --renew."
        )
    return [
        f"{name} selects the right tool in {now[measure][name]:.1%} {cases}, "
        f"{(was - now[measure][name]) * 100:.1f} points less than {was:.1%} in {file}. See the confused tools in the "
        "report and fix their descriptions, or replace the baseline: run the same command with --renew."
        for measure, cases in MEASURES.items()
        for name, was in baseline[measure].items()
        # In hundredths of a point, so that rounding in the last place does not decide.
        if round((was - now[measure][name]) * 10_000) > round(points * 100)
    ]


def _parts(report: EvaluationReport) -> dict[str, str]:
    return {result.selector: ", ".join(result.parts) for result in report.results if result.parts}


def _measures(report: EvaluationReport) -> dict[str, dict[str, float]]:
    metrics = report.metrics()
    return {of: {name: round(getattr(one, of).value, 4) for name, one in metrics.items()} for of in MEASURES}


def _read(file: Path) -> dict[str, Any]:
    try:
        baseline = json.loads(file.read_text(encoding="utf-8"))
        parts = dict(baseline.get("parts", {}))
        return {
            "cases": baseline["cases"],
            "parts": parts,
            **{measure: dict(baseline[measure]) for measure in MEASURES},
        }
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InvalidBaseline(
            f"{file} is not a baseline: {error!r}. To write one, run the same command with --renew."
        ) from None
