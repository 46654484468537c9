import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_QUANTITIES = frozenset(
    {"delay", "distance", "duration", "expiration", "expiry", "interval", "latency", "timeout", "ttl", "speed"}
    | {"altitude", "elevation"}
)
_UNIT = re.compile(
    r"\b(?:(?:milli|micro|nano)?seconds?|secs?|ms|minutes?|mins?|hours?|days?|weeks?|months?|years?|met(?:er|re)s?|km|"
    r"kilomet\w+|miles?|feet|pixels?|px|degrees?|celsius|fahrenheit|kg|grams?|pounds?|km/h|mph|percent\w*|units?|ticks?|"
    r"frames?|blocks?|factor|ratio|random\w*|creativ\w*|sampling|\d+ ?[smhd]|"
    r"[0-9.]+ ?(?:to|-|and|\u2013) ?[0-9.]+)\b|[°%]",
    re.IGNORECASE,
)
"""A unit, or words that say that there is none, as for the temperature of a model."""
_UNITS_IN_NAMES = frozenset(
    {"ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minutes", "hours", "days", "millis", "milliseconds"}
    | {"px", "km", "m", "meters", "miles", "c", "f", "celsius", "kg", "percent"}
)
_NUMBERS = frozenset({"integer", "number"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        words = words_of(parameter.name)
        if not words or words[-1] not in _QUANTITIES or not set(parameter.types) <= _NUMBERS or not parameter.types:
            continue
        # A parameter without a description is found by another rule.
        has_unit = not _UNITS_IN_NAMES.isdisjoint(words) or _UNIT.search(f"{parameter.description} {tool.description}")
        if parameter.description and tool.is_english and not has_unit:
            yield Problem(f"{parameter.name!r} does not say its unit", parameter.path)


RULE = Rule(
    id="PAR021",
    name="number-without-unit",
    family="parameters",
    severity="note",
    what="A duration, a distance or another quantity whose unit is not said.",
    why="Is a timeout of 30 half a minute, or less than a blink? The agent guesses.",
    fix="Put the unit into the name, such as `timeout_seconds`, or into the description.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"timeout": {"type": "integer", "description": "How long to wait."}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"timeout": {"type": "integer", "description": "How long to wait, in seconds."}},
            }
        }
    ],
    check=check,
)
