"""The content of an Anki package, as records. package_reader reads it from a file, package_writer writes it to one.

Cards refer to notes and decks, and reviews to cards, by their index in the package.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import chain
from typing import NamedTuple, Protocol

from mcp_noema.anki.deck_options import ANKI_DEFAULTS, AnkiOnlyOptions
from mcp_noema.model import CardState, NoteType, Preset, Schedule
from toolcharter import InvalidArguments

NOON = timedelta(hours=12)


class BadPackage(InvalidArguments):
    """The file is not an Anki package, or it is damaged or hostile. Nothing was changed."""


def damaged(problem: str) -> BadPackage:
    """The error for a file that a new export may fix."""
    return BadPackage(f"{problem} Export it again from Anki (File > Export).")


@dataclass(frozen=True, slots=True)
class PackageDeck:
    """A deck; `preset` is None if the file sets no options for it."""

    name: str
    description: str = ""
    preset: Preset | None = None
    anki_only: AnkiOnlyOptions = ANKI_DEFAULTS


@dataclass(frozen=True, slots=True)
class PackageNote:
    """A note; `guid` is the same in every collection."""

    guid: str
    type: NoteType
    values: tuple[str, ...]
    tags: tuple[str, ...]
    created_at: datetime
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class PackageCard:
    """A card; `note` and `deck` are indexes. `buried` applies to the day on which the package was written."""

    note: int
    deck: int
    ordinal: int
    position: int
    schedule: Schedule
    reps: int
    lapses: int
    suspended: bool
    buried: bool
    created_at: datetime
    flag: int = 0
    """The number of the coloured flag; 0 for none."""
    ease: int = 0
    """The ease of Anki's older scheduler, in thousandths; 0 if it is not known."""


class PackageReview(NamedTuple):
    """One answer; `card` is an index. `state` is the card's before the answer, `difficulty` the card's after it.

    A named tuple, because there are many: creating it is five times as fast as a frozen dataclass.
    """

    card: int
    rating: int
    reviewed_at: datetime
    duration_ms: int
    state: CardState
    interval_s: int
    last_interval_s: int
    difficulty: float | None = None
    ease: int | None = None
    """The ease after the answer, in thousandths, if it was not given with FSRS."""


class PackageLogEntry(NamedTuple):
    """An entry of Anki's log that is not an answer: a manual change, or cramming. `card` is an index.

    All other values are Anki's; a positive interval is days, a negative one seconds.
    """

    card: int
    at: datetime
    rating: int
    interval: int
    last_interval: int
    ease: int
    duration_ms: int
    kind: int


class PackageContent(Protocol):
    """The content of a package for an import, which reads it once, in the order of these properties."""

    @property
    def decks(self) -> tuple[PackageDeck, ...]: ...

    @property
    def written_at(self) -> datetime: ...

    @property
    def media(self) -> tuple[str, ...]: ...

    @property
    def notes(self) -> Iterable[PackageNote]: ...

    @property
    def cards(self) -> Iterable[PackageCard]: ...

    @property
    def log(self) -> Iterable[PackageReview | PackageLogEntry]:
        """Oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class Package:
    """A whole package in memory. A learning day begins at `day_start_hour` in `zone`."""

    decks: tuple[PackageDeck, ...]
    notes: tuple[PackageNote, ...]
    cards: tuple[PackageCard, ...]
    reviews: tuple[PackageReview, ...]
    written_at: datetime
    log_entries: tuple[PackageLogEntry, ...] = ()
    media: tuple[str, ...] = ()
    zone: tzinfo = UTC
    day_start_hour: int = 4

    @property
    def log(self) -> Iterator[PackageReview | PackageLogEntry]:
        """The answers, then the other entries of the log."""
        return chain(self.reviews, self.log_entries)


@dataclass(frozen=True, slots=True)
class CollectionCalendar:
    """Anki's day numbers: days since the collection was created. A day begins at `start_hour` in `zone`."""

    first: date
    zone: tzinfo
    start_hour: int

    def date_of(self, at: datetime) -> date:
        """The learning day of a time."""
        return (at.astimezone(self.zone) - timedelta(hours=self.start_hour)).date()

    def day_number(self, at: datetime) -> int:
        """The number of the learning day of a time."""
        return (self.date_of(at) - self.first).days

    def time_on(self, day_number: int, like: datetime | None) -> datetime:
        """A time on that day, as far into the day as `like` is into its own, so that intervals are whole days."""
        start = self._day_start(self.first + timedelta(days=day_number))
        offset = like.astimezone(self.zone) - self._day_start(self.date_of(like)) if like else NOON
        return (start + offset).astimezone(UTC)

    def _day_start(self, day: date) -> datetime:
        return datetime.combine(day, time(self.start_hour), self.zone)
