"""What a query asks for, as a tree. `str(tree)` is a query that asks for the same."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from mcp_noema.markup import fold
from mcp_noema.model import NumberedId

Standing = Literal["new", "learn", "review", "due", "suspended", "buried", "leech"]
Measure = Literal["ivl", "due", "lapses", "reps", "s", "d"]
Event = Literal["added", "edited", "rated", "introduced"]
Operator = Literal["<=", ">=", "!=", "=", "<", ">"]


class Wild(Enum):
    """What a pattern leaves open."""

    ANY = "*"
    ONE = "_"


_SIGN = re.compile(r'[\\"*_]')
_NEEDS_QUOTES = re.compile(r"-.*|.*[\s()].*|and|or", re.IGNORECASE | re.DOTALL)
_LIKE_SIGN = re.compile(r"[\\%_]")
_LIKE = {Wild.ANY: "%", Wild.ONE: "_"}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Text with wildcards; case does not count."""

    parts: tuple[str | Wild, ...] = ()

    def __str__(self) -> str:
        return "".join(p.value if isinstance(p, Wild) else _SIGN.sub(r"\\\g<0>", p) for p in self.parts)

    def like(self) -> str:
        """As an operand of LIKE, with a backslash as its escape, for text in lower case."""
        return "".join(_LIKE[p] if isinstance(p, Wild) else _LIKE_SIGN.sub(r"\\\g<0>", fold(p)) for p in self.parts)

    def matches(self, text: str) -> bool:
        """Whether it fits a whole text. For names: a long text and many stars take long."""
        expression = self.expression(".", lambda literal: re.escape(fold(literal)))
        return re.fullmatch(expression, fold(text), re.DOTALL) is not None

    def expression(self, one: str, literal: Callable[[str], str]) -> str:
        """As a regular expression: `one` stands for any letter, `literal` writes a text."""
        wild = {Wild.ANY: f"{one}*", Wild.ONE: one}
        return "".join(wild[p] if isinstance(p, Wild) else literal(p) for p in self.parts)

    @property
    def is_open(self) -> bool:
        """Whether it has wildcards."""
        return any(isinstance(part, Wild) for part in self.parts)

    @property
    def is_ascii(self) -> bool:
        """Whether every database knows its letters in upper and lower case."""
        return all(isinstance(part, Wild) or part.isascii() for part in self.parts)


def _quoted(text: str) -> str:
    return f'"{text}"' if _NEEDS_QUOTES.fullmatch(text) else text


def _without_key(pattern: Pattern) -> str:
    return str(pattern).replace(":", "\\:")


# --- what stands for cards ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Everything:
    """All cards: what an empty query finds."""

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class All:
    """What all of the parts find."""

    parts: tuple["Tree", ...]

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, AnyOf | All) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """What one or more of the parts find."""

    parts: tuple["Tree", ...]

    def __str__(self) -> str:
        return " OR ".join(f"({part})" if isinstance(part, AnyOf) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """What the part does not find."""

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
    """Cards of notes with a field of that name that holds the pattern and nothing else."""

    field: Pattern
    pattern: Pattern

    def __str__(self) -> str:
        return _quoted(f"{_without_key(self.field)}:{self.pattern}")


@dataclass(frozen=True, slots=True)
class InDeck:
    """Cards in a deck of that name, or below it."""

    name: Pattern

    def __str__(self) -> str:
        return _quoted(f"deck:{self.name}")


@dataclass(frozen=True, slots=True)
class Tagged:
    """Cards of notes with that tag, or one below it; None for notes without tags."""

    tag: Pattern | None

    def __str__(self) -> str:
        return _quoted(f"tag:{self.tag or 'none'}")


@dataclass(frozen=True, slots=True)
class Is:
    """Cards that stand so."""

    standing: Standing

    def __str__(self) -> str:
        return f"is:{self.standing}"


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
    """Cards with a number that compares so."""

    measure: Measure
    operator: Operator
    value: float

    def __str__(self) -> str:
        return f"prop:{self.measure}{self.operator}" + f"{self.value:f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Within:
    """Cards to which that happened in the last days, today being the first; `rating` only for `rated`."""

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


Term = Words | InField | InDeck | Tagged | Is | OfType | OfTemplate | Property | Within | WithId
Tree = Everything | All | AnyOf | Not | Term


def terms(tree: Tree) -> Iterator[Term]:
    """All terms of a tree, from left to right."""
    if isinstance(tree, All | AnyOf):
        for part in tree.parts:
            yield from terms(part)
    elif isinstance(tree, Not):
        yield from terms(tree.part)
    elif not isinstance(tree, Everything):
        yield tree
