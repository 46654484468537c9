"""Preferences: how a person likes to learn. Suggestions are measured by them."""

from dataclasses import asdict
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import Field
from pydantic.alias_generators import to_camel, to_snake

from mcp_core import Example, InvalidArguments, Need, ToolContext, hints, tool
from mcp_noema.model import UserId, World
from mcp_noema.repositories import People, Person
from mcp_noema.tools.vocabulary import READS, SETS, Answer, Arguments, owner

_SHORTEST, _LONGEST = 1, 600

_FOCUS = ("retention", "new-material", "balanced")
_NEW_CARDS = ("after-reviews", "before-reviews", "mixed")


def _json(person: Person) -> dict[str, Any]:
    shown = {to_camel(name): value for name, value in asdict(person.preferences).items()}
    return {"userId": UserId.of(person.id) if person.id else None, "preferences": shown}


class GetPreferences(Arguments):
    """Nothing is asked for."""


@tool(
    **READS,
    permissions=["preferences:read"],
    cacheable=True,
    cache_ttl=10,
    tags=["preferences"],
    examples=[
        Example(
            "What holds where nothing was set",
            {},
            {
                "userId": "user_1",
                "preferences": {
                    "timezone": "UTC",
                    "dayStartHour": 4,
                    "sessionMinutes": 20,
                    "focus": "balanced",
                    "newCards": "after-reviews",
                },
            },
        )
    ],
)
async def get_preferences(args: GetPreferences, people: Need[People], context: ToolContext) -> Answer:  # noqa: ARG001 - a tool takes its arguments, also when there are none
    """Show how the user likes to learn.

    Use it when they ask for their preferences, or before planning a session. Returns time zone, start of the day,
    session length, focus and order.
    """
    person = await people.get(owner(context))
    return Answer.ok(_json(person), hints=hints.for_value(why="What the user has set, and defaults for the rest."))


class SetPreference(Arguments):
    """A preference and its value."""

    name: Annotated[
        Literal["timezone", "dayStartHour", "sessionMinutes", "focus", "newCards"],
        Field(description="focus: retention, new-material, balanced; newCards: after-reviews, before-reviews, mixed."),
    ]
    value: Annotated[str | int, Field(description="Such as Europe/Paris, 4, 20, balanced.")]


@tool(
    **SETS,
    permissions=["preferences:write"],
    tags=["preferences", "cards", "decks", "statistics"],
    examples=[
        Example("Short sessions", {"name": "sessionMinutes", "value": 10}, {"userId": "user_1", "preferences": "<any>"})
    ],
)
async def set_preference(args: SetPreference, people: Need[People], world: Need[World], context: ToolContext) -> Answer:
    """Change how the user likes to learn.

    Use it when they say where they live (time zone), when their day starts, how long sessions last, what to focus on.
    Returns all preferences.
    """
    person = await people.set_preference(owner(context), to_snake(args.name), _checked(args), world.now())
    return Answer.ok(_json(person), hints=hints.for_updated("preference", args.name, args.name))


def _checked(args: SetPreference) -> str | int:
    value = args.value
    match args.name:
        case "timezone":
            fits, wanted = value in available_timezones(), "the name of a time zone, such as Europe/Paris"
        case "dayStartHour":
            fits, wanted = isinstance(value, int) and 0 <= value < 24, "an hour from 0 to 23"  # noqa: PLR2004 - hours of a day
        case "sessionMinutes":
            fits, wanted = isinstance(value, int) and _SHORTEST <= value <= _LONGEST, "minutes from 1 to 600"
        case "focus":
            fits, wanted = value in _FOCUS, f"one of {', '.join(_FOCUS)}"
        case "newCards":
            fits, wanted = value in _NEW_CARDS, f"one of {', '.join(_NEW_CARDS)}"
    if not fits:
        raise InvalidArguments(f"{args.name}: {value!r} will not do; give {wanted}.", fields=("value",))
    return value
