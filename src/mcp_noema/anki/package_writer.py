"""A Package -> an .apkg file that every Anki since 2.1 opens.

It is the form that Anki itself writes with "Support older Anki versions": a collection of schema 11, described in
JSON, under the name collection.anki21. It keeps all that the newer form does, and needs neither zstd nor protobuf.
"""

import hashlib
import json
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from fsrs.scheduler import DEFAULT_PARAMETERS

from mcp_core import Conflict
from mcp_noema.anki.deck_options import DAY, as_json
from mcp_noema.anki.memory_state import LEARNING, RELEARNING, REVIEW
from mcp_noema.anki.package import DayCount, Package, PackedCard, PackedDeck, PackedNote, PackedReview
from mcp_noema.model import NoteType, Preset, State

_VERSION = b"\x08\x02"
"""The message of the entry `meta`: version 2, collection.anki21."""
_DEFAULT = "default"
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
_TAG = re.compile(r"<[^>]*>")
_QUEUES = {State.NEW: 0, State.LEARNING: 1, State.REVIEW: 2, State.RELEARNING: 1}
_SUSPENDED, _BURIED = -1, -3
_KINDS = {State.NEW: LEARNING, State.LEARNING: LEARNING, State.REVIEW: REVIEW, State.RELEARNING: RELEARNING}
_EASE = 2500
_EPOCH = datetime.fromtimestamp(0, UTC)


def write_package(package: Package, path: Path, *, overwrite: bool = False) -> None:
    """Write it, or leave what is there as it is: the file appears when it is whole."""
    # Beside the target, so that it can be moved into place in one step.
    with tempfile.TemporaryDirectory(prefix=".anki-", dir=path.parent) as folder:
        collection, archive = Path(folder) / "collection", Path(folder) / "archive"
        with closing(sqlite3.connect(collection)) as connection:
            _fill(connection, package)
        _pack(collection, archive, package.written_at)
        if not overwrite:
            _reserve(path)
        archive.replace(path)


def _reserve(path: Path) -> None:
    """Take the name, unless someone has."""
    try:
        path.open("xb").close()
    except FileExistsError:
        raise Conflict(f"{path.name!r} is there already. Give another name, or overwrite: true.") from None


def _pack(collection: Path, archive: Path, written_at: datetime) -> None:
    entries = {"meta": _VERSION, "collection.anki21": collection.read_bytes(), "media": b"{}"}
    with ZipFile(archive, "w") as file:
        for name, content in entries.items():
            info = ZipInfo(name, written_at.timetuple()[:6])
            info.external_attr = 0o600 << 16
            file.writestr(info, content, ZIP_DEFLATED)


def _fill(connection: sqlite3.Connection, package: Package) -> None:
    ids = _Ids(package)
    days = _days(package)
    connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_TABLES}")
    connection.execute(_insert("col", 13), _collection(package, ids, days))
    connection.executemany(_insert("notes", 11), _notes(package.notes, ids))
    connection.executemany(_insert("cards", 18), _cards(package, ids, days))
    connection.executemany(_insert("revlog", 9), _reviews(package.reviews, ids))
    connection.commit()


def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - names of ours


# --- ids ---------------------------------------------------------------------------------------------------


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _unique(wanted: Sequence[int]) -> list[int]:
    """Ids are moments, and no two things have the same: who comes later gets the next that is free."""
    ids = [0] * len(wanted)
    last = 0
    for place in sorted(range(len(wanted)), key=wanted.__getitem__):
        ids[place] = last = max(wanted[place], last + 1)
    return ids


class _Ids:
    """What Anki calls the things in a package."""

    def __init__(self, package: Package) -> None:
        self.notes = _unique([_milliseconds(note.created_at) for note in package.notes])
        self.cards = _unique([_milliseconds(card.created_at) for card in package.cards])
        self.reviews = _unique([_milliseconds(review.reviewed_at) for review in package.reviews])
        first = _milliseconds(package.written_at)
        is_default = [deck.name.casefold() == _DEFAULT for deck in package.decks]
        self.decks = [1 if default else first + place for place, default in enumerate(is_default)]
        presets = dict.fromkeys(deck.preset for deck in package.decks if deck.preset)
        self.presets = {preset: first + place for place, preset in enumerate(presets)}
        types = dict.fromkeys(note.type for note in package.notes)
        self.types = dict(zip(types, _unique([_type_id(each) for each in types]), strict=True))


def _type_id(type: NoteType) -> int:
    """The same in every export, so that Anki knows the type again. It looks like a moment, as all ids do."""
    told = "\x1f".join((type.name, str(type.is_cloze), *type.fields))
    return 10**12 + int.from_bytes(hashlib.sha256(told.encode()).digest()[:8]) % 10**12


# --- what the collection says about itself -----------------------------------------------------------------


def _days(package: Package) -> DayCount:
    """Counted from the first day that anything in the package speaks of."""
    moments = [package.written_at, *(note.created_at for note in package.notes)]
    moments += [review.reviewed_at for review in package.reviews]
    moments += [moment for card in package.cards for moment in (card.schedule.due, card.schedule.last_review) if moment]
    count = DayCount(date.min, package.zone, package.day_start_hour)
    return DayCount(count.date_of(min(moments)), package.zone, package.day_start_hour)


def _collection(package: Package, ids: _Ids, days: DayCount) -> tuple[Any, ...]:
    began = datetime.combine(days.first, time(days.hour), days.zone)
    west = -(began.utcoffset() or timedelta()) // timedelta(minutes=1)
    written = _milliseconds(package.written_at)
    settings = {
        "activeDecks": [1],
        "curDeck": 1,
        "newSpread": 0,
        "collapseTime": 1200,
        "timeLim": 0,
        "estTimes": True,
        "dueCounts": True,
        "curModel": next(iter(ids.types.values()), None),
        "nextPos": 1 + max((card.position for card in package.cards), default=0),
        "sortType": "noteFld",
        "sortBackwards": False,
        "addToCur": True,
        "schedVer": 2,
        "sched2021": True,
        "creationOffset": west,
        "rollover": days.hour,
        "fsrs": True,
    }
    decks = {key: _deck(deck, key, ids, written) for deck, key in zip(package.decks, ids.decks, strict=True)}
    decks.setdefault(1, _deck(PackedDeck("Default"), 1, ids, 0))
    options = {1: as_json(Preset(), 1, "Default", 0)}
    names = {deck.preset: deck.name for deck in reversed(package.decks)}
    options |= {key: as_json(preset, key, names[preset], written // 1000) for preset, key in ids.presets.items()}
    types = {key: _type(each, key, written) for each, key in ids.types.items()}
    described = [json.dumps(each, ensure_ascii=False) for each in (settings, types, decks, options, {})]
    return (1, int(began.timestamp()), written, written, 11, 0, 0, 0, *described)


def _deck(deck: PackedDeck, id: int, ids: _Ids, written: int) -> dict[str, Any]:
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
        "conf": ids.presets[deck.preset] if deck.preset else 1,
        "extendNew": 0,
        "extendRev": 0,
    }


def _type(type: NoteType, id: int, written: int) -> dict[str, Any]:
    fields = [
        {"name": name, "ord": place, "sticky": False, "rtl": False, "font": "Arial", "size": 20}
        for place, name in enumerate(type.fields)
    ]
    templates = [
        {"name": each.name, "ord": place, "qfmt": each.front, "afmt": each.back, "bqfmt": "", "bafmt": "", "did": None}
        for place, each in enumerate(type.templates)
    ]
    return {
        "id": id,
        "name": type.name,
        "type": int(type.is_cloze),
        "mod": written // 1000,
        "usn": -1,
        "sortf": 0,
        "did": None,
        "tmpls": templates,
        "flds": fields,
        "css": type.css,
        "latexPre": "",
        "latexPost": "",
        "latexsvg": False,
        "req": [],
    }


# --- rows --------------------------------------------------------------------------------------------------


def _notes(notes: Sequence[PackedNote], ids: _Ids) -> Iterator[tuple[Any, ...]]:
    for note, key in zip(notes, ids.notes, strict=True):
        plain = unescape(_TAG.sub("", note.values[0])).strip()
        tags = f" {' '.join(note.tags)} " if note.tags else ""
        modified = int(note.modified_at.timestamp())
        values = "\x1f".join(note.values)
        yield key, note.guid, ids.types[note.type], modified, -1, tags, values, plain, _checksum(plain), 0, ""


def _checksum(text: str) -> int:
    """By which Anki finds notes that begin alike."""
    return int.from_bytes(hashlib.sha1(text.encode(), usedforsecurity=False).digest()[:4])


def _cards(package: Package, ids: _Ids, days: DayCount) -> Iterator[tuple[Any, ...]]:
    written = int(package.written_at.timestamp())
    for card, key in zip(package.cards, ids.cards, strict=True):
        preset = package.decks[card.deck].preset or Preset()
        queue = _SUSPENDED if card.suspended else _BURIED if card.buried else _QUEUES[card.schedule.state]
        due, interval, left = _dates(card, preset, days)
        begin = (key, ids.notes[card.note], ids.decks[card.deck], card.ordinal, written, -1)
        dates = (int(card.schedule.state), queue, due, interval, _EASE if interval else 0)
        yield (*begin, *dates, card.reps, card.lapses, left, 0, 0, 0, _data(card, preset))


def _dates(card: PackedCard, preset: Preset, days: DayCount) -> tuple[int, int, int]:
    """When it is due, its interval in days, and how many steps are left to it, as Anki counts them."""
    schedule = card.schedule
    if schedule.state is State.NEW or schedule.due is None:
        return card.position, 0, 0
    if schedule.state is State.REVIEW:
        due = days.number(schedule.due)
        return due, max(due - days.number(schedule.last_review), 1) if schedule.last_review else 1, 0
    learning = schedule.state is State.LEARNING
    steps = preset.learning_steps if learning else preset.relearning_steps
    left = max(len(steps) - (schedule.step or 0), 1)
    return int(schedule.due.timestamp()), 0 if learning else max(round(schedule.stability or 1), 1), left


def _data(card: PackedCard, preset: Preset) -> str:
    schedule = card.schedule
    if schedule.state is State.NEW:
        return "{}"
    kept: dict[str, Any] = {"pos": card.position}
    if schedule.stability is not None and schedule.difficulty is not None:
        decay = (preset.parameters or DEFAULT_PARAMETERS)[20]
        kept |= {"s": schedule.stability, "d": schedule.difficulty, "dr": preset.desired_retention, "decay": decay}
    if schedule.last_review is not None:
        kept["lrt"] = int(schedule.last_review.timestamp())
    return json.dumps(kept)


def _reviews(reviews: Sequence[PackedReview], ids: _Ids) -> Iterator[tuple[Any, ...]]:
    for review, key in zip(reviews, ids.reviews, strict=True):
        difficulty = review.difficulty
        ease = 0 if difficulty is None else round(((difficulty - 1) / 9 + 0.1) * 1000)
        intervals = (_interval(review.interval_s), _interval(review.last_interval_s))
        yield key, ids.cards[review.card], -1, review.rating, *intervals, ease, review.duration_ms, _KINDS[review.state]


def _interval(seconds: int) -> int:
    """Days, or seconds below 0."""
    return seconds // DAY if seconds >= DAY else -seconds
