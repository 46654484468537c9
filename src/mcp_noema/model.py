"""What is learned, and how far: decks, notes, cards and reviews. No I/O.

A deck holds cards. A note is what a person wants to know; its note type makes one or more cards of it. A review is
one answer to one card. A preset says how the cards of a deck are scheduled; what it does not set comes from the deck
above (`Languages::French` is below `Languages`), and at last from the defaults.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo

from mcp_core import BrandedId

LONGEST_NAME = 255
LONGEST_FIELD = 100_000
LONGEST_TAG = 100
SEPARATOR = "::"
"""Between the names of a deck and the deck it is in."""
LEECH = "leech"
"""The tag of notes that are forgotten again and again."""

_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


class NumberedId(BrandedId, prefix="id"):
    """An id with its kind before the number it has in the database."""

    __slots__ = ()

    @classmethod
    def of(cls, number: int) -> Self:
        """The id of the row of that number."""
        return cls(f"{cls.prefix}_{number}")

    @property
    def number(self) -> int:
        """The number in the database; 0, which no row has, where there is no such number."""
        digits = self[len(self.prefix) + 1 :]
        return int(digits) if _NUMBER.fullmatch(digits) else 0


class DeckId(NumberedId, prefix="deck"):
    """The id of a deck, such as deck_1."""


class NoteId(NumberedId, prefix="note"):
    """The id of a note, such as note_1."""


class CardId(NumberedId, prefix="card"):
    """The id of a card, such as card_1."""


class ReviewId(NumberedId, prefix="review"):
    """The id of a review, such as review_1."""


class UserId(NumberedId, prefix="user"):
    """The id of a user, such as user_1."""


# --- scheduling --------------------------------------------------------------------------------------------


class State(IntEnum):
    """How far a card is. Learning, review and relearning have the numbers that FSRS gives them."""

    NEW = 0
    LEARNING = 1
    REVIEW = 2
    RELEARNING = 3

    @property
    def word(self) -> str:
        """As an agent reads it."""
        return self.name.lower()


Grade = Literal["again", "hard", "good", "easy"]
RATINGS: Mapping[Grade, int] = {"again": 1, "hard": 2, "good": 3, "easy": 4}
GRADES: Mapping[int, Grade] = {number: word for word, number in RATINGS.items()}

Dice = Callable[[], float]
"""A number from 0 to 1, another each time: `random.random` in use."""


@dataclass(frozen=True, slots=True)
class World:
    """Time and dice: what a schedule depends on and does not hold. Without dice, intervals are not fuzzed."""

    now: Callable[[], datetime]
    dice: Dice | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """The FSRS state of a card. A new card has no stability, no difficulty and no due date."""

    state: State = State.NEW
    step: int | None = None
    stability: float | None = None
    difficulty: float | None = None
    due: datetime | None = None
    last_review: datetime | None = None

    @property
    def interval(self) -> timedelta | None:
        """From the last review to the next."""
        return self.due - self.last_review if self.due and self.last_review else None


@dataclass(frozen=True, slots=True)
class Preset:
    """How the cards of a deck are scheduled. Steps are seconds."""

    desired_retention: float = 0.9
    learning_steps: tuple[int, ...] = (60, 600)
    relearning_steps: tuple[int, ...] = (600,)
    maximum_interval: int = 36_500
    new_per_day: int = 20
    reviews_per_day: int = 200
    leech_threshold: int = 8
    bury_siblings: bool = True
    parameters: tuple[float, ...] | None = None
    """The 21 weights of FSRS-6; None for the library's own."""

    def with_changes(self, changes: Mapping[str, Any]) -> "Preset":
        """This preset, with what a deck below it sets. Unknown names are left out: a newer server may have set them."""
        if not changes:  # as for most decks
            return self
        known = {f.name for f in fields(self)}
        given = {name: value for name, value in changes.items() if name in known}
        # A list is how JSON keeps a tuple.
        return replace(self, **{name: tuple(v) if isinstance(v, list) else v for name, v in given.items()})  # pyright: ignore[reportUnknownArgumentType]


# --- what there is -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deck:
    """A deck: `name` is its whole path, `preset` what it sets itself."""

    id: int
    name: str
    description: str
    preset: Mapping[str, Any]
    created_at: datetime

    @property
    def above(self) -> tuple[str, ...]:
        """The names of the decks it is in, the outermost first."""
        return names_above(self.name)

    def is_in(self, name: str) -> bool:
        """Whether it is that deck, or below it."""
        mine, other = self.name.casefold(), name.casefold()
        return mine == other or mine.startswith(other + SEPARATOR)


def names_above(name: str) -> tuple[str, ...]:
    """The names of the decks that a deck of this name is in, the outermost first."""
    parts = name.split(SEPARATOR)
    return tuple(SEPARATOR.join(parts[:length]) for length in range(1, len(parts)))


def deck_name(text: str) -> str:
    """A deck's whole path, without white space around its parts."""
    parts = [part.strip() for part in text.split(SEPARATOR)]
    if not all(parts):
        raise ValueError(f"the deck name {text!r} has an empty part; write for example Languages{SEPARATOR}French")
    return SEPARATOR.join(parts)


def preset_of(deck: Deck, decks: Mapping[str, Deck]) -> Preset:
    """What holds for a deck: the defaults, then what each deck above it sets, then its own. `decks` by folded name."""
    preset = Preset()
    for name in deck.above:
        if (outer := decks.get(name.casefold())) is not None:
            preset = preset.with_changes(outer.preset)
    return preset.with_changes(deck.preset)


@dataclass(frozen=True, slots=True)
class Template:
    """One card that a note type makes, in Anki's template language: `{{Front}}`."""

    name: str
    front: str
    back: str


@dataclass(frozen=True, slots=True)
class NoteType:
    """The fields of a note and the cards that are made of them. A cloze type has one template for all its cards."""

    name: str
    fields: tuple[str, ...]
    templates: tuple[Template, ...]
    is_cloze: bool = False
    css: str = ""
    id: int = 0


_ANSWER = "{{FrontSide}}<hr id=answer>"
BASIC = NoteType("Basic", ("Front", "Back"), (Template("Card 1", "{{Front}}", f"{_ANSWER}{{{{Back}}}}"),))
REVERSED = NoteType(
    "Basic (and reversed card)",
    ("Front", "Back"),
    (
        Template("Card 1", "{{Front}}", f"{_ANSWER}{{{{Back}}}}"),
        Template("Card 2", "{{Back}}", f"{_ANSWER}{{{{Front}}}}"),
    ),
)
CLOZE = NoteType(
    "Cloze",
    ("Text", "Back Extra"),
    (Template("Cloze", "{{cloze:Text}}", "{{cloze:Text}}<br>{{Back Extra}}"),),
    is_cloze=True,
)

NoteKind = Literal["basic", "basic-reversed", "cloze"]
BUILT_IN: Mapping[NoteKind, NoteType] = {"basic": BASIC, "basic-reversed": REVERSED, "cloze": CLOZE}
"""The note types that tools make notes of, under the names that Anki gives them. Others come with imports."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a person wants to know: a value for each field of its note type."""

    id: int
    type: NoteType
    values: tuple[str, ...]
    tags: tuple[str, ...]
    guid: str
    created_at: datetime
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class Card:
    """One question of a note. `ordinal` is the template, from 0; of a cloze note, the number of the gap less 1."""

    id: int
    note_id: int
    deck_id: int
    ordinal: int
    position: int
    schedule: Schedule
    reps: int
    lapses: int
    suspended: bool
    buried_until: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class CardFace:
    """A card with what is on it, as plain text, and where it belongs."""

    card: Card
    front: str
    back: str
    deck: str
    note_type: str
    tags: tuple[str, ...]
    media: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """One answer to one card. `interval_s` is how many seconds later it is due again, `last_interval_s` was before."""

    id: int
    card_id: int
    rating: int
    reviewed_at: datetime
    duration_ms: int
    state: State
    """How far the card was before."""
    interval_s: int
    last_interval_s: int
    stability: float | None
    difficulty: float | None


# --- preferences -------------------------------------------------------------------------------------------

_FURTHEST_DAY = 36_500


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a person has told the server about how they learn."""

    timezone: str = "UTC"
    day_start_hour: int = 4
    """When a new day begins: who learns after midnight still learns today."""
    session_minutes: int = 20
    focus: Literal["retention", "new-material", "balanced"] = "balanced"
    new_cards: Literal["after-reviews", "before-reviews", "mixed"] = "after-reviews"

    def date_of(self, moment: datetime) -> date:
        """The date of the learning day that a moment belongs to."""
        return (moment.astimezone(ZoneInfo(self.timezone)) - timedelta(hours=self.day_start_hour)).date()

    def day_of(self, moment: datetime) -> "Day":
        """The learning day that a moment belongs to."""
        return self.day_on(self.date_of(moment))

    def day_on(self, date: date) -> "Day":
        """The learning day of a date."""
        return Day(self._beginning(date), self._beginning(date + timedelta(days=1)))

    def day_start(self, now: datetime, days: int) -> datetime:
        """When the learning day begins that is this many days after today, within a hundred years."""
        days = max(-_FURTHEST_DAY, min(days, _FURTHEST_DAY))
        return self.day_on(self.date_of(now) + timedelta(days=days)).begins

    def _beginning(self, date: date) -> datetime:
        local = datetime(date.year, date.month, date.day, self.day_start_hour, tzinfo=ZoneInfo(self.timezone))
        return local.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Day:
    """A learning day in UTC: from `begins` to just before `ends`."""

    begins: datetime
    ends: datetime
