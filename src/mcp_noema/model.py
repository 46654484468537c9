"""The records of the learning server: decks, notes, cards, reviews and their schedules. No I/O.

A deck has cards. A note is what a user wants to learn; its note type makes one or more cards from it. A review is one
answer to one card. A preset says how the cards of a deck are scheduled; values that a deck does not set are inherited
from its parent (`Languages` is the parent of `Languages::French`), and in the end from the defaults.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from typing import Any, Literal, Self
from zlib import crc32
from zoneinfo import ZoneInfo

from toolcharter import BrandedId

MAX_NAME_LENGTH = 255
MAX_FIELD_LENGTH = 100_000
MAX_TAG_LENGTH = 100
SEPARATOR = "::"
"""Between the name of a deck and the name of its subdeck."""
ANKI_ONLY = "anki_only"
"""The key of options that only Anki uses, among the settings of a deck. They are not inherited."""
LEECH = "leech"
"""The tag of notes that are often forgotten."""

_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


class NumberedId(BrandedId, prefix="id"):
    """An id that agents see: a prefix and the number in the database."""

    __slots__ = ()

    @classmethod
    def of(cls, number: int) -> Self:
        """The id of the row with that number."""
        return cls(f"{cls.prefix}_{number}")

    @property
    def number(self) -> int:
        """The number in the database; 0, which no row has, if the id has no valid number."""
        digits = self[len(self.prefix) + 1 :]
        return int(digits) if _NUMBER.fullmatch(digits) else 0


class DeckId(NumberedId, prefix="deck"):
    """The id of a deck, such as deck_1."""


class DeckName(DeckId, prefix="deck"):
    """The name of a deck where an id may stand. It has no number; `decks.find` looks it up."""

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        return str.__new__(cls, value)

    @property
    def number(self) -> int:
        """0, which no row has."""
        return 0


class NoteId(NumberedId, prefix="note"):
    """The id of a note, such as note_1."""


class CardId(NumberedId, prefix="card"):
    """The id of a card, such as card_1."""


class ReviewId(NumberedId, prefix="review"):
    """The id of a review, such as review_1."""


# --- scheduling --------------------------------------------------------------------------------------------


class CardState(IntEnum):
    """The state of a card. Learning, review and relearning have the numbers of FSRS."""

    NEW = 0
    LEARNING = 1
    REVIEW = 2
    RELEARNING = 3

    @property
    def word(self) -> str:
        """The name that agents see."""
        return self.name.lower()


Grade = Literal["again", "hard", "good", "easy"]
RATINGS: Mapping[Grade, int] = {"again": 1, "hard": 2, "good": 3, "easy": 4}
GRADES: Mapping[int, Grade] = {number: word for word, number in RATINGS.items()}

Dice = Callable[[int, int], float]
"""Returns a number from 0 to 1 for a card's id and the number of its answers: the same for the same card and answer, so
that the interval that is shown is the one that is applied."""


def roll(card_id: int, answers: int) -> float:
    """The dice of production."""
    return crc32(b"%d %d" % (card_id, answers)) / 2**32


CLOCK_SKEW = timedelta(minutes=1)
"""How far another clock may be ahead of ours. Anki dates several answers of one millisecond a little ahead, too."""


@dataclass(frozen=True, slots=True)
class ClockAndRandom:
    """The clock and the dice that scheduling uses. Without dice, intervals are not fuzzed."""

    now: Callable[[], datetime]
    dice: Dice | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """The FSRS state of a card. A new card has no stability, no difficulty and no due date."""

    state: CardState = CardState.NEW
    step: int | None = None
    stability: float | None = None
    difficulty: float | None = None
    due: datetime | None = None
    last_review: datetime | None = None

    @property
    def interval(self) -> timedelta | None:
        """From the last review to the due date."""
        return self.due - self.last_review if self.due and self.last_review else None


@dataclass(frozen=True, slots=True)
class Preset:
    """How the cards of a deck are scheduled. Steps are in seconds."""

    desired_retention: float = 0.9
    learning_steps: tuple[int, ...] = (60, 600)
    relearning_steps: tuple[int, ...] = (600,)
    maximum_interval: int = 36_500
    new_per_day: int = 20
    reviews_per_day: int = 200
    leech_threshold: int = 8
    bury_siblings: bool = True
    parameters: tuple[float, ...] | None = None
    """The 21 parameters of FSRS-6; None for the defaults of the library."""

    def with_changes(self, changes: Mapping[str, Any]) -> "Preset":
        """This preset with the values that a subdeck sets. Unknown names, from a newer server, are ignored."""
        if not changes:  # the usual case
            return self
        names = {f.name for f in fields(self)}
        known = {name: value for name, value in changes.items() if name in names}
        # JSON stores a tuple as a list.
        return replace(self, **{name: tuple(v) if isinstance(v, list) else v for name, v in known.items()})  # pyright: ignore[reportUnknownArgumentType]


# --- decks, notes and cards --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deck:
    """A deck. `name` is the whole path, `preset` the values that the deck itself sets."""

    id: int
    name: str
    description: str
    preset: Mapping[str, Any]
    created_at: datetime

    @property
    def parent_names(self) -> tuple[str, ...]:
        """The names of its parents, the top deck first."""
        return parent_names(self.name)

    def is_in(self, name: str) -> bool:
        """Return whether the deck is another one or one of its subdecks."""
        mine, other = self.name.casefold(), name.casefold()
        return mine == other or mine.startswith(other + SEPARATOR)


def parent_names(name: str) -> tuple[str, ...]:
    """The names of the parents of a deck of this name, the top deck first."""
    parts = name.split(SEPARATOR)
    return tuple(SEPARATOR.join(parts[:length]) for length in range(1, len(parts)))


def parse_deck_name(text: str) -> str:
    """A deck's whole path, without spaces around its parts."""
    parts = [part.strip() for part in text.split(SEPARATOR)]
    if not all(parts):
        raise ValueError(f"the deck name {text!r} has an empty part; write for example Languages{SEPARATOR}French")
    return SEPARATOR.join(parts)


_ID = re.compile(r"(?P<kind>card|deck|note|review|user)_[A-Za-z0-9_-]+")


def parse_deck_reference(value: Any) -> DeckId:
    """The id of a deck, or its name. The id of something else is refused."""
    if not isinstance(value, str):
        raise ValueError("give the id or the name of a deck as text, such as deck_1")  # noqa: TRY004 - for pydantic
    text = value.strip()
    if not 0 < len(text) <= MAX_NAME_LENGTH:
        raise ValueError(f"the id or the name of a deck has 1 to {MAX_NAME_LENGTH} characters")
    if (match := _ID.fullmatch(text)) is None:
        return DeckName(text)
    if match["kind"] != "deck":
        raise ValueError(f"{text!r} is the id of a {match['kind']}, not of a deck")
    return DeckId(text)


def preset_of(deck: Deck, decks: Mapping[str, Deck]) -> Preset:
    """The preset that applies to a deck, inherited from its parents. `decks` is by folded name."""
    preset = Preset()
    for name in deck.parent_names:
        if (parent := decks.get(name.casefold())) is not None:
            preset = preset.with_changes(parent.preset)
    return preset.with_changes(deck.preset)


@dataclass(frozen=True, slots=True)
class CardTemplate:
    """The template of a card in Anki's template language: `{{Front}}`."""

    name: str
    front: str
    back: str


@dataclass(frozen=True, slots=True)
class NoteType:
    """The fields of notes and the templates of their cards. A cloze type has one template for all its cards."""

    name: str
    fields: tuple[str, ...]
    templates: tuple[CardTemplate, ...]
    is_cloze: bool = False
    css: str = ""
    id: int = 0


_ANSWER = "{{FrontSide}}<hr id=answer>"
BASIC = NoteType("Basic", ("Front", "Back"), (CardTemplate("Card 1", "{{Front}}", f"{_ANSWER}{{{{Back}}}}"),))
REVERSED = NoteType(
    "Basic (and reversed card)",
    ("Front", "Back"),
    (
        CardTemplate("Card 1", "{{Front}}", f"{_ANSWER}{{{{Back}}}}"),
        CardTemplate("Card 2", "{{Back}}", f"{_ANSWER}{{{{Front}}}}"),
    ),
)
CLOZE = NoteType(
    "Cloze",
    ("Text", "Back Extra"),
    (CardTemplate("Cloze", "{{cloze:Text}}", "{{cloze:Text}}<br>{{Back Extra}}"),),
    is_cloze=True,
)

NoteKind = Literal["basic", "basic-reversed", "cloze"]
BUILT_IN: Mapping[NoteKind, NoteType] = {"basic": BASIC, "basic-reversed": REVERSED, "cloze": CLOZE}
"""The note types that tools create, with Anki's names. Other note types come from imports."""


@dataclass(frozen=True, slots=True)
class Note:
    """A fact that a user wants to learn: a value for each field of its note type."""

    id: int
    type: NoteType
    values: tuple[str, ...]
    tags: tuple[str, ...]
    guid: str
    created_at: datetime
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class Card:
    """One question of a note. `ordinal` is the index of the template, or the number of the gap minus 1."""

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
    flag: int = 0
    ease: int = 0
    """`flag` and `ease` are Anki's, and kept for an export."""


@dataclass(frozen=True, slots=True)
class CardFace:
    """A card with both sides as plain text, its deck, its note type and its tags."""

    card: Card
    front: str
    back: str
    deck: str
    note_type: str
    tags: tuple[str, ...]
    media: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """One answer to one card. `interval_s` is the new interval in seconds, `last_interval_s` the one before."""

    id: int
    card_id: int
    rating: int
    reviewed_at: datetime
    duration_ms: int
    state: CardState
    """The state of the card before the answer."""
    interval_s: int
    last_interval_s: int
    stability: float | None
    difficulty: float | None


# --- preferences -------------------------------------------------------------------------------------------

_FURTHEST_DAY = 36_500


@dataclass(frozen=True, slots=True)
class Preferences:
    """How a user likes to learn."""

    timezone: str = "UTC"
    day_start_hour: int = 4
    """When a learning day begins: an answer after midnight may still belong to the day before."""
    session_minutes: int = 20
    focus: Literal["retention", "new-material", "balanced"] = "balanced"
    new_cards: Literal["after-reviews", "before-reviews", "mixed"] = "after-reviews"

    def date_of(self, at: datetime) -> date:
        """The date of the learning day of a time."""
        return date.fromordinal(self.day_counter()(at))

    def day_counter(self) -> Callable[[datetime], int]:
        """A function that numbers the learning days: the ordinal of the date of a time."""
        zone, first_hour = ZoneInfo(self.timezone), self.day_start_hour

        def day_number(at: datetime) -> int:
            local = at.astimezone(zone)
            return local.toordinal() - (local.hour < first_hour)

        return day_number

    def days_between(self, since: datetime, until: datetime) -> int:
        """How many learning days lie between two times; 0 if they are on the same day."""
        day_number = self.day_counter()
        return max(0, day_number(until) - day_number(since))

    def day_of(self, at: datetime) -> "Day":
        """The learning day of a time."""
        return self.day_on(self.date_of(at))

    def day_on(self, date: date) -> "Day":
        """The learning day of a date."""
        return Day(self._start(date), self._start(date + timedelta(days=1)))

    def day_start(self, now: datetime, days: int) -> datetime:
        """When the learning day begins that is this many days after today, within a hundred years."""
        days = max(-_FURTHEST_DAY, min(days, _FURTHEST_DAY))
        return self.day_on(self.date_of(now) + timedelta(days=days)).begins

    def _start(self, date: date) -> datetime:
        local = datetime(date.year, date.month, date.day, self.day_start_hour, tzinfo=ZoneInfo(self.timezone))
        return local.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Day:
    """A learning day in UTC: from `begins` to just before `ends`."""

    begins: datetime
    ends: datetime
