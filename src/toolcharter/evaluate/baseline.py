"""What accuracy was when somebody last looked, kept in a file, so that a change of wording cannot lower it unseen."""

import json
from pathlib import Path
from typing import Any

from toolcharter.evaluate.report import Report


class BadBaseline(Exception):
    """The file cannot be compared with."""


MEASURES = {"accuracy": "of the cases", "served": "of the cases that a tool serves"}
"""What is kept of each selector. The first depends on the threshold for none as well, the second on wording alone."""


def write_baseline(report: Report, file: Path) -> None:
    """Keep the accuracy of each selector."""
    kept = {"target": report.target, "cases": report.digest, **_measured(report)}
    file.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def worse_than(report: Report, file: Path, points: float) -> list[str]:
    """One sentence for each selector that has become worse by more than so many points."""
    kept, now = _read(file), _measured(report)
    if kept["cases"] != report.digest:
        raise BadBaseline(f"{file} was made with other cases. Renew it deliberately: the same command with --renew.")
    if missing := sorted(set(now["accuracy"]) ^ set(kept["accuracy"])):
        raise BadBaseline(f"{file} and this run have not the same selectors: {', '.join(missing)} is in one only.")
    return [
        f"{name} selects the right tool in {now[measure][name]:.1%} {words}, "
        f"{(was - now[measure][name]) * 100:.1f} points worse than {was:.1%} in {file}. Look at the confused pairs in "
        "the report and mend the descriptions, or renew the baseline deliberately: the same command with --renew."
        for measure, words in MEASURES.items()
        for name, was in kept[measure].items()
        # In hundredths of a point, so that a rounding in the last place decides nothing.
        if round((was - now[measure][name]) * 10_000) > round(points * 100)
    ]


def _measured(report: Report) -> dict[str, dict[str, float]]:
    figures = report.figures()
    return {of: {name: round(getattr(found, of).value, 4) for name, found in figures.items()} for of in MEASURES}


def _read(file: Path) -> dict[str, Any]:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return {"cases": kept["cases"], **{measure: dict(kept[measure]) for measure in MEASURES}}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadBaseline(f"{file} is no baseline: {error!r}. Make one: the same command with --renew.") from None
