"""What accuracy was when somebody last looked, kept in a file, so that a change of wording cannot lower it unseen."""

import json
from pathlib import Path
from typing import Any

from mcp_core.evaluate.report import Report


class BadBaseline(Exception):
    """The file cannot be compared with."""


def write_baseline(report: Report, file: Path) -> None:
    """Keep the accuracy of each selector."""
    accuracy = {name: round(found.accuracy.value, 4) for name, found in report.figures().items()}
    kept = {"target": report.target, "cases": report.digest, "accuracy": accuracy}
    file.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def worse_than(report: Report, file: Path, points: float) -> list[str]:
    """One sentence for each selector that has become worse by more than so many points."""
    kept = _read(file)
    if kept["cases"] != report.digest:
        raise BadBaseline(f"{file} was made with other cases. Renew it deliberately: the same command with --renew.")
    found = {name: figures.accuracy.value for name, figures in report.figures().items()}
    if missing := sorted(set(found) ^ set(kept["accuracy"])):
        raise BadBaseline(f"{file} and this run have not the same selectors: {', '.join(missing)} is in one only.")
    return [
        f"{name} selects the right tool in {found[name]:.1%} of the cases, {(was - found[name]) * 100:.1f} points "
        f"worse than {was:.1%} in {file}. Look at the confused pairs in the report and mend the descriptions, or renew "
        "the baseline deliberately: the same command with --renew."
        for name, was in kept["accuracy"].items()
        # In hundredths of a point, so that a rounding in the last place decides nothing.
        if round((was - found[name]) * 10_000) > round(points * 100)
    ]


def _read(file: Path) -> dict[str, Any]:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return {"cases": kept["cases"], "accuracy": dict(kept["accuracy"])}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadBaseline(f"{file} is no baseline: {error!r}. Make one: the same command with --renew.") from None
