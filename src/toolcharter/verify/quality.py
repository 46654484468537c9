"""The six dimensions of the Tool Definition Quality Score, computed from the definition without a model.

Each dimension is a list of checks. A check gives all of its points, none, or a share. A point means that something is
there, not that it is well written.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mcp_core.schema.walk import Node
from toolcharter.verify.model import HINTS, Tool

Quality = Mapping[str, float]
"""Points by dimension."""

MAX_DESCRIPTION_LENGTH = 1000
MAX_SENTENCE = 40
MAX_OPENING = 25
MIN_OPENING = 4

_WHEN = re.compile(
    r"\buse (this|it|when|to|for|the)\b|\bwhen (the user|you|a user|an agent|needed)\b|\bwhenever\b"
    r"|\bif (the user|you)\b|\buseful (for|when|to)\b|\bcall (this|it) (when|to|before|after|if)\b",
    re.IGNORECASE,
)
_NOT_WHEN = re.compile(
    r"\b(do not|don't|never|not for|not to be) \w+|\binstead\b|\brather than\b|\bunless\b|\bonly (when|if|for|works)\b"
    r"|\bprefer\b|\buse `?\w+_\w+`?",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(requires?|must|needs?|before|after|first|at most|at least|up to|limit(ed|s)?|maximum|minimum|default(s)?)\b",
    re.IGNORECASE,
)
_RETURNS = re.compile(
    r"\b(returns?|returned|gives?|responds?|answers?|outputs?|yields?|produces?|results? (is|are|in|include))\b",
    re.IGNORECASE,
)
_EFFECT = re.compile(
    r"\b(creates?|adds?|changes?|updates?|modif(y|ies)|deletes?|removes?|sends?|writes?|saves?|stores?|sets?|replaces?"
    r"|overwrites?|moves?|renames?|uploads?|publish(es)?|starts?|stops?|cancels?|permanent(ly)?|irreversibl[ey]|undone)\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\be\.g\.|\bfor example\b|\bexamples?\b|\bsuch as\b|\blike\b|['\"`]", re.IGNORECASE)
_EMPTY_WORDS = frozenset({
    *("a", "an", "the", "this", "that", "it", "my", "our", "your", "for", "to", "of", "in", "on"),
    *("tool", "function", "method", "api", "endpoint", "wrapper", "helper", "utility"),
})  # fmt: skip
_BOUNDS = frozenset({
    *("enum", "const", "pattern", "format", "items", "maxItems", "properties", "default", "examples"),
    *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
})  # fmt: skip
_WORDS = re.compile(r"[a-z0-9']+")


class Check(NamedTuple):
    """A reason for points."""

    points: float
    what: str
    """What is true of a tool that gets the points."""
    problem: str
    """What is true of a tool that does not."""
    share: Callable[[Tool], float]
    """The share of the points, from 0 to 1."""


# ---- the tool ------------------------------------------------------------------------------------


def _has_a_description(tool: Tool) -> bool:
    return bool(tool.description)


def _opening(tool: Tool) -> list[str]:
    """The words of the first sentence."""
    return _WORDS.findall(tool.sentences[0].lower()) if tool.sentences else []


def _starts_with_a_verb(tool: Tool) -> bool:
    return tool.description_verb is not None


def _has_a_full_opening(tool: Tool) -> bool:
    return len(_opening(tool)) >= MIN_OPENING


def _says_more_than_its_name(tool: Tool) -> bool:
    return _has_a_full_opening(tool) and bool(set(_opening(tool)) - set(tool.name_words) - _EMPTY_WORDS)


def _says_when(tool: Tool) -> bool:
    return bool(_WHEN.search(tool.description))


def _says_when_not(tool: Tool) -> bool:
    return bool(_NOT_WHEN.search(tool.description))


def _says_conditions(tool: Tool) -> bool:
    return bool(_CONDITION.search(tool.description))


def _says_if_it_changes(tool: Tool) -> bool:
    return tool.hint("readOnlyHint") is not None


def _says_if_it_destroys(tool: Tool) -> bool:
    return tool.hint("readOnlyHint") is True or tool.hint("destructiveHint") is not None


def _says_the_effect(tool: Tool) -> bool:
    changes = tool.hint("readOnlyHint") is not True
    return _says_what_it_returns(tool) or (changes and bool(_EFFECT.search(tool.description)))


def _says_what_it_returns(tool: Tool) -> bool:
    return tool.listed.output_schema is not None or bool(_RETURNS.search(tool.description))


def _is_short(tool: Tool) -> bool:
    return 0 < len(tool.description) <= MAX_DESCRIPTION_LENGTH


def _has_short_sentences(tool: Tool) -> bool:
    return bool(tool.sentences) and all(len(sentence.split()) <= MAX_SENTENCE for sentence in tool.sentences)


def _opens_briefly(tool: Tool) -> bool:
    return 0 < len(_opening(tool)) <= MAX_OPENING


def _has_a_title(tool: Tool) -> bool:
    return bool(tool.listed.title or tool.listed.annotations.get("title"))


def _is_closed(tool: Tool) -> bool:
    return not tool.arguments or tool.schema.get("additionalProperties") is False


def _has_all_hints(tool: Tool) -> bool:
    return all(tool.hint(name) is not None for name in HINTS)


# ---- its arguments -------------------------------------------------------------------------------


def _described(tool: Tool) -> float:
    return _share(tool, lambda argument: bool(argument.description))


def _typed(tool: Tool) -> float:
    return _share(tool, lambda argument: bool(argument.types or argument.schema.keys() & {"enum", "const"}))


def _narrowed(tool: Tool) -> float:
    return _share(tool, _is_narrowed)


def _is_narrowed(argument: Node) -> bool:
    plain = argument.types == ("boolean",) or not _BOUNDS.isdisjoint(argument.schema)
    return plain or bool(_EXAMPLE.search(argument.description))


def _share(tool: Tool, test: Callable[[Node], bool]) -> float:
    """The share of arguments that pass the test; 1 if there are no arguments."""
    return sum(map(test, tool.arguments)) / len(tool.arguments) if tool.arguments else 1.0


# ---- the dimensions ------------------------------------------------------------------------------

DIMENSIONS: Mapping[str, Sequence[Check]] = {
    "purpose": (
        Check(5, "the tool has a description", "the description is missing", _has_a_description),
        Check(
            8,
            "the first sentence begins with a verb",
            "the first sentence does not begin with a verb",
            _starts_with_a_verb,
        ),
        Check(
            6,
            f"the first sentence has at least {MIN_OPENING} words",
            f"the first sentence has fewer than {MIN_OPENING} words",
            _has_a_full_opening,
        ),
        Check(
            6,
            "the first sentence says more than the name",
            "the first sentence only repeats the name",
            _says_more_than_its_name,
        ),
    ),
    "usage": (
        Check(
            10,
            "the description says when to use the tool",
            "the description does not say when to use the tool",
            _says_when,
        ),
        Check(
            5,
            "the description says when not to use it, or what to use instead",
            "the description does not say when not to use the tool, or what to use instead",
            _says_when_not,
        ),
        Check(
            5,
            "the description names requirements or limits",
            "the description names no requirements or limits",
            _says_conditions,
        ),
    ),
    "behaviour": (
        Check(8, "readOnlyHint is given", "readOnlyHint is missing", _says_if_it_changes),
        Check(
            4,
            "destructiveHint is given, unless the tool is read-only",
            "destructiveHint is missing",
            _says_if_it_destroys,
        ),
        Check(
            8,
            "the description says what a call does or returns",
            "the description does not say what a call does or returns",
            _says_the_effect,
        ),
    ),
    "parameters": (
        Check(9, "arguments have a description (by share)", "an argument has no description", _described),
        Check(3, "arguments have a type (by share)", "an argument has no type", _typed),
        Check(
            3,
            "arguments have bounds, choices, a default or an example (by share)",
            "an argument has no bounds, choices, default or example",
            _narrowed,
        ),
    ),
    "conciseness": (
        Check(
            4,
            f"the description has at most {MAX_DESCRIPTION_LENGTH:,} characters",
            f"the description has more than {MAX_DESCRIPTION_LENGTH:,} characters",
            _is_short,
        ),
        Check(
            3,
            f"no sentence has more than {MAX_SENTENCE} words",
            f"a sentence has more than {MAX_SENTENCE} words",
            _has_short_sentences,
        ),
        Check(
            3,
            f"the first sentence has at most {MAX_OPENING} words",
            f"the first sentence has more than {MAX_OPENING} words",
            _opens_briefly,
        ),
    ),
    "completeness": (
        Check(
            4,
            "the description or an output schema says what is returned",
            "neither the description nor an output schema says what is returned",
            _says_what_it_returns,
        ),
        Check(2, "the tool has a title for people", "a title for people is missing", _has_a_title),
        Check(
            2,
            "unknown arguments are rejected: additionalProperties is false",
            "unknown arguments are accepted: additionalProperties is not false",
            _is_closed,
        ),
        Check(2, "all four hints are given", "not all four hints are given", _has_all_hints),
    ),
}

MAX_POINTS: Quality = {name: sum(check.points for check in checks) for name, checks in DIMENSIONS.items()}
"""The maximum of each dimension; 100 together."""


def quality_of(tool: Tool) -> Quality:
    """The points of a tool, by dimension."""
    return {
        name: round(sum(check.points * check.share(tool) for check in checks), 1) for name, checks in DIMENSIONS.items()
    }


class MissingPoints(NamedTuple):
    """A check that tools fail, and how many of them."""

    dimension: str
    problem: str
    tools: int
    points: float
    """The mean of the points that are missing."""


def missing_points(tools: Sequence[Tool]) -> list[MissingPoints]:
    """The checks that tools fail, those that cost most first."""
    missing: list[MissingPoints] = []
    for dimension, checks in DIMENSIONS.items():
        for check in checks:
            shares = [float(check.share(tool)) for tool in tools]
            failed = sum(share < 1 for share in shares)
            if failed:
                points = check.points * (len(shares) - sum(shares)) / len(shares)
                missing.append(MissingPoints(dimension, check.problem, failed, points))
    return sorted(missing, key=lambda one: -one.points)
