"""What is asked for: `lang/python+java,docs/api,guidelines`.

    expression      specification [, specification]...
    specification   name  or  name/pattern [+ pattern]...

The name is a category's or a collection's. A comma or plus inside of `{...}` or `[...]` belongs to the pattern.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_core.errors import InvalidArguments
from mcp_guide.content.patterns import shown, split_outside

LONGEST_EXPRESSION = 2_000
MOST_SPECIFICATIONS = 50

_NOT_IN_NAMES = frozenset("+*?[]{}\\")


@dataclass(frozen=True, slots=True)
class Specification:
    """A category or collection, and which documents of it. No patterns: its own."""

    name: str
    patterns: tuple[str, ...] = ()


def parse(text: str) -> list[Specification]:
    """The specifications, in their order. Raises InvalidArguments and nothing else."""
    if len(text) > LONGEST_EXPRESSION:
        raise InvalidArguments(
            f"The expression {shown(text)} has {len(text):,} characters. "
            f"Ask for less at once: at most {LONGEST_EXPRESSION:,} characters."
        )
    parts = split_outside(text, ",")
    if len(parts) > MOST_SPECIFICATIONS:
        raise InvalidArguments(
            f"The expression {shown(text)} has {len(parts)} parts. "
            f"Ask for less at once: at most {MOST_SPECIFICATIONS} separated by commas."
        )
    return [_specification(part.strip(), text) for part in parts]


def render(specifications: Sequence[Specification]) -> str:
    """The expression that is parsed to these."""
    return ",".join("/".join(filter(None, (s.name, "+".join(s.patterns)))) for s in specifications)


def join(expression: str, pattern: str | None) -> str:
    """`lang` and `python` are `lang/python`. Raises InvalidArguments where a pattern has no one place to go."""
    if pattern is None:
        return expression
    specifications = parse(expression)
    if len(specifications) != 1 or specifications[0].patterns:
        raise InvalidArguments(
            f"The pattern {shown(pattern)} cannot be added to {shown(expression)}. "
            "Write it into the expression, as in 'lang/python,docs/api'."
        )
    if len(split_outside(pattern, ",")) > 1:
        raise InvalidArguments(f"The pattern {shown(pattern)} has a comma. Write '+' for any of several patterns.")
    return f"{specifications[0].name}/{pattern}"


def _specification(part: str, text: str) -> Specification:
    name, slash, rest = part.partition("/")
    name = name.strip()
    if not name:
        raise InvalidArguments(f"{_quoted(part, text)} names no category. Write one, as in 'lang/python'.")
    if not _NOT_IN_NAMES.isdisjoint(name) or not name.isprintable():
        raise InvalidArguments(
            f"{_quoted(part, text)} has a special character before the '/'. "
            "Write the name of one category or collection there, and ',' between several."
        )
    if not slash:
        return Specification(name)
    patterns = tuple(pattern.strip() for pattern in split_outside(rest, "+"))
    if not all(patterns):
        raise InvalidArguments(
            f"{_quoted(part, text)} has an empty pattern. "
            f"Write {name!r} for its usual documents, '{name}/**' for all, and [+] for a plus in a name."
        )
    return Specification(name, patterns)


def _quoted(part: str, text: str) -> str:
    return shown(part) if part == text.strip() else f"The part {shown(part)} of {shown(text)}"
