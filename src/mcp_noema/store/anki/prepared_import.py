"""The first half of an import: the content of an Anki package as rows in temporary files, without the database."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self, TypeVar

from mcp_noema.anki.package import PackageCard, PackageContent, PackageDeck, PackageLogEntry, PackageNote
from mcp_noema.model import (
    CLOCK_SKEW,
    MAX_FIELD_LENGTH,
    MAX_TAG_LENGTH,
    Note,
    NoteType,
)
from mcp_noema.store.anki.row_file import RowFile
from mcp_noema.store.notes import note_values
from mcp_noema.store.row_mapping import schedule_values

CHUNK = 1000
"""How many rows one statement writes. Other users get turns between statements."""

NO_CARD = "notes that make no card"
DUPLICATE = "notes and cards that are in the file twice"
TOO_LONG = f"notes with a field of more than {MAX_FIELD_LENGTH:,} characters"
NO_TEMPLATE = "cards without a template in their note type"
SKIPPED_NOTE = "cards of skipped notes"
FUTURE = "reviews dated in the future"
LONG_TAG = f"tags of more than {MAX_TAG_LENGTH} characters"

T = TypeVar("T")
Row = dict[str, Any]


ReportRows = Callable[[int], None]
"""Called with the number of rows since the last call."""
ReviewEntry = tuple[Any, ...]
"""The values of a PackageReview."""


class NoteEntry(NamedTuple):
    """A note of a package: its index, the number of its note type, and its row."""

    note: int
    type: int
    row: Row


class CardEntry(NamedTuple):
    """A card of a package: its index, the indexes of its note and deck, and its row."""

    card: int
    note: int
    deck: int
    buried: bool
    row: Row


def ignore_progress(_rows: int) -> None:
    pass


class PreparedImport:
    """A package as rows in temporary files, as far as possible without the database.

    Notes and cards are known by their index in the package.
    """

    def __init__(self) -> None:
        self.decks: tuple[PackageDeck, ...] = ()
        self.written_at = datetime.max.replace(tzinfo=UTC)
        self.media = 0
        self.note_types: dict[NoteType, int] = {}
        """Each note type with its number."""
        self.notes = RowFile[NoteEntry](CHUNK)
        self.cards = RowFile[CardEntry](CHUNK)
        self.reviews = RowFile[ReviewEntry](CHUNK)
        self.log_entries = RowFile[PackageLogEntry](CHUNK)
        self.has_card = bytearray()
        """Of each note, whether it makes a card."""
        self.last_answers: list[datetime | None] = []
        """Of each card, when it was last answered. The last review of a card without a log is only estimated."""
        self.skipped: Counter[str] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self.notes, self.cards, self.reviews, self.log_entries):
            file.close()

    def count_rows(self) -> int:
        return len(self.notes) + len(self.cards) + len(self.reviews) + len(self.log_entries)

    def read(self, package: PackageContent, now: datetime, report_rows: ReportRows = ignore_progress) -> None:
        """The long part of the work, which needs no database."""
        self.decks, self.written_at, self.media = package.decks, package.written_at, len(package.media)
        note_reader = _NoteReader(self)
        for note in _reported(package.notes, report_rows):
            note_reader.add(note)
        ordinals: set[int] = set()
        for index, card in enumerate(_reported(package.cards, report_rows)):
            self.last_answers.append(None)
            if reason := note_reader.reason_to_skip_card(card, ordinals):
                self.skipped[reason] += 1
            else:
                self.cards.append(CardEntry(index, card.note, card.deck, card.buried, _card_row(card, now)))
        note_reader.count_skipped()
        for entry in _reported(package.log, report_rows):
            if isinstance(entry, PackageLogEntry):
                self.log_entries.append(entry)
            elif entry.reviewed_at > now + CLOCK_SKEW:
                self.skipped[FUTURE] += 1
            else:
                self.last_answers[entry.card] = entry.reviewed_at
                self.reviews.append((*entry[:4], int(entry.state), *entry[5:]))


def _reported(items: Iterable[T], report_rows: ReportRows) -> Iterator[T]:
    for number, item in enumerate(items, start=1):
        yield item
        if number % CHUNK == 0:
            report_rows(CHUNK)


_CLOZE = -1
_MAX_ORDINALS = 1 << 16


class _NoteReader:
    """Reads the notes of a package, and decides which notes and cards are skipped."""

    def __init__(self, prepared: PreparedImport) -> None:
        self._prepared = prepared
        self._guids: set[str] = set()
        self._template_counts = array("q")
        self._reasons: dict[int, str] = {}
        self._long_tags: dict[int, int] = {}

    def add(self, note: PackageNote) -> None:
        index = len(self._template_counts)
        # A cloze note type has one template for all cards.
        self._template_counts.append(_CLOZE if note.type.is_cloze else len(note.type.templates))
        self._prepared.has_card.append(False)
        if note.guid in self._guids:
            self._reasons[index] = DUPLICATE
        elif any(len(value) > MAX_FIELD_LENGTH for value in note.values):
            self._reasons[index] = TOO_LONG
        else:
            short = tuple(tag for tag in note.tags if len(tag) <= MAX_TAG_LENGTH)
            if len(short) < len(note.tags):
                self._long_tags[index] = len(note.tags) - len(short)
            values = Note(0, note.type, note.values, short, note.guid, note.created_at, note.modified_at)
            types = self._prepared.note_types
            number = types.setdefault(note.type, len(types))
            self._prepared.notes.append(NoteEntry(index, number, note_values(values, 0)))
        self._guids.add(note.guid)

    def reason_to_skip_card(self, card: PackageCard, ordinals: set[int]) -> str | None:
        if self._template_counts[card.note] != _CLOZE and card.ordinal >= self._template_counts[card.note]:
            return NO_TEMPLATE
        self._prepared.has_card[card.note] = True
        if card.note in self._reasons:
            return SKIPPED_NOTE
        key = card.note * _MAX_ORDINALS + card.ordinal
        if key in ordinals:
            return DUPLICATE
        ordinals.add(key)
        return None

    def count_skipped(self) -> None:
        """Count what is skipped of the notes. Call it after all cards."""
        skipped = self._prepared.skipped
        for index, has_card in enumerate(self._prepared.has_card):
            reason = self._reasons.get(index)
            if reason != DUPLICATE and not has_card:
                reason = NO_CARD
            if reason:
                skipped[reason] += 1
            else:
                skipped[LONG_TAG] += self._long_tags.get(index, 0)


def _card_row(card: PackageCard, now: datetime) -> Row:
    schedule = card.schedule
    if schedule.last_review is not None and schedule.last_review > now + CLOCK_SKEW:
        # From a clock that was ahead. Unchanged, the card could not be answered until then.
        schedule = replace(schedule, last_review=now)
    return {
        **schedule_values(schedule, suspended=card.suspended),
        "ordinal": card.ordinal,
        "position": card.position,
        "reps": card.reps,
        "lapses": card.lapses,
        "buried_until": None,
        "created_at": card.created_at,
        "flag": card.flag,
        "ease": card.ease,
    }
