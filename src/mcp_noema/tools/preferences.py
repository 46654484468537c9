"""Preferences: how a person likes to learn. Hints take them into account."""

from dataclasses import asdict
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import Field
from pydantic.alias_generators import to_camel, to_snake

from mcp_noema.model import ClockAndRandom, Preferences
from mcp_noema.records import Owner
from mcp_noema.store import Store
from mcp_noema.tools.vocabulary import Arguments, JsonResult, owner, reads, sets
from toolcharter import Example, InvalidArguments, ToolContext, hints
from toolcharter.arguments import UserId

_MIN_MINUTES, _MAX_MINUTES = 1, 600

_FOCUS = ("retention", "new-material", "balanced")
_NEW_CARDS = ("after-reviews", "before-reviews", "mixed")


def _json(user: Owner) -> dict[str, Any]:
    preferences = {to_camel(name): value for name, value in asdict(user.preferences).items()}
    return {"userId": UserId(f"user_{user.id}") if user.id else None, "preferences": preferences}


_DEFAULTS = {to_camel(name): value for name, value in asdict(Preferences()).items()}


class GetPreferences(Arguments):
    """No arguments."""


@reads(
    permissions=["preferences:read"],
    cache_ttl=10,
    tags=["preferences"],
    examples=[
        Example(
            "The defaults",
            {},
            {
                "userId": "user_1",
                "preferences": _DEFAULTS,
            },
        )
    ],
)
async def get_preferences(args: GetPreferences, store: Store, context: ToolContext) -> JsonResult:  # noqa: ARG001 - every tool takes its arguments, even if it has none
    """Show how the user likes to learn.

    Use it when they ask for their preferences, or before planning a session. Returns time zone, start of the day,
    session length, focus and order.
    """
    user = await store.read(store.users.get, owner(context))
    return JsonResult.ok(_json(user), hints=hints.for_value(why="What the user has set, and defaults for the rest."))


class SetPreference(Arguments):
    """A preference and its value."""

    name: Annotated[
        Literal["timezone", "dayStartHour", "sessionMinutes", "focus", "newCards"],
        Field(description="The preference to change; get-preferences shows the present values."),
    ]
    value: Annotated[
        str | int,
        Field(
            description="timezone: such as Europe/Paris. dayStartHour: 0 to 23. sessionMinutes: 1 to 600. focus: "
            "retention, new-material or balanced. newCards: after-reviews, before-reviews or mixed."
        ),
    ]


@sets(
    permissions=["preferences:write"],
    tags=["preferences", "cards", "decks", "statistics"],
    examples=[
        Example(
            "Short sessions",
            {"name": "sessionMinutes", "value": 10},
            {"userId": "user_1", "preferences": _DEFAULTS | {"sessionMinutes": 10}},
        )
    ],
)
async def set_preference(args: SetPreference, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Change how the user likes to learn.

    Use it when they say where they live (time zone), when their day starts, how long sessions last, what to focus on.
    Returns all preferences.
    """
    user = await store.write(
        store.users.set_preference, owner(context), to_snake(args.name), _valid_value(args), clock.now()
    )
    return JsonResult.ok(_json(user), hints=hints.for_updated("preference", args.name, args.name))


def _valid_value(args: SetPreference) -> str | int:
    value = args.value
    match args.name:
        case "timezone":
            is_valid, expected = value in available_timezones(), "the name of a time zone, such as Europe/Paris"
        case "dayStartHour":
            is_valid, expected = isinstance(value, int) and 0 <= value < 24, "an hour from 0 to 23"  # noqa: PLR2004 - hours of a day
        case "sessionMinutes":
            is_valid, expected = (
                isinstance(value, int) and _MIN_MINUTES <= value <= _MAX_MINUTES,
                "minutes from 1 to 600",
            )
        case "focus":
            is_valid, expected = value in _FOCUS, f"one of {', '.join(_FOCUS)}"
        case "newCards":
            is_valid, expected = value in _NEW_CARDS, f"one of {', '.join(_NEW_CARDS)}"
    if not is_valid:
        raise InvalidArguments(f"{args.name}: {value!r} is not valid. Give {expected}.", fields=("value",))
    return value
