from datetime import UTC, date, datetime

import pytest

from mcp_atl.resolve.dates import day, duration, moment
from toolcharter import InvalidArguments

TODAY = date(2026, 1, 31)
NOW = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)

DAYS = {
    "2026-11-17": "2026-11-17",
    "2026-11-17T09:00:00Z": "2026-11-17",
    "today": "2026-01-31",
    "Tomorrow": "2026-02-01",
    "+3d": "2026-02-03",
    "-2w": "2026-01-17",
    "+1m": "2026-02-28",
    "-12m": "2025-01-31",
}


@pytest.mark.parametrize(("text", "expected"), DAYS.items())
def test_days(text: str, expected: str):
    assert day(text, TODAY) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("30m", "30m"), ("2h 30m", "2h 30m"), ("1w2d", "1w 2d"), ("1.5H", "1.5h")]
)
def test_durations(text: str, expected: str):
    assert duration(text) == expected


@pytest.mark.parametrize("text", ["", "2", "two hours", "2h ago", "-1h"])
def test_a_duration_that_jira_would_not_take_is_refused(text: str):
    with pytest.raises(InvalidArguments, match="is not a duration"):
        duration(text)


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "+3y"])
def test_a_text_that_is_not_a_day_is_refused(text: str):
    with pytest.raises(InvalidArguments, match="is not a date"):
        day(text, TODAY)


def test_a_moment_has_the_form_that_jira_takes():
    assert moment("2026-11-17T09:30:00+01:00", NOW) == "2026-11-17T09:30:00.000+0100"
    assert moment("2026-11-17", NOW) == "2026-11-17T09:00:00.000+0000"
    assert moment("today", NOW) == "2026-01-31T09:00:00.000+0000"
