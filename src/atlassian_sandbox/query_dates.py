"""Dates in JQL and CQL: absolute ("2026-11-17 12:30"), relative ("-1w 2d") and functions (startOfWeek(-1))."""

import re
from datetime import UTC, datetime, timedelta

from atlassian_sandbox.query_language import Function, Operand

_RELATIVE = re.compile(r"\s*([+-]?)((?:\d+[yMwdhm]\s*)+)$")
_PART = re.compile(r"(?<!\d)(\d+)([yMwdhm])")
_SIZES = {"w": timedelta(weeks=1), "d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}
_UNIT_OF = {"day": "d", "week": "w", "month": "M", "year": "y"}
_FORMATS = ("%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M", "%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M")


def parse_date(operand: Operand, now: datetime) -> datetime | None:
    """The moment that the operand names, or None if it is not a date."""
    if isinstance(operand, Function):
        return _function(operand, now)
    text = operand.text
    relative = _RELATIVE.match(text)
    if relative:
        return _shift(now, text)
    for pattern in _FORMATS:
        try:
            return datetime.strptime(text, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    if re.fullmatch(r"\d{12,}", text):
        return datetime.fromtimestamp(int(text) / 1000, UTC)
    return None


def _shift(moment: datetime, text: str, default_unit: str = "d") -> datetime:
    sign = -1 if text.strip().startswith("-") else 1
    plain = text.strip().lstrip("+-").strip().strip('"')
    if plain.isdigit():
        plain += default_unit
    for count, unit in _PART.findall(plain):
        moment = _add(moment, sign * int(count), unit)
    return moment


def _add(moment: datetime, count: int, unit: str) -> datetime:
    if unit in _SIZES:
        return moment + count * _SIZES[unit]
    months = moment.year * 12 + moment.month - 1 + count * (12 if unit == "y" else 1)
    return moment.replace(year=months // 12, month=months % 12 + 1, day=min(moment.day, 28))


def _function(function: Function, now: datetime) -> datetime | None:
    name = function.name.lower()
    if name in ("now", "currentlogin", "lastlogin"):
        return now
    match = re.fullmatch(r"(start|end)of(day|week|month|year)", name)
    if match is None:
        return None
    edge, period = match.groups()
    moment = _shift(now, function.arguments[0], _UNIT_OF[period]) if function.arguments else now
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "week":
        start -= timedelta(days=(start.weekday() + 1) % 7)  # a week begins on Sunday
    elif period == "month":
        start = start.replace(day=1)
    elif period == "year":
        start = start.replace(month=1, day=1)
    if edge == "start":
        return start
    return _add(start, 1, _UNIT_OF[period]) - timedelta(milliseconds=1)


def is_whole_day(operand: Operand) -> bool:
    """Whether the operand names a day without a time."""
    return not isinstance(operand, Function) and re.fullmatch(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}", operand.text) is not None
