import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given, settings

from mcp_core import Conflict
from mcp_core.files.folder import Folder
from mcp_noema.anki.limits import ReadLimits
from mcp_noema.anki.package import Package, PackageCard, PackageDeck, PackageNote, PackageReview
from mcp_noema.anki.package_reader import read_package
from mcp_noema.anki.package_writer import milliseconds, write_package
from mcp_noema.model import BASIC, CardState, Preset, Schedule
from tests.mcp_noema.anki import real_anki
from tests.mcp_noema.anki.conftest import AnkiFiles
from tests.mcp_noema.anki.package_strategies import WRITTEN, packages
from tests.mcp_noema.anki.real_anki import WEIGHTS
from tests.thorough import examples

EMPTY = Package((), (), (), (), WRITTEN)


def test_anki_imports_the_same_cards_due_dates_memory_states_and_log(anki_files: AnkiFiles, tmp_path: Path):
    package = read_package(anki_files.files["anki21b.apkg"])
    write_package(package, tmp_path / "out.apkg")
    with real_anki.collection(tmp_path / "other") as col:
        col.set_config("fsrs", True)
        log = real_anki.import_file(col, tmp_path / "out.apkg")
        assert (len(log.new), log.found_notes) == (len(package.notes), len(package.notes))
        assert real_anki.anki_cards(col) == anki_files.cards
        assert real_anki.revlog(col) == anki_files.log


def test_anki_imports_decks_and_their_options(anki_files: AnkiFiles, tmp_path: Path):
    write_package(read_package(anki_files.files["anki21b.apkg"]), tmp_path / "out.apkg")
    with real_anki.collection(tmp_path / "other") as col:
        real_anki.import_file(col, tmp_path / "out.apkg")
        assert {each.name for each in col.decks.all_names_and_ids(skip_empty_default=True)} == {
            "Languages",
            "Languages::French",
            "Science",
            "Science::Physics",
        }
        french = col.decks.get(col.decks.id("Languages::French"))
        options = col.decks.get_config(french["conf"])
        kept = {name: options[name] for name in ("desiredRetention", "fsrsParams6", "buryInterdayLearning")}
        assert (french["desc"], options["new"]["delays"], options["new"]["perDay"]) == ("Words", [2.0, 15.0], 7)
        assert (options["rev"]["perDay"], options["rev"]["maxIvl"], options["rev"]["bury"]) == (50, 365, True)
        assert kept == {"desiredRetention": 0.93, "fsrsParams6": WEIGHTS, "buryInterdayLearning": True}


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        (ReadLimits(rows=6), "The export has 7 notes, but no more than 6 can be imported again."),
        (ReadLimits(reviews=8), "The export has 9 reviews, but no more than 8 can be imported again."),
        (ReadLimits(collection_bytes=9_999), "but no more than 9,999 can be imported again."),
    ],
)
def test_what_could_not_be_imported_again_is_not_written(
    anki_files: AnkiFiles, tmp_path: Path, limits: ReadLimits, problem: str
):
    package = read_package(anki_files.files["anki21b.apkg"])
    with pytest.raises(Conflict, match=problem):
        write_package(package, tmp_path / "out.apkg", limits=limits)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_replaced_by_a_link_is_not_followed(anki_files: AnkiFiles, tmp_path: Path):
    package = read_package(anki_files.files["anki21b.apkg"])
    (tmp_path / "files" / "mine").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    path = Folder(tmp_path / "files").file_to_write("mine/out.apkg", ".apkg")
    write_package(package, path)
    path.unlink()
    # After the path was checked.
    path.parent.rmdir()
    path.parent.symlink_to(tmp_path / "outside")
    for overwrite in (True, False):
        with pytest.raises(Conflict, match=r"'mine' was moved or replaced while it was used. Nothing was changed"):
            write_package(package, path, overwrite=overwrite)
    assert list((tmp_path / "outside").iterdir()) == []
    write_package(package, tmp_path / "outside" / "out.apkg")
    with pytest.raises(Conflict, match="'mine' was moved or replaced"):
        read_package(path)


def test_a_file_that_was_replaced_by_a_link_is_not_followed(anki_files: AnkiFiles, tmp_path: Path):
    package = read_package(anki_files.files["anki21b.apkg"])
    (tmp_path / "outside.apkg").write_bytes(b"mine")
    (tmp_path / "out.apkg").symlink_to(tmp_path / "outside.apkg")
    with pytest.raises(Conflict, match=r"'out.apkg' was moved or replaced"):
        read_package(tmp_path / "out.apkg")
    with pytest.raises(Conflict, match=r"'out.apkg' already exists"):
        write_package(package, tmp_path / "out.apkg")
    # The link is replaced, and what it points to stays.
    write_package(package, tmp_path / "out.apkg", overwrite=True)
    assert (tmp_path / "outside.apkg").read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.apkg", "outside.apkg"]


def test_anki_finds_nothing_to_fix_and_can_continue(anki_files: AnkiFiles, tmp_path: Path):
    write_package(read_package(anki_files.files["anki21b.apkg"]), tmp_path / "out.apkg")
    with real_anki.collection(tmp_path / "other") as col:
        col.set_config("fsrs", True)
        real_anki.import_file(col, tmp_path / "out.apkg")
        problems, is_fine = col.fix_integrity()
        assert is_fine, problems
        col.decks.select(col.decks.id("Languages"))
        col.sched.answerCard(col.sched.getCard(), 3)
        assert len(real_anki.revlog(col)) == len(anki_files.log) + 1


def test_a_last_review_that_anki_dates_a_second_before_its_log_has_the_time_of_the_log(tmp_path: Path):
    with real_anki.collection(tmp_path / "made") as col:
        (card_id,) = real_anki.add(col, "Home", "Basic", "front", "back")
        real_anki.answer_now(col, card_id, 3)
        ((answered_at,),) = col.db.all("SELECT id FROM revlog")
        col.db.execute("UPDATE cards SET data = json_set(data, '$.lrt', ?)", answered_at // 1000 - 1)
        package = read_package(real_anki.export(col, tmp_path / "home.apkg", legacy=False))
    last_review = package.cards[0].schedule.last_review
    assert last_review
    assert milliseconds(last_review) == answered_at
    write_package(package, tmp_path / "out.apkg")
    with real_anki.collection(tmp_path / "other") as col:
        real_anki.import_file(col, tmp_path / "out.apkg")
        problems, is_fine = col.fix_integrity()
        assert is_fine, problems


def test_an_export_by_anki_of_our_package_is_the_same_package(anki_files: AnkiFiles, tmp_path: Path):
    ours = read_package(anki_files.files["anki21b.apkg"])
    write_package(ours, tmp_path / "out.apkg")
    with real_anki.collection(tmp_path / "other") as col:
        col.set_config("fsrs", True)
        real_anki.import_file(col, tmp_path / "out.apkg")
        again = read_package(real_anki.export(col, tmp_path / "again.apkg", legacy=False))
    # Pictures are not exported, and Anki has note types of these names already.
    notes = [replace(note, type=replace(note.type, name=note.type.name.removesuffix("+"))) for note in again.notes]
    assert replace(again, written_at=ours.written_at, media=ours.media, notes=tuple(notes)) == ours


@settings(max_examples=examples(60))
@given(packages())
def test_a_package_round_trips(package: Package):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.apkg"
        write_package(package, path)
        assert read_package(path) == package


def test_a_step_that_ends_on_a_later_day_keeps_the_day_and_not_the_time(tmp_path: Path):
    answered = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
    schedule = Schedule(CardState.LEARNING, 0, 1.0, 5.0, answered + timedelta(days=2, hours=5), answered)
    note = PackageNote("guid", BASIC, ("a", "b"), (), answered, answered)
    card = PackageCard(0, 0, 0, 1, schedule, 1, 0, suspended=False, buried=False, created_at=answered, ease=2500)
    package = replace(EMPTY, decks=(PackageDeck("D", "", Preset()),), notes=(note,), cards=(card,), written_at=answered)
    write_package(package, tmp_path / "out.apkg")
    (found,) = read_package(tmp_path / "out.apkg").cards
    assert found.schedule.due == answered + timedelta(days=2)


def test_full_precision_survives(tmp_path: Path):
    moment = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
    schedule = Schedule(
        CardState.REVIEW, None, 12.345678901234567, 5.000000000000001, moment + timedelta(days=9), moment
    )
    note = PackageNote("guid", BASIC, ("a", "b"), (), moment, moment)
    card = PackageCard(0, 0, 0, 1, schedule, 3, 1, suspended=False, buried=False, created_at=moment, ease=2500)
    package = replace(EMPTY, decks=(PackageDeck("D", "", Preset()),), notes=(note,), cards=(card,))
    write_package(package, tmp_path / "out.apkg")
    assert read_package(tmp_path / "out.apkg") == package


def test_notes_cards_and_reviews_of_the_same_time_get_different_ids(tmp_path: Path):
    note = PackageNote("", BASIC, ("a", "b"), (), WRITTEN, WRITTEN)
    notes = tuple(replace(note, guid=f"guid {place}") for place in range(3))
    card = PackageCard(0, 0, 0, 1, Schedule(), 0, 0, suspended=False, buried=False, created_at=WRITTEN)
    cards = tuple(replace(card, note=place) for place in range(3))
    answer = PackageReview(0, 3, WRITTEN, 1000, CardState.NEW, 600, 0)
    package = replace(
        EMPTY, decks=(PackageDeck("D"),), notes=notes, cards=cards, reviews=(answer, answer._replace(card=2))
    )
    write_package(package, tmp_path / "out.apkg")
    again = read_package(tmp_path / "out.apkg")
    assert [again.notes[card.note].guid for card in again.cards] == ["guid 0", "guid 1", "guid 2"]
    assert [(review.card, review.reviewed_at - WRITTEN) for review in again.reviews] == [
        (0, timedelta()),
        (2, timedelta(milliseconds=1)),
    ]


def test_an_empty_package_can_be_written_and_read(tmp_path: Path):
    write_package(EMPTY, tmp_path / "empty.apkg")
    assert read_package(tmp_path / "empty.apkg") == EMPTY
    with real_anki.collection(tmp_path / "other") as col:
        assert real_anki.import_file(col, tmp_path / "empty.apkg").found_notes == 0


def test_the_same_package_gives_the_same_bytes(anki_files: AnkiFiles, tmp_path: Path):
    package = read_package(anki_files.files["anki21.apkg"])
    write_package(package, tmp_path / "one.apkg")
    write_package(package, tmp_path / "two.apkg")
    assert (tmp_path / "one.apkg").read_bytes() == (tmp_path / "two.apkg").read_bytes()


def test_an_existing_file_is_not_overwritten(tmp_path: Path):
    (tmp_path / "mine.apkg").write_text("precious")
    with pytest.raises(Conflict, match=r"'mine.apkg' already exists\. Choose another name, or set overwrite to true\."):
        write_package(EMPTY, tmp_path / "mine.apkg")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]
    write_package(EMPTY, tmp_path / "mine.apkg", overwrite=True)
    assert ZipFile(tmp_path / "mine.apkg").namelist() == ["meta", "collection.anki21", "media"]


def test_a_failure_leaves_no_partial_file(tmp_path: Path):
    # A card of a deck that the package lacks.
    card = PackageCard(0, 0, 0, 1, Schedule(), 0, 0, suspended=False, buried=False, created_at=WRITTEN)
    with pytest.raises(IndexError):
        write_package(replace(EMPTY, cards=(card,)), tmp_path / "out.apkg")
    assert list(tmp_path.iterdir()) == []
