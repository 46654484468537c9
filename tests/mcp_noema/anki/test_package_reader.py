from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_noema.anki.deck_options import DAY_SECONDS
from mcp_noema.anki.package import PackageDeck
from mcp_noema.anki.package_reader import read_package
from mcp_noema.model import CardState, Preset, Schedule
from tests.mcp_noema.anki import real_anki
from tests.mcp_noema.anki.conftest import AnkiFiles
from tests.mcp_noema.anki.real_anki import WEIGHTS, package_cards

FORMS = ("anki2.apkg", "anki21.apkg", "anki21b.apkg", "anki21.colpkg", "anki21b.colpkg")


@pytest.mark.parametrize("form", FORMS)
def test_every_file_format_has_the_cards_of_the_collection(anki_files: AnkiFiles, form: str):
    assert package_cards(read_package(anki_files.files[form]), anki_files.today) == anki_files.cards


def test_every_file_format_gives_the_same_package(anki_files: AnkiFiles):
    packages = [read_package(anki_files.files[form]) for form in FORMS]
    assert [replace(package, written_at=packages[0].written_at) for package in packages] == packages[:1] * len(FORMS)


def test_decks_have_their_options(anki_files: AnkiFiles):
    french = Preset(
        desired_retention=0.93,
        learning_steps=(120, 900),
        maximum_interval=365,
        new_per_day=7,
        reviews_per_day=50,
        bury_siblings=True,
        parameters=tuple(WEIGHTS),
    )
    assert read_package(anki_files.files["anki21b.apkg"]).decks == (
        PackageDeck("Languages"),
        PackageDeck("Languages::French", "Words", french),
        PackageDeck("Science"),
        PackageDeck("Science::Physics"),
    )


@pytest.mark.parametrize("legacy", [True, False])
def test_the_desired_retention_of_a_deck_overrides_that_of_its_options(tmp_path: Path, legacy: bool):
    with real_anki.collection(tmp_path / "made") as col:
        real_anki.add(col, "Home", "Basic", "front", "back")
        deck = col.decks.get(col.decks.id("Home"))
        # Anki's own JSON has it in percent, its other formats as a share.
        deck["desiredRetention"] = 88
        col.decks.save(deck)
        file = real_anki.export(col, tmp_path / "home.apkg", legacy=legacy)
    [home] = read_package(file).decks
    assert home.preset
    assert home.preset.desired_retention == 0.88


@pytest.mark.parametrize("legacy", [True, False])
def test_texts_that_are_stored_as_bytes_are_read_as_text(tmp_path: Path, legacy: bool):
    with real_anki.collection(tmp_path / "made") as col:
        real_anki.add(col, "Home", "Basic", "Größe", "back", tags=("Maß",))
        guid = col.db.scalar("SELECT guid FROM notes")
        for column in ("flds", "tags", "guid"):
            col.db.execute(f"UPDATE notes SET {column} = CAST({column} AS BLOB)")
        file = real_anki.export(col, tmp_path / "bytes.colpkg", legacy=legacy)
    [note] = read_package(file).notes
    assert (note.guid, note.values, note.tags) == (guid, ("Größe", "back"), ("Maß",))


def test_note_types_have_their_fields_templates_and_css(anki_files: AnkiFiles):
    types = {note.type.name: note.type for note in read_package(anki_files.files["anki21b.apkg"]).notes}
    assert {name: (each.fields, len(each.templates), each.is_cloze) for name, each in types.items()} == {
        "Basic": (("Front", "Back"), 1, False),
        "Basic (and reversed card)": (("Front", "Back"), 2, False),
        "Cloze": (("Text", "Back Extra"), 1, True),
    }
    assert types["Basic"].templates[0].front == "{{Front}}"
    assert types["Basic"].css.startswith(".card {")


def test_only_answers_count_as_reviews(anki_files: AnkiFiles):
    package = read_package(anki_files.files["anki21b.colpkg"])
    # Setting a due date is in Anki's log too, with the answer 0.
    assert [(review.rating, round(review.reviewed_at.timestamp() * 1000)) for review in package.reviews] == [
        (answer, moment) for moment, answer, *_ in anki_files.log
    ]
    assert {review.state for review in package.reviews} == {CardState.NEW, CardState.REVIEW}


def test_only_the_names_of_media_are_read(anki_files: AnkiFiles):
    assert read_package(anki_files.files["anki21b.apkg"]).media == ("un.png",)
    assert read_package(anki_files.files["anki21.apkg"]).media == ("un.png",)


def test_an_export_without_scheduling_is_all_new(anki_files: AnkiFiles):
    package = read_package(anki_files.unscheduled)
    assert {card.schedule for card in package.cards} == {Schedule()}
    assert package.reviews == ()
    assert {deck.preset for deck in package.decks} == {None}


def test_a_card_in_a_filtered_deck_returns_to_its_own_deck(tmp_path: Path):
    with real_anki.collection(tmp_path / "made") as col:
        (card,) = real_anki.add(col, "Home", "Basic", "front", "back")
        col.sched.set_due_date([card], "3")
        deck = col.sched.get_or_create_filtered_deck(0)
        deck.name = "Away"
        deck.config.search_terms[0].search = "deck:Home"
        away = col.sched.add_or_update_filtered_deck(deck).id
        assert col.get_card(card).did == away
        file = real_anki.export(col, tmp_path / "away.apkg", legacy=False)
        today = datetime.fromtimestamp(col.sched.day_cutoff - DAY_SECONDS, UTC)
    package = read_package(file)
    assert [deck.name for deck in package.decks] == ["Home"]
    due = package.cards[0].schedule.due
    assert due
    assert timedelta(days=3) <= due - today < timedelta(days=4)


def test_days_have_the_time_zone_and_start_hour_of_the_collection(tmp_path: Path):
    with real_anki.collection(tmp_path / "made") as col:
        real_anki.add(col, "Home", "Basic", "front", "back")
        col.set_config("creationOffset", -330)
        col.set_config("rollover", 2)
        col.db.execute("UPDATE col SET crt = ?", datetime(2026, 1, 1, 20, tzinfo=UTC).timestamp())
        col.db.execute("UPDATE cards SET type = 2, queue = 2, due = 10, ivl = 4, data = ''")
        file = real_anki.export(col, tmp_path / "india.colpkg", legacy=False)
    package = read_package(file)
    # 20:00 in UTC is already the second of January there, so that is day 0; day 10 is noon-ish of the twelfth.
    assert package.cards[0].schedule.due == datetime(2026, 1, 12, 8, 30, tzinfo=UTC)
    assert package.cards[0].schedule.last_review == datetime(2026, 1, 8, 8, 30, tzinfo=UTC)
    assert (package.zone.utcoffset(None), package.day_start_hour) == (timedelta(hours=5, minutes=30), 2)


def test_reviews_of_deleted_cards_are_left_out(tmp_path: Path):
    with real_anki.collection(tmp_path / "made") as col:
        (gone,) = real_anki.add(col, "Home", "Basic", "gone", "")
        real_anki.add(col, "Home", "Basic", "here", "")
        real_anki.answer_now(col, gone, 3)
        col.remove_notes_by_card([gone])
        file = real_anki.export(col, tmp_path / "gone.colpkg", legacy=False)
    package = read_package(file)
    assert (len(package.cards), package.reviews) == (1, ())
