"""Dates and durations as people write them in Jira: `2026-11-17`, `today`, `+3d`, `2h 30m`."""

import re
from datetime import UTC, date, datetime, timedelta

from toolcharter import InvalidArguments

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[wdhm]\s*)+", re.IGNORECASE)
_RELATIVE = re.compile(r"([+-])(\d{1,4})([dwm])", re.IGNORECASE)
_DAYS = {"d": 1, "w": 7}
_WORDS = {"today": 0, "tomorrow": 1, "yesterday": -1}
MONTHS = 12


def duration(text: str) -> str:
    """A duration that Jira takes, such as `2h 30m`. Plain minutes are written `30m`."""
    wanted = " ".join(re.findall(r"(?<!\d)\d++(?:\.\d++)?[wdhm]", text, re.IGNORECASE)).lower()
    if not _DURATION.fullmatch(text.strip()) or not wanted:
        raise InvalidArguments(f"{text!r} is not a duration. Write it as Jira does: 30m, 2h 30m, 1d, 1w 2d.")
    return wanted


def day(text: str, today: date) -> str:
    """A day as the site takes it: 2026-11-17. `today`, `tomorrow` and `+3d`, `-2w`, `+1m` are counted from today."""
    wanted = text.strip().lower()
    if wanted in _WORDS:
        return (today + timedelta(days=_WORDS[wanted])).isoformat()
    if relative := _RELATIVE.fullmatch(wanted):
        amount = int(relative[2]) * (1 if relative[1] == "+" else -1)
        if relative[3] == "m":
            return _add_months(today, amount).isoformat()
        return (today + timedelta(days=amount * _DAYS[relative[3]])).isoformat()
    try:
        return date.fromisoformat(wanted[:10]).isoformat()
    except ValueError as error:
        raise InvalidArguments(
            f"{text!r} is not a date. Write 2026-11-17, today, tomorrow, or relative to today: +3d, -2w, +1m."
        ) from error


def moment(text: str, now: datetime) -> str:
    """A time as Jira takes it: 2026-11-17T09:30:00.000+0000. A day without a time begins at 09:00 UTC."""
    try:
        wanted = datetime.fromisoformat(text.strip())
    except ValueError:
        wanted = datetime.fromisoformat(day(text, now.date()))
    if len(text.strip()) <= len("2026-11-17"):
        wanted = wanted.replace(hour=9)
    aware = wanted if wanted.tzinfo else wanted.replace(tzinfo=UTC)
    return aware.strftime("%Y-%m-%dT%H:%M:%S.000%z")


def _add_months(start: date, months: int) -> date:
    """The same day of another month, or its last day."""
    year, month = divmod(start.year * MONTHS + start.month - 1 + months, MONTHS)
    for last in (start.day, 30, 29, 28):
        try:
            return date(year, month + 1, min(start.day, last))
        except ValueError:
            continue
    raise InvalidArguments(f"{months} months from {start} is not a date.")
