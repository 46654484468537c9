"""A search query as a tree. `str(tree)` is an equivalent query."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Literal

from mcp_noema.model import NumberedId
from mcp_noema.text.markup import fold

Status = Literal["new", "learn", "review", "due", "suspended", "buried", "leech"]
Measure = Literal["ivl", "due", "lapses", "reps", "s", "d"]
Event = Literal["added", "edited", "rated", "introduced"]
Operator = Literal["<=", ">=", "!=", "=", "<", ">"]


class Wildcard(Enum):
    """Any text, or any one character."""

    ANY = "*"
    ONE = "_"


_SPECIAL = re.compile(r'[\\"*_]')
_NEEDS_QUOTES = re.compile(r"-.*|.*[\s()].*|and|or", re.IGNORECASE | re.DOTALL)
_LIKE_SPECIAL = re.compile(r"[\\%_]")
_LIKE_WILDCARDS = {Wildcard.ANY: "%", Wildcard.ONE: "_"}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Text with wildcards; case does not count."""

    parts: tuple[str | Wildcard, ...] = ()

    def __str__(self) -> str:
        return "".join(p.value if isinstance(p, Wildcard) else _SPECIAL.sub(r"\\\g<0>", p) for p in self.parts)

    def like(self) -> str:
        """A LIKE pattern for text in lower case, with a backslash as the escape character."""
        return "".join(
            _LIKE_WILDCARDS[p] if isinstance(p, Wildcard) else _LIKE_SPECIAL.sub(r"\\\g<0>", fold(p))
            for p in self.parts
        )

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches a whole name."""
        return _compile(self).fullmatch(fold(text)) is not None

    def expression(self, one: str, literal: Callable[[str], str]) -> str:
        """A regular expression for PostgreSQL: `one` matches any one character, and `literal` escapes a text."""
        wildcards = {Wildcard.ANY: f"{one}*", Wildcard.ONE: one}
        return "".join(wildcards[p] if isinstance(p, Wildcard) else literal(p) for p in self.parts)

    def atomic_expression(self, one: str, literal: Callable[[str], str]) -> str:
        """The same for Python, whose matcher tries all ways to divide a text between stars unless groups are atomic.

        The first match of the text between two stars leaves the most room for the rest, so nothing is missed.
        """
        pieces = [""]
        for part in self.parts:
            if part is Wildcard.ANY:
                pieces.append("")
            else:
                pieces[-1] += one if isinstance(part, Wildcard) else literal(part)
        first, *others = pieces
        if not others:
            return first
        *middle, last = others
        return first + "".join(f"(?>{one}*?{piece})" for piece in middle if piece) + f"{one}*{last}"

    @property
    def has_wildcards(self) -> bool:
        return any(isinstance(part, Wildcard) for part in self.parts)

    @property
    def is_ascii(self) -> bool:
        """Whether every database can change the case of its letters."""
        return all(isinstance(part, Wildcard) or part.isascii() for part in self.parts)


@lru_cache(maxsize=256)
def _compile(pattern: Pattern) -> re.Pattern[str]:
    return re.compile(pattern.atomic_expression(".", lambda literal: re.escape(fold(literal))), re.DOTALL)


def _quoted(text: str) -> str:
    return f'"{text}"' if _NEEDS_QUOTES.fullmatch(text) else text


def _without_key(pattern: Pattern) -> str:
    return str(pattern).replace(":", "\\:")


# --- nodes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Everything:
    """All cards: an empty query."""

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class All:
    """Cards that match all parts."""

    parts: tuple["Tree", ...]

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, AnyOf | All) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Cards that match at least one part."""

    parts: tuple["Tree", ...]

    def __str__(self) -> str:
        return " OR ".join(f"({part})" if isinstance(part, AnyOf) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Excluding:
    """Cards that do not match the part."""

    part: "Tree"

    def __str__(self) -> str:
        return f"-({self.part})" if isinstance(self.part, AnyOf | All) else f"-{self.part}"


@dataclass(frozen=True, slots=True)
class Words:
    """Cards of notes with these words in any field."""

    pattern: Pattern

    def __str__(self) -> str:
        return _quoted(_without_key(self.pattern))


@dataclass(frozen=True, slots=True)
class InField:
    """Cards of notes where the whole field of that name matches the pattern."""

    field: Pattern
    pattern: Pattern

    def __str__(self) -> str:
        return _quoted(f"{_without_key(self.field)}:{self.pattern}")


@dataclass(frozen=True, slots=True)
class InDeck:
    """Cards in the deck of that name, or in its subdecks."""

    name: Pattern

    def __str__(self) -> str:
        return _quoted(f"deck:{self.name}")


@dataclass(frozen=True, slots=True)
class Tagged:
    """Cards of notes with that tag or a subtag; None for notes without tags."""

    tag: Pattern | None

    def __str__(self) -> str:
        return _quoted(f"tag:{self.tag or 'none'}")


@dataclass(frozen=True, slots=True)
class Is:
    """Cards with that status."""

    status: Status

    def __str__(self) -> str:
        return f"is:{self.status}"


@dataclass(frozen=True, slots=True)
class OfType:
    """Cards of notes of that type."""

    name: Pattern

    def __str__(self) -> str:
        return _quoted(f"note:{self.name}")


@dataclass(frozen=True, slots=True)
class OfTemplate:
    """Cards made by a template: by its name, or by its number from 1."""

    template: Pattern | int

    def __str__(self) -> str:
        return _quoted(f"card:{self.template}")


@dataclass(frozen=True, slots=True)
class Property:
    """Cards whose property compares with a number."""

    measure: Measure
    operator: Operator
    value: float

    def __str__(self) -> str:
        return f"prop:{self.measure}{self.operator}" + f"{self.value:f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Within:
    """Cards with that event in the last days, where 1 is today; `rating` only for `rated`."""

    event: Event
    days: int
    rating: int | None = None

    def __str__(self) -> str:
        return f"{self.event}:{self.days}" + (f":{self.rating}" if self.rating else "")


@dataclass(frozen=True, slots=True)
class WithId:
    """Cards with one of these ids, of one of these notes, or in one of these decks."""

    kind: type[NumberedId]
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind.prefix[0]}id:" + ",".join(self.kind.of(number) for number in self.numbers)


@dataclass(frozen=True, slots=True)
class Flagged:
    """Cards with that flag of Anki, 1 to 7; 0 for cards without one."""

    flag: int

    def __str__(self) -> str:
        return f"flag:{self.flag}"


Term = Words | InField | InDeck | Tagged | Is | OfType | OfTemplate | Property | Within | WithId | Flagged
Tree = Everything | All | AnyOf | Excluding | Term


def terms(tree: Tree) -> Iterator[Term]:
    """All terms of a tree, from left to right."""
    if isinstance(tree, All | AnyOf):
        for part in tree.parts:
            yield from terms(part)
    elif isinstance(tree, Excluding):
        yield from terms(tree.part)
    elif not isinstance(tree, Everything):
        yield tree
