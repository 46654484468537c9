"""Expressions that select documents: `lang/python+java,docs/api,guidelines`.

    expression      specification [, specification]...
    specification   name  or  name/pattern [+ pattern]...

The name is that of a category or a collection. A comma or plus inside `{...}` or `[...]` belongs to the pattern.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_guide.content.patterns import normalize, quote_text, split_outside_brackets
from toolcharter import InvalidArguments

MAX_EXPRESSION_LENGTH = 2_000
MAX_SPECIFICATIONS = 50

_FORBIDDEN_IN_NAMES = frozenset("+*?[]{}\\")


@dataclass(frozen=True, slots=True)
class Specification:
    """A category or collection and the patterns of its documents. No patterns means its default ones."""

    name: str
    patterns: tuple[str, ...] = ()


def parse_expression(text: str) -> list[Specification]:
    """The specifications of an expression, in order. Raises only InvalidArguments."""
    if len(text) > MAX_EXPRESSION_LENGTH:
        raise InvalidArguments(
            f"The expression {quote_text(text)} has {len(text):,} characters. "
            f"Use at most {MAX_EXPRESSION_LENGTH:,} characters."
        )
    parts = split_outside_brackets(normalize(text), ",")
    if len(parts) > MAX_SPECIFICATIONS:
        raise InvalidArguments(
            f"The expression {quote_text(text)} has {len(parts)} parts separated by commas. "
            f"Use at most {MAX_SPECIFICATIONS}."
        )
    return [_parse_specification(part.strip(), text) for part in parts]


def render_expression(specifications: Sequence[Specification]) -> str:
    """The expression that parses to these specifications."""
    return ",".join("/".join(filter(None, (s.name, "+".join(s.patterns)))) for s in specifications)


def add_pattern(expression: str, pattern: str | None) -> str:
    """`lang` with the pattern `python` is `lang/python`. Raises InvalidArguments if the result would be ambiguous."""
    if pattern is None:
        return expression
    specifications = parse_expression(expression)
    if len(specifications) != 1 or specifications[0].patterns:
        raise InvalidArguments(
            f"The pattern {quote_text(pattern)} cannot be added to {quote_text(expression)}. "
            "Write it in the expression, as in 'lang/python,docs/api'."
        )
    if len(split_outside_brackets(pattern, ",")) > 1:
        raise InvalidArguments(f"The pattern {quote_text(pattern)} contains a comma. Separate patterns with '+'.")
    return f"{specifications[0].name}/{pattern}"


def _parse_specification(part: str, text: str) -> Specification:
    name, slash, rest = part.partition("/")
    name = name.strip()
    if not name:
        raise InvalidArguments(f"{_quote_part(part, text)} does not name a category. Write one, as in 'lang/python'.")
    if not _FORBIDDEN_IN_NAMES.isdisjoint(name) or not name.isprintable():
        raise InvalidArguments(
            f"{_quote_part(part, text)} has a special character before the '/'. "
            "Write the name of one category or collection there. Separate several with ','."
        )
    if not slash:
        return Specification(name)
    patterns = tuple(pattern.strip() for pattern in split_outside_brackets(rest, "+"))
    if not all(patterns):
        raise InvalidArguments(
            f"{_quote_part(part, text)} has an empty pattern. "
            f"Write {name!r} for its default documents, '{name}/**' for all, or [+] for a plus in a name."
        )
    return Specification(name, patterns)


def _quote_part(part: str, text: str) -> str:
    return quote_text(part) if part == text.strip() else f"The part {quote_text(part)} of {quote_text(text)}"
