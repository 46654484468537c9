"""Packages imported into the database and exported from it: whole, in pages, and concurrently."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from mcp_core.db import Database, address, open_database
from mcp_noema.anki.package import Package, PackageCard, PackageDeck, PackageLogEntry, PackageNote, PackageReview
from mcp_noema.anki.package_reader import read_package
from mcp_noema.anki.package_writer import write_package
from mcp_noema.model import BASIC, CLOZE, REVERSED, CardState, CardTemplate, NoteType, Preset, Schedule
from mcp_noema.records import ImportTally
from mcp_noema.store.anki import anki_packages, exports, imports, prepared_import
from mcp_noema.store.anki.prepared_import import CHUNK, PreparedImport
from mcp_noema.store.opening import MIGRATIONS
from mcp_noema.store.tables import cards, decks, note_types, notes, reviews, users
from mcp_noema.store.users import set_preference
from tests.mcp_noema.anki.real_anki import WEIGHTS

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)
CREATED = datetime(2026, 10, 1, 8, 30, tzinfo=UTC)
ODD = NoteType("Odd", ("A", "B", "C"), (CardTemplate("One", "{{A}}", "{{B}}"),), css=".card { color: red }")


def at(**span: float) -> datetime:
    return CREATED + timedelta(**span)


def full_package() -> Package:
    """A package with every kind of content, as the reader returns it."""
    own = Preset(0.85, (30,), (60, 90), 365, 5, 50, 4, bury_siblings=False, parameters=tuple(WEIGHTS))
    schedules = (
        Schedule(),
        Schedule(CardState.LEARNING, 0, 0.123456789012345, 6.0, at(minutes=31), at(minutes=30)),
        Schedule(CardState.REVIEW, None, 12.345678901234567, 5.000000000000001, at(days=49), at(days=40)),
        Schedule(CardState.RELEARNING, 1, 1.5, 9.87, at(days=30, minutes=10), at(days=30)),
        Schedule(CardState.REVIEW, None, 100.0, 1.0, at(days=140), at(days=40)),
    )
    kinds = (BASIC, REVERSED, REVERSED, CLOZE, ODD)
    texts = (("a", "b"), ("Hund", "<b>dog</b>"), ("eau", "water & 水"), ("{{c1::x}} {{c4::y}}", ""), ("1", "2", "3"))
    return Package(
        decks=(PackageDeck("A", "About", own), PackageDeck("A::B", "", replace(own, new_per_day=9)), PackageDeck("C")),
        notes=tuple(
            PackageNote(f"guid {n}", kinds[n], texts[n], ("t::u", f"n{n}") if n else (), at(seconds=n), at(days=n))
            for n in range(5)
        ),
        cards=tuple(
            PackageCard(
                n,
                n % 2,
                (0, 0, 1, 3, 0)[n],
                7 * n,
                schedules[n],
                n,
                n // 2,
                suspended=n == 4,
                buried=n == 1,
                created_at=at(seconds=n),
                flag=n,
                ease=(0, 0, 2500, 2300, 1300)[n],
            )
            for n in range(5)
        ),
        reviews=tuple(
            PackageReview(card, 1 + n % 4, at(days=n, milliseconds=n), 900 + n, state, 86_400 * n, 600 - n, difficulty)
            for n, (card, state, difficulty) in enumerate(
                [
                    (1, CardState.NEW, 5.5),
                    (2, CardState.NEW, None),
                    (2, CardState.REVIEW, 10.0),
                    (3, CardState.REVIEW, None),
                ],
                start=1,
            )
        ),
        written_at=NOW,
        log_entries=(PackageLogEntry(2, at(days=3, hours=1), 0, 9, 4, 2500, 0, 4),),
        zone=UTC,
    )


@pytest_asyncio.fixture
async def database(db_url: str) -> AsyncIterator[Database]:
    async with open_database(address(db_url, "noema")) as opened:
        await MIGRATIONS.apply(opened)
        yield opened


async def import_package(database: Database, package: Package, owner: str = "ana") -> Any:
    with PreparedImport() as prepared:
        prepared.read(package, NOW)
        return await database.write(imports.write_package, owner, prepared, None, NOW)


async def export_package(database: Database, *, scheduling: bool = True) -> Package:
    export = await exports.start(database, "ana", None, NOW, scheduling=scheduling)
    kept = KeptPackage()

    async def ignore(_: int) -> None: ...

    await exports.write(database, export, kept, ignore)  # pyright: ignore[reportArgumentType]
    outline = export.outline()
    assert [len(outline.note_times), len(outline.card_times)] == [len(kept.notes), len(kept.cards)]
    assert outline.log_size == len(kept.reviews) + len(kept.entries)
    return Package(
        outline.decks,
        tuple(note for _, note in sorted(kept.notes, key=itemgetter(0))),
        tuple(card for _, card in sorted(kept.cards, key=itemgetter(0))),
        tuple(sorted(kept.reviews, key=lambda review: review.reviewed_at)),
        NOW,
        log_entries=tuple(kept.entries),
        zone=outline.zone,
        day_start_hour=outline.day_start_hour,
    )


class KeptPackage:
    """Takes the pages of an export, as the writer of files does."""

    def __init__(self) -> None:
        self.notes: list[Any] = []
        self.cards: list[Any] = []
        self.reviews: list[Any] = []
        self.entries: list[Any] = []
        self.add_notes, self.add_cards = self.notes.extend, self.cards.extend
        self.add_reviews, self.add_log_entries = self.reviews.extend, self.entries.extend


async def test_an_export_equals_the_import_to_the_last_digit(database: Database):
    package = full_package()
    await import_package(database, package)
    # A deck of its own has the defaults of ours, where the file said nothing.
    expected = replace(package, decks=(*package.decks[:2], PackageDeck("C", "", Preset())), zone=ZoneInfo("UTC"))
    assert await export_package(database) == expected


async def test_an_export_to_a_file_equals_the_imported_file(database: Database, tmp_path: Path):
    write_package(full_package(), tmp_path / "in.apkg")
    await import_package(database, read_package(tmp_path / "in.apkg"))
    write_package(await export_package(database), tmp_path / "out.apkg")
    again = read_package(tmp_path / "out.apkg")
    assert replace(again, decks=()) == replace(full_package(), decks=())


async def test_chunks_and_pages_do_not_change_the_result(database: Database, monkeypatch: pytest.MonkeyPatch):
    await import_package(database, full_package(), "bob")
    monkeypatch.setattr(prepared_import, "CHUNK", 2)
    monkeypatch.setattr(exports, "PAGE", 2)
    first = await import_package(database, full_package())
    assert (first.notes, first.cards, first.reviews) == (
        ImportTally(added=5),
        ImportTally(added=5),
        ImportTally(added=4),
    )
    again = await import_package(database, full_package())
    assert (again.notes, again.cards, again.reviews) == (
        ImportTally(unchanged=5),
        ImportTally(unchanged=5),
        ImportTally(unchanged=4),
    )
    assert replace(await export_package(database), decks=(), zone=UTC) == replace(full_package(), decks=())


async def test_an_export_reads_and_writes_one_page_after_the_other(database: Database, monkeypatch: pytest.MonkeyPatch):
    """All rows at once took 1.8 GB for 200,000 cards and 2 million reviews."""
    await import_package(database, full_package())
    monkeypatch.setattr(exports, "PAGE", 2)
    export = await exports.start(database, "ana", None, NOW, scheduling=True)
    pages: list[tuple[str, int]] = []
    progress: list[int] = []

    class Counted:
        def __getattr__(self, name: str) -> Any:
            return lambda rows: pages.append((name, len(list(rows))))

    async def report(done: int) -> None:
        progress.append(done)

    await exports.write(database, export, Counted(), report)  # pyright: ignore[reportArgumentType]
    assert [count for name, count in pages if name == "add_notes"] == [2, 2, 1]
    assert [count for name, count in pages if name == "add_cards"] == [2, 2, 1]
    assert [count for name, count in pages if name == "add_reviews"] == [1, 3, 0]
    assert progress == [2, 4, 5]


def test_an_import_does_not_keep_the_rows_in_memory():
    """All rows at once took 0.7 KB for each review."""
    count = 50_000

    class LongLog:
        decks, written_at, media = full_package().decks, NOW, ()
        notes, cards = full_package().notes, full_package().cards

        @property
        def log(self) -> Iterator[PackageReview]:
            for n in range(count):
                yield answer._replace(reviewed_at=at(seconds=n), duration_ms=1000 + n)

    answer = full_package().reviews[0]
    tracemalloc.start()
    try:
        with PreparedImport() as prepared:
            prepared.read(LongLog(), NOW)
            pages = [len(page) for page in prepared.reviews.pages()]
        assert pages == [CHUNK] * 50
        assert tracemalloc.get_traced_memory()[1] < 50 * count
    finally:
        tracemalloc.stop()


async def test_an_import_reports_the_rows_that_are_read_and_written(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_package(full_package(), tmp_path / "in.apkg")
    monkeypatch.setattr(prepared_import, "CHUNK", 2)
    monkeypatch.setattr(anki_packages, "_MIN_ROWS_TO_REPORT", 4)
    reports: list[tuple[int, int, str]] = []

    async def report(done: int, total: int, message: str) -> None:
        reports.append((done, total, message))

    await anki_packages.import_file(database, "ana", tmp_path / "in.apkg", None, NOW, report_progress=report)
    assert reports == [
        (0, 1, "Reading the file."),
        (4, 30, "4 of 15 rows read."),
        (8, 30, "8 of 15 rows read."),
        (12, 30, "12 of 15 rows read."),
        (15, 30, "The file has 5 notes, 5 cards and 4 reviews."),
        (19, 30, "4 of 15 rows written."),
        (24, 30, "9 of 15 rows written."),
        (29, 30, "14 of 15 rows written."),
        (30, 30, "Done."),
    ]


async def test_two_answers_in_one_second_of_a_file_are_both_added(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prepared_import, "CHUNK", 1)
    package = full_package()
    await import_package(database, replace(package, reviews=()))
    first = package.reviews[0]
    twice = replace(package, reviews=(first, first._replace(reviewed_at=first.reviewed_at + timedelta(milliseconds=9))))
    assert (await import_package(database, twice)).reviews == ImportTally(added=2)
    assert (await import_package(database, twice)).reviews == ImportTally(unchanged=2)


async def test_an_import_that_fails_changes_nothing(database: Database):
    broken = full_package().reviews[-1]._replace(rating=None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DBAPIError):
        await import_package(database, replace(full_package(), reviews=(*full_package().reviews[:-1], broken)))

    def count(connection: sa.Connection) -> list[int]:
        tables = (users, decks, note_types, notes, cards, reviews)
        return [connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() for table in tables]

    assert await database.read(count) == [0, 0, 0, 0, 0, 0]


async def test_concurrent_imports_do_not_add_a_package_twice(database: Database, tmp_path: Path):
    write_package(full_package(), tmp_path / "in.apkg")

    async def ignore_progress(_done: int, _total: int, _message: str) -> None: ...

    both = await asyncio.gather(
        *(
            anki_packages.import_file(database, "ana", tmp_path / "in.apkg", None, NOW, report_progress=ignore_progress)
            for _ in range(2)
        )
    )
    assert sorted((each.notes.added, each.cards.added, each.reviews.added) for each in both) == [(0, 0, 0), (5, 5, 4)]


async def test_an_export_has_the_days_of_the_user(database: Database, tmp_path: Path):
    await import_package(database, full_package())
    await database.write(set_preference, "ana", "timezone", "Asia/Kolkata", NOW)
    await database.write(set_preference, "ana", "day_start_hour", 2, NOW)
    package = await export_package(database)
    assert (package.zone, package.day_start_hour) == (ZoneInfo("Asia/Kolkata"), 2)
    write_package(package, tmp_path / "out.apkg")
    again = read_package(tmp_path / "out.apkg")
    assert again.zone.utcoffset(None) == timedelta(hours=5, minutes=30)
    assert [card.schedule for card in again.cards] == [card.schedule for card in full_package().cards]
