"""Writes an .apkg file that every Anki since 2.1 opens.

It has the form that Anki itself writes with "Support older Anki versions": a collection of schema 11 in the entry
collection.anki21. It holds all that the newer form does, and needs neither zstd nor protobuf.
"""

import hashlib
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from fsrs_rs_python import DEFAULT_PARAMETERS

from mcp_noema.anki.deck_options import DAY_SECONDS, to_json
from mcp_noema.anki.limits import ReadLimits
from mcp_noema.anki.package import (
    CollectionCalendar,
    Package,
    PackageCard,
    PackageDeck,
    PackageLogEntry,
    PackageNote,
    PackageReview,
)
from mcp_noema.anki.revlog import LEARNING, RELEARNING, REVIEW
from mcp_noema.model import CardState, NoteType, Preset
from toolcharter import Conflict
from toolcharter.files import new_file

_META = b"\x08\x02"
"""The entry `meta`: a protobuf message with the package version 2."""
_DEFAULT_DECK_NAME = "default"
_TABLES = """
CREATE TABLE col (
  id integer PRIMARY KEY, crt integer NOT NULL, mod integer NOT NULL, scm integer NOT NULL, ver integer NOT NULL,
  dty integer NOT NULL, usn integer NOT NULL, ls integer NOT NULL, conf text NOT NULL, models text NOT NULL,
  decks text NOT NULL, dconf text NOT NULL, tags text NOT NULL
);
CREATE TABLE notes (
  id integer PRIMARY KEY, guid text NOT NULL, mid integer NOT NULL, mod integer NOT NULL, usn integer NOT NULL,
  tags text NOT NULL, flds text NOT NULL, sfld integer NOT NULL, csum integer NOT NULL, flags integer NOT NULL,
  data text NOT NULL
);
CREATE TABLE cards (
  id integer PRIMARY KEY, nid integer NOT NULL, did integer NOT NULL, ord integer NOT NULL, mod integer NOT NULL,
  usn integer NOT NULL, type integer NOT NULL, queue integer NOT NULL, due integer NOT NULL, ivl integer NOT NULL,
  factor integer NOT NULL, reps integer NOT NULL, lapses integer NOT NULL, left integer NOT NULL, odue integer NOT NULL,
  odid integer NOT NULL, flags integer NOT NULL, data text NOT NULL
);
CREATE TABLE revlog (
  id integer PRIMARY KEY, cid integer NOT NULL, usn integer NOT NULL, ease integer NOT NULL, ivl integer NOT NULL,
  lastIvl integer NOT NULL, factor integer NOT NULL, time integer NOT NULL, type integer NOT NULL
);
CREATE TABLE graves (usn integer NOT NULL, oid integer NOT NULL, type integer NOT NULL);
CREATE INDEX ix_notes_usn ON notes (usn);
CREATE INDEX ix_cards_usn ON cards (usn);
CREATE INDEX ix_revlog_usn ON revlog (usn);
CREATE INDEX ix_cards_nid ON cards (nid);
CREATE INDEX ix_cards_sched ON cards (did, queue, due);
CREATE INDEX ix_revlog_cid ON revlog (cid);
CREATE INDEX ix_notes_csum ON notes (csum);
"""
_LOG_TABLE = "CREATE TEMP TABLE log (at, cid, usn, ease, ivl, lastIvl, factor, time, type);"
_FINISH = """
INSERT INTO revlog
SELECT number + max(at - number) OVER (ORDER BY number), cid, usn, ease, ivl, lastIvl, factor, time, type
FROM (SELECT *, row_number() OVER (ORDER BY at, rowid) AS number FROM log);
DROP TABLE log;
"""
"""The id of a review is its time in milliseconds; an id that is taken is replaced by the next free one."""
_COPY_BYTES = 1 << 20
_HTML_TAG = re.compile(r"<[^<>]*>")
_QUEUES = {CardState.NEW: 0, CardState.LEARNING: 1, CardState.REVIEW: 2, CardState.RELEARNING: 1}
_SUSPENDED_QUEUE, _BURIED_QUEUE = -1, -3
_LEARNING_QUEUE, _DAY_LEARNING_QUEUE = 1, 3
_REVLOG_KINDS = {
    CardState.NEW: LEARNING,
    CardState.LEARNING: LEARNING,
    CardState.REVIEW: REVIEW,
    CardState.RELEARNING: RELEARNING,
}
_DEFAULT_EASE = 2500
_EPOCH = datetime.fromtimestamp(0, UTC)


def write_package(package: Package, path: Path, *, overwrite: bool = False, limits: ReadLimits | None = None) -> int:
    """Write the file, and return its size. It appears when it is complete; on failure, nothing changes.

    A package that is too large to be read again is not written.
    """
    writer = PackageWriter(outline_of(package), path, limits)
    try:
        writer.add_notes(enumerate(package.notes))
        writer.add_cards(enumerate(package.cards))
        writer.add_reviews(package.reviews)
        writer.add_log_entries(package.log_entries)
        return writer.finish(overwrite=overwrite)
    finally:
        writer.close()


@dataclass(frozen=True, slots=True)
class PackageOutline:
    """The facts about a package that its first row depends on. Times are milliseconds since 1970."""

    decks: tuple[PackageDeck, ...]
    note_types: Sequence[NoteType]
    note_times: Sequence[int]
    """When each note was created."""
    card_times: Sequence[int]
    log_size: int
    """How many reviews and other entries the log has."""
    earliest: datetime
    """The earliest time of a note, a review or a schedule."""
    last_position: int
    written_at: datetime
    zone: tzinfo = UTC
    day_start_hour: int = 4


def outline_of(package: Package) -> PackageOutline:
    """The outline of a package that is in memory."""
    times = [package.written_at, *(note.created_at for note in package.notes)]
    times += [review.reviewed_at for review in package.reviews]
    times += [at for card in package.cards for at in (card.schedule.due, card.schedule.last_review) if at]
    return PackageOutline(
        decks=package.decks,
        note_types=list(dict.fromkeys(note.type for note in package.notes)),
        note_times=[milliseconds(note.created_at) for note in package.notes],
        card_times=[milliseconds(card.created_at) for card in package.cards],
        log_size=len(package.reviews) + len(package.log_entries),
        earliest=min(times),
        last_position=max((card.position for card in package.cards), default=0),
        written_at=package.written_at,
        zone=package.zone,
        day_start_hour=package.day_start_hour,
    )


class PackageWriter:
    """Writes a package page by page, so that it need not fit into memory.

    Notes and cards come with their index in the outline. Pages may be added from several threads, one after the other.
    """

    def __init__(self, outline: PackageOutline, path: Path, limits: ReadLimits | None = None) -> None:
        self._outline, self._path, self._limits = outline, path, limits or ReadLimits()
        _check_counts(outline, self._limits)
        self._ids, self._calendar = _AnkiIds(outline), _calendar(outline)
        self._folder = tempfile.TemporaryDirectory(prefix="anki-")
        self._collection = Path(self._folder.name) / "collection"
        self._connection = sqlite3.connect(self._collection, check_same_thread=False)
        self._connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_TABLES} {_LOG_TABLE}")
        self._connection.execute(_insert("col", 13), _col_row(outline, self._ids, self._calendar))

    def add_notes(self, notes: Iterable[tuple[int, PackageNote]]) -> None:
        """Add notes with their indexes."""
        self._connection.executemany(_insert("notes", 11), _note_rows(notes, self._ids))

    def add_cards(self, cards: Iterable[tuple[int, PackageCard]]) -> None:
        """Add cards with their indexes."""
        rows = _card_rows(cards, self._outline, self._ids, self._calendar)
        self._connection.executemany(_insert("cards", 18), rows)

    def add_reviews(self, reviews: Iterable[PackageReview]) -> None:
        """Add reviews, in any order."""
        self._connection.executemany(_insert("log", 9), _revlog_rows(reviews, self._ids))

    def add_log_entries(self, entries: Iterable[PackageLogEntry]) -> None:
        """Add other entries of the log, in any order."""
        self._connection.executemany(_insert("log", 9), _other_revlog_rows(entries, self._ids))

    def finish(self, *, overwrite: bool) -> int:
        """Put the complete file into its place. Returns its size in bytes."""
        self._connection.executescript(_FINISH)
        self._connection.commit()
        self._connection.close()
        if (size := self._collection.stat().st_size) > self._limits.collection_bytes:
            raise _too_large(f"{size:,} bytes", f"{self._limits.collection_bytes:,}")
        archive = Path(self._folder.name) / "archive"
        _write_archive(self._collection, archive, self._outline.written_at)
        _publish(archive, self._path, overwrite=overwrite)
        return archive.stat().st_size

    def close(self) -> None:
        """Remove what is not finished."""
        self._connection.close()
        self._folder.cleanup()


def _check_counts(outline: PackageOutline, limits: ReadLimits) -> None:
    counts = {"notes": len(outline.note_times), "cards": len(outline.card_times), "revlog": outline.log_size}
    for table, count in counts.items():
        if count > (max_rows := limits.rows_of(table)):
            raise _too_large(f"{count:,} {'reviews' if table == 'revlog' else table}", f"{max_rows:,}")


def _too_large(what: str, largest: str) -> Conflict:
    return Conflict(
        f"The export has {what}, but no more than {largest} can be imported again. Nothing was written. Export the "
        "decks one by one with deckId."
    )


def _publish(archive: Path, path: Path, *, overwrite: bool) -> None:
    """Copy the finished file to its place."""
    with archive.open("rb") as source, new_file(path, overwrite=overwrite) as file:
        shutil.copyfileobj(source, file)


def _write_archive(collection: Path, archive: Path, written_at: datetime) -> None:
    with ZipFile(archive, "w") as file:

        def add(name: str, content: IO[bytes]) -> None:
            info = ZipInfo(name, written_at.timetuple()[:6])
            info.external_attr, info.compress_type = 0o600 << 16, ZIP_DEFLATED
            with file.open(info, "w") as entry:
                shutil.copyfileobj(content, entry, _COPY_BYTES)

        add("meta", BytesIO(_META))
        with collection.open("rb") as content:
            add("collection.anki21", content)
        add("media", BytesIO(b"{}"))


def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - our own constants


# --- ids ---------------------------------------------------------------------------------------------------


def milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(milliseconds=1)


def _unique(timestamps: Sequence[int]) -> list[int]:
    """Ids from creation times, in milliseconds; an id that is taken is replaced by the next free one."""
    ids = [0] * len(timestamps)
    last = 0
    for index in sorted(range(len(timestamps)), key=timestamps.__getitem__):
        ids[index] = last = max(timestamps[index], last + 1)
    return ids


class _AnkiIds:
    """The ids of everything in a package but the log."""

    def __init__(self, package: PackageOutline) -> None:
        self.notes, self.cards = _unique(package.note_times), _unique(package.card_times)
        first = milliseconds(package.written_at)
        is_default = [deck.name.casefold() == _DEFAULT_DECK_NAME for deck in package.decks]
        self.decks = [1 if default else first + index for index, default in enumerate(is_default)]
        options = dict.fromkeys((deck.preset, deck.anki_only) for deck in package.decks if deck.preset)
        self.options = {each: first + index for index, each in enumerate(options)}
        type_ids = _unique([_note_type_id(note_type) for note_type in package.note_types])
        self.note_types = dict(zip(package.note_types, type_ids, strict=True))


def _note_type_id(note_type: NoteType) -> int:
    """The same in every export, so that Anki recognizes the type. It looks like a timestamp, as all ids do."""
    key = "\x1f".join((note_type.name, str(note_type.is_cloze), *note_type.fields))
    return 10**12 + int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) % 10**12


# --- the table col -----------------------------------------------------------------------------------------


def _calendar(package: PackageOutline) -> CollectionCalendar:
    """A calendar that begins with the earliest day in the package."""
    calendar = CollectionCalendar(date.min, package.zone, package.day_start_hour)
    return CollectionCalendar(calendar.date_of(package.earliest), package.zone, package.day_start_hour)


def _col_row(package: PackageOutline, ids: _AnkiIds, calendar: CollectionCalendar) -> tuple[Any, ...]:
    created_at = datetime.combine(calendar.first, time(calendar.start_hour), calendar.zone)
    minutes_west = -(created_at.utcoffset() or timedelta()) // timedelta(minutes=1)
    written = milliseconds(package.written_at)
    settings = {
        "activeDecks": [1],
        "curDeck": 1,
        "newSpread": 0,
        "collapseTime": 1200,
        "timeLim": 0,
        "estTimes": True,
        "dueCounts": True,
        "curModel": next(iter(ids.note_types.values()), None),
        "nextPos": 1 + package.last_position,
        "sortType": "noteFld",
        "sortBackwards": False,
        "addToCur": True,
        "schedVer": 2,
        "sched2021": True,
        "creationOffset": minutes_west,
        "rollover": calendar.start_hour,
        "fsrs": True,
    }
    decks = {
        deck_id: _deck_json(deck, deck_id, ids, written) for deck, deck_id in zip(package.decks, ids.decks, strict=True)
    }
    decks.setdefault(1, _deck_json(PackageDeck("Default"), 1, ids, 0))
    options = {1: to_json(Preset(), 1, "Default", 0)}
    names = {(deck.preset, deck.anki_only): deck.name for deck in reversed(package.decks)}
    options |= {
        options_id: to_json(preset, options_id, names[preset, anki_only], written // 1000, anki_only)
        for (preset, anki_only), options_id in ids.options.items()
    }
    note_types = {
        type_id: _note_type_json(note_type, type_id, written) for note_type, type_id in ids.note_types.items()
    }
    json_columns = [json.dumps(value, ensure_ascii=False) for value in (settings, note_types, decks, options, {})]
    return (1, int(created_at.timestamp()), written, written, 11, 0, 0, 0, *json_columns)


def _deck_json(deck: PackageDeck, id: int, ids: _AnkiIds, written: int) -> dict[str, Any]:
    return {
        "id": id,
        "mod": written // 1000,
        "name": deck.name,
        "usn": -1,
        "lrnToday": [0, 0],
        "revToday": [0, 0],
        "newToday": [0, 0],
        "timeToday": [0, 0],
        "collapsed": False,
        "browserCollapsed": False,
        "desc": deck.description,
        "dyn": 0,
        "conf": ids.options[deck.preset, deck.anki_only] if deck.preset else 1,
        "extendNew": 0,
        "extendRev": 0,
    }


def _note_type_json(note_type: NoteType, id: int, written: int) -> dict[str, Any]:
    fields = [
        {"name": name, "ord": ordinal, "sticky": False, "rtl": False, "font": "Arial", "size": 20}
        for ordinal, name in enumerate(note_type.fields)
    ]
    templates = [
        {
            "name": template.name,
            "ord": ordinal,
            "qfmt": template.front,
            "afmt": template.back,
            "bqfmt": "",
            "bafmt": "",
            "did": None,
        }
        for ordinal, template in enumerate(note_type.templates)
    ]
    return {
        "id": id,
        "name": note_type.name,
        "type": int(note_type.is_cloze),
        "mod": written // 1000,
        "usn": -1,
        "sortf": 0,
        "did": None,
        "tmpls": templates,
        "flds": fields,
        "css": note_type.css,
        "latexPre": "",
        "latexPost": "",
        "latexsvg": False,
        "req": [],
    }


# --- notes, cards and revlog -------------------------------------------------------------------------------


def _note_rows(notes: Iterable[tuple[int, PackageNote]], ids: _AnkiIds) -> Iterator[tuple[Any, ...]]:
    for index, note in notes:
        note_id = ids.notes[index]
        sort_field = unescape(_HTML_TAG.sub("", note.values[0])).strip()
        tags = f" {' '.join(note.tags)} " if note.tags else ""
        modified = int(note.modified_at.timestamp())
        values = "\x1f".join(note.values)
        type_id = ids.note_types[note.type]
        yield note_id, note.guid, type_id, modified, -1, tags, values, sort_field, _checksum(sort_field), 0, ""


def _checksum(text: str) -> int:
    """The checksum by which Anki finds notes with the same first field."""
    return int.from_bytes(hashlib.sha1(text.encode(), usedforsecurity=False).digest()[:4])


def _card_rows(
    cards: Iterable[tuple[int, PackageCard]], package: PackageOutline, ids: _AnkiIds, calendar: CollectionCalendar
) -> Iterator[tuple[Any, ...]]:
    written, today = int(package.written_at.timestamp()), calendar.day_number(package.written_at)
    for index, card in cards:
        card_id = ids.cards[index]
        preset = package.decks[card.deck].preset or Preset()
        due, interval, left = _due_columns(card, preset, calendar, today)
        queue = _SUSPENDED_QUEUE if card.suspended else _BURIED_QUEUE if card.buried else _QUEUES[card.schedule.state]
        if queue == _LEARNING_QUEUE and _ends_on_later_day(card, calendar, today):
            queue = _DAY_LEARNING_QUEUE
        references = (card_id, ids.notes[card.note], ids.decks[card.deck], card.ordinal, written, -1)
        ease = card.ease or (_DEFAULT_EASE if interval else 0)
        scheduling = (int(card.schedule.state), queue, due, interval, ease, card.reps, card.lapses, left, 0, 0)
        yield (*references, *scheduling, card.flag, _card_data(card, preset))


def _due_columns(card: PackageCard, preset: Preset, calendar: CollectionCalendar, today: int) -> tuple[int, int, int]:
    """The columns due, ivl (in days) and left (the number of steps left)."""
    schedule = card.schedule
    if schedule.state is CardState.NEW or schedule.due is None:
        return card.position, 0, 0
    if schedule.state is CardState.REVIEW:
        due = calendar.day_number(schedule.due)
        return due, max(due - calendar.day_number(schedule.last_review), 1) if schedule.last_review else 1, 0
    is_learning = schedule.state is CardState.LEARNING
    steps = preset.learning_steps if is_learning else preset.relearning_steps
    left = max(len(steps) - (schedule.step or 0), 1)
    is_later = _ends_on_later_day(card, calendar, today)
    due = calendar.day_number(schedule.due) if is_later else int(schedule.due.timestamp())
    return due, 0 if is_learning else max(round(schedule.stability or 1), 1), left


def _ends_on_later_day(card: PackageCard, calendar: CollectionCalendar, today: int) -> bool:
    """Whether the step of a card ends after today. Anki then has the day, not the time."""
    return card.schedule.due is not None and calendar.day_number(card.schedule.due) > today


def _card_data(card: PackageCard, preset: Preset) -> str:
    """The column data: JSON with the FSRS memory state."""
    schedule = card.schedule
    if schedule.state is CardState.NEW:
        return "{}"
    data: dict[str, Any] = {"pos": card.position}
    if schedule.stability is not None and schedule.difficulty is not None:
        decay = (preset.parameters or DEFAULT_PARAMETERS)[20]
        data |= {"s": schedule.stability, "d": schedule.difficulty, "dr": preset.desired_retention, "decay": decay}
    if schedule.last_review is not None:
        data["lrt"] = int(schedule.last_review.timestamp())
    return json.dumps(data)


def _revlog_rows(reviews: Iterable[PackageReview], ids: _AnkiIds) -> Iterator[tuple[Any, ...]]:
    for review in reviews:
        difficulty = review.difficulty
        ease = review.ease or 0 if difficulty is None else round(((difficulty - 1) / 9 + 0.1) * 1000)
        intervals = (_interval(review.interval_s), _interval(review.last_interval_s))
        kind = _REVLOG_KINDS[review.state]
        at, card_id = milliseconds(review.reviewed_at), ids.cards[review.card]
        yield at, card_id, -1, review.rating, *intervals, ease, review.duration_ms, kind


def _other_revlog_rows(entries: Iterable[PackageLogEntry], ids: _AnkiIds) -> Iterator[tuple[Any, ...]]:
    for card, at, rating, *rest in entries:
        yield milliseconds(at), ids.cards[card], -1, rating, *rest


def _interval(seconds: int) -> int:
    """Positive days, or negative seconds if it is less than a day."""
    return seconds // DAY_SECONDS if seconds >= DAY_SECONDS else -seconds
