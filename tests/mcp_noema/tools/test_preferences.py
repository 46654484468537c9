"""Preferences: defaults, validation, and one set for each user."""

import pytest

from tests.mcp_noema.learner import Learner

DEFAULTS = {
    "timezone": "UTC",
    "dayStartHour": 4,
    "sessionMinutes": 20,
    "focus": "balanced",
    "newCards": "after-reviews",
}


async def test_an_unset_preference_has_a_default(ana: Learner):
    assert await ana("get-preferences") == {"userId": None, "preferences": DEFAULTS}


async def test_a_preference_is_remembered_for_its_user_alone(ana: Learner, bob: Learner):
    changed = await ana("set-preference", name="timezone", value="Europe/Paris")
    assert changed == {"userId": "user_1", "preferences": DEFAULTS | {"timezone": "Europe/Paris"}}
    await ana("set-preference", name="sessionMinutes", value=5)
    assert (await ana("get-preferences"))["preferences"] == DEFAULTS | {"timezone": "Europe/Paris", "sessionMinutes": 5}
    assert (await bob("get-preferences"))["preferences"] == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("timezone", "Paris", "the name of a time zone, such as Europe/Paris"),
        ("timezone", "../etc/passwd", "the name of a time zone"),
        ("dayStartHour", 24, "an hour from 0 to 23"),
        ("dayStartHour", "4", "an hour from 0 to 23"),
        ("sessionMinutes", 0, "minutes from 1 to 600"),
        ("focus", "speed", "one of retention, new-material, balanced"),
        ("newCards", 1, "one of after-reviews, before-reviews, mixed"),
    ],
)
async def test_the_error_for_an_invalid_value_names_the_valid_ones(ana: Learner, name, value, wanted):
    error, message = await ana.fails("set-preference", name=name, value=value)
    assert error == "ValidationError"
    assert wanted in message
    assert (await ana("get-preferences"))["preferences"] == DEFAULTS
