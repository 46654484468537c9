"""Import and export through the tools, on both databases, checked with Anki itself."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from anki.collection import Collection

from mcp_core import App
from mcp_core.auth import user
from mcp_core.calling.records import Request
from mcp_noema.anki.package import CollectionCalendar, Package, PackageCard, PackageDeck, PackageNote, PackageReview
from mcp_noema.anki.package_reader import read_package
from mcp_noema.anki.package_writer import write_package
from mcp_noema.app import build
from mcp_noema.model import BASIC, CLOZE, CardState, ClockAndRandom, Preset, Schedule
from mcp_noema.settings import NoemaSettings
from tests.mcp_noema.anki import real_anki
from tests.mcp_noema.anki.real_anki import package_cards
from tests.mcp_noema.learner import MONDAY, Clock, Learner
from tests.mcp_noema.simulated_memory import simulate_logs

NOTHING = {"added": 0, "updated": 0, "unchanged": 0}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder for files. Its siblings must not be reachable."""
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


@pytest_asyncio.fixture
async def app(db_url: str, clock: Clock, files: Path) -> AsyncIterator[App]:
    async with build(NoemaSettings(db=db_url, deadline=60, files=files), ClockAndRandom(clock)) as opened:
        yield opened


def packed(*cards: PackageCard, reviews: tuple[PackageReview, ...] = (), **changes: Any) -> Package:
    """One basic note with these cards, in one deck."""
    note = PackageNote("guid-1", BASIC, ("front", "back"), ("tag",), MONDAY, MONDAY)
    package = Package((PackageDeck("French"),), (note,), cards, reviews, MONDAY)
    return replace(package, **changes)


NEW = PackageCard(0, 0, 0, 1, Schedule(), 0, 0, suspended=False, buried=False, created_at=MONDAY)
LAST = MONDAY - timedelta(days=3)
REVIEWED = replace(
    NEW, schedule=Schedule(CardState.REVIEW, None, 4.25, 5.5, MONDAY + timedelta(days=2), LAST), reps=4, lapses=1
)
ANSWER = PackageReview(0, 3, LAST, 4000, CardState.REVIEW, 432_000, 86_400, 5.5)


# --- to Anki and back --------------------------------------------------------------------------------------


async def test_a_collection_survives_the_way_from_anki_and_back(
    ana: Learner, clock: Clock, files: Path, tmp_path: Path
):
    with real_anki.collection(tmp_path / "anki") as col:
        real_anki.fill(col)
        theirs, log = real_anki.anki_cards(col), real_anki.revlog(col)
        real_anki.export(col, files / "mine.apkg", legacy=False)
        began = datetime.fromtimestamp(col.sched.day_cutoff - 86_400, UTC)
    clock.now = datetime.now(UTC)
    data = await ana("import-anki", path="mine.apkg")
    assert data == {
        "decks": [
            {"deckId": "deck_1", "name": "Languages"},
            {"deckId": "deck_2", "name": "Languages::French"},
            {"deckId": "deck_4", "name": "Science::Physics"},
        ],
        "decksAdded": 4,
        "notes": {"added": 7, "updated": 0, "unchanged": 0},
        "cards": {"added": 9, "updated": 0, "unchanged": 0},
        "reviews": {"added": len(log), "updated": 0, "unchanged": 0},
        "skipped": [],
        "mediaLeftOut": 1,
    }
    await ana("export-anki", path="back.apkg")
    assert package_cards(read_package(files / "back.apkg"), CollectionCalendar(began.date(), UTC, began.hour)) == theirs
    with real_anki.collection(tmp_path / "other") as col:
        col.set_config("fsrs", True)
        real_anki.import_file(col, files / "back.apkg")
        assert real_anki.anki_cards(col) == theirs
        assert real_anki.revlog(col) == log


@pytest.mark.parametrize("legacy", [True, False])
async def test_what_only_anki_uses_comes_back_to_it(
    ana: Learner, clock: Clock, files: Path, tmp_path: Path, legacy: bool
):
    with real_anki.collection(tmp_path / "anki") as col:
        real_anki.fill_with_what_only_anki_uses(col)
        cards, log, options = real_anki.what_only_anki_uses(col)
        real_anki.export(col, files / "mine.apkg", legacy=legacy)
    assert {kind for *_, kind in log} >= {0, 3, 4}
    clock.now = datetime.now(UTC) + timedelta(seconds=1)
    first = await ana("import-anki", path="mine.apkg")
    # Only answers count.
    assert first["reviews"]["added"] == sum(ease > 0 for _, ease, *_, kind in log if kind != 3)
    await ana("import-anki", path="mine.apkg")
    await ana("update-deck", deckId="deck_1", preset={"newPerDay": 9})
    await ana("export-anki", path="back.apkg")
    with real_anki.collection(tmp_path / "other") as col:
        real_anki.import_file(col, files / "back.apkg")
        assert real_anki.what_only_anki_uses(col) == (cards, log, options)


async def test_imported_decks_keep_their_options(ana: Learner, files: Path):
    outer = Preset(desired_retention=0.85, new_per_day=5)
    inner = replace(outer, learning_steps=(30,), parameters=tuple(real_anki.WEIGHTS), new_per_day=20)
    decks = (PackageDeck("French", "Words", outer), PackageDeck("French::Verbs", "", inner))
    write_package(packed(NEW, decks=decks), files / "x.apkg")
    await ana("import-anki", path="x.apkg")
    shown = [await ana("get-deck", deckId=deck_id) for deck_id in ("deck_1", "deck_2")]
    assert [(deck["name"], deck["description"], deck["preset"]["desiredRetention"]) for deck in shown] == [
        ("French", "Words", 0.85),
        ("French::Verbs", "", 0.85),
    ]
    assert shown[1]["preset"]["newPerDay"] == 20
    assert shown[1]["preset"]["learningSteps"] == ["30s"]
    assert shown[1]["preset"]["parameters"] == real_anki.WEIGHTS
    # What the inner deck does not differ in still comes from the outer one.
    await ana("update-deck", deckId="deck_1", preset={"reviewsPerDay": 33, "newPerDay": 1})
    preset = (await ana("get-deck", deckId="deck_2"))["preset"]
    assert (preset["reviewsPerDay"], preset["newPerDay"]) == (33, 20)


async def test_an_existing_deck_keeps_its_options(ana: Learner, files: Path):
    await ana.deck("french", newPerDay=3)
    write_package(packed(NEW, decks=(PackageDeck("French", "Words", Preset(new_per_day=9)),)), files / "x.apkg")
    data = await ana("import-anki", path="x.apkg")
    assert (data["decks"], data["decksAdded"]) == ([{"deckId": "deck_1", "name": "french"}], 0)
    deck = await ana("get-deck", deckId="deck_1")
    assert (deck["description"], deck["preset"]["newPerDay"], deck["cards"]) == ("", 3, 1)


async def test_decks_can_be_put_inside_another(ana: Learner, files: Path):
    inside = await ana.deck("Imported")
    write_package(packed(NEW), files / "x.apkg")
    data = await ana("import-anki", path="x.apkg", deckId=inside)
    assert data["decks"] == [{"deckId": "deck_2", "name": "Imported::French"}]
    long = PackageDeck("x" * 250)
    write_package(packed(NEW, decks=(long,)), files / "x.apkg", overwrite=True)
    kind, words = await ana.fails("import-anki", path="x.apkg", deckId=inside)
    assert kind == "ValidationError"
    assert words.endswith("would have a name of 260 characters; at most 255 are allowed. Import it without deckId.")


# --- repeated imports --------------------------------------------------------------------------------------


async def test_a_second_import_changes_nothing(ana: Learner, files: Path):
    write_package(packed(REVIEWED, reviews=(ANSWER,)), files / "x.apkg")
    first = await ana("import-anki", path="x.apkg")
    assert (first["notes"]["added"], first["cards"]["added"], first["reviews"]["added"]) == (1, 1, 1)
    before = await ana("get-card", cardId="card_1")
    again = await ana("import-anki", path="x.apkg")
    assert again == first | {
        "decksAdded": 0,
        "notes": NOTHING | {"unchanged": 1},
        "cards": NOTHING | {"unchanged": 1},
        "reviews": NOTHING | {"unchanged": 1},
    }
    assert await ana("get-card", cardId="card_1") == before


async def test_an_exported_file_is_recognized_on_import(ana: Learner, clock: Clock):
    cards = await ana.notes(await ana.deck(), 4)
    for card in cards[:3]:
        await ana.answers(card, "good", "good", every=timedelta(seconds=2))
        clock.forward(microseconds=1_234)
    await ana("export-anki", path="x.apkg")
    assert await ana("import-anki", path="x.apkg") == {
        "decks": [{"deckId": "deck_1", "name": "French"}],
        "decksAdded": 0,
        "notes": NOTHING | {"unchanged": 4},
        "cards": NOTHING | {"unchanged": 4},
        "reviews": NOTHING | {"unchanged": 6},
        "skipped": [],
        "mediaLeftOut": 0,
    }


async def test_newer_text_wins_and_older_text_does_not(ana: Learner, clock: Clock, files: Path):
    package = packed(NEW)
    write_package(package, files / "old.apkg")
    await ana("import-anki", path="old.apkg")
    [note] = package.notes
    newer = replace(note, values=("front", "better"), tags=("other",), modified_at=MONDAY + timedelta(seconds=9))
    write_package(replace(package, notes=(newer,)), files / "new.apkg")
    assert (await ana("import-anki", path="new.apkg"))["notes"] == NOTHING | {"updated": 1}
    assert (await ana("import-anki", path="old.apkg"))["notes"] == NOTHING | {"unchanged": 1}
    card = (await ana("search-cards", query="tag:other better"))["cards"]
    assert [each["cardId"] for each in card] == ["card_1"]
    assert (await ana("get-card", cardId="card_1"))["back"] == "better"


async def test_the_schedule_of_the_later_review_wins(ana: Learner, clock: Clock, files: Path):
    await ana.notes(await ana.deck("Other"))
    write_package(packed(NEW), files / "new.apkg")
    await ana("import-anki", path="new.apkg")
    write_package(packed(REVIEWED, reviews=(ANSWER,)), files / "reviewed.apkg")
    data = await ana("import-anki", path="reviewed.apkg")
    assert (data["cards"], data["reviews"]) == (NOTHING | {"updated": 1}, NOTHING | {"added": 1})
    await ana("review-card", cardId="card_2", grade="good")
    mine = await ana("get-card", cardId="card_2")
    assert (await ana("import-anki", path="reviewed.apkg"))["cards"] == NOTHING | {"unchanged": 1}
    assert (await ana("import-anki", path="new.apkg"))["cards"] == NOTHING | {"unchanged": 1}
    assert await ana("get-card", cardId="card_2") == mine


@pytest.mark.parametrize(
    "last_review",
    [
        pytest.param(MONDAY + timedelta(hours=7), id="dated in the future"),
        pytest.param(MONDAY + timedelta(minutes=6), id="estimated, because the file has no log"),
    ],
)
async def test_an_answer_given_since_is_not_undone_by_the_same_file(ana: Learner, files: Path, last_review: datetime):
    await ana.notes(await ana.deck("Other"))
    schedule = replace(REVIEWED.schedule, last_review=last_review, due=MONDAY + timedelta(days=5))
    write_package(packed(replace(REVIEWED, schedule=schedule)), files / "x.apkg")
    await ana("import-anki", path="x.apkg")
    ana.clock.forward(minutes=5)
    await ana("review-card", cardId="card_2", grade="again")
    mine = await ana("get-card", cardId="card_2")
    ana.clock.forward(minutes=5)
    assert (await ana("import-anki", path="x.apkg"))["cards"] == NOTHING | {"unchanged": 1}
    assert (await ana("get-card", cardId="card_2"))["due"] == mine["due"]


async def test_imported_cards_can_be_rescheduled(ana: Learner, clock: Clock, files: Path, tmp_path: Path):
    with real_anki.collection(tmp_path / "anki") as col:
        col.set_config("fsrs", True)
        for number in range(12):
            (card,) = real_anki.add(col, "French", "Basic", f"front {number}", "back")
            real_anki.answer_now(col, card, min(number + 1, 4))
        real_anki.export(col, files / "x.apkg", legacy=False)
    clock.now = datetime.now(UTC)
    await ana("import-anki", path="x.apkg")
    same = await ana("preview-reschedule", deckId="deck_1")
    assert (same["cards"], same["unknown"], same["changed"]) == (12, 0, 0)
    await ana("update-deck", deckId="deck_1", preset={"desiredRetention": 0.8})
    other = await ana("preview-reschedule", deckId="deck_1")
    # The cards that are still learned keep their steps.
    assert (other["unknown"], other["changed"]) == (0, 9)


async def test_imports_of_two_users_are_separate(ana: Learner, bob: Learner, files: Path):
    write_package(packed(REVIEWED, reviews=(ANSWER,)), files / "x.apkg")
    await ana("import-anki", path="x.apkg")
    data = await bob("import-anki", path="x.apkg")
    assert (data["notes"], data["reviews"]) == (NOTHING | {"added": 1}, NOTHING | {"added": 1})
    assert (await bob.fails("import-anki", path="x.apkg", deckId="deck_1"))[0] == "NotFoundError"
    assert (await bob.fails("export-anki", path="y.apkg", deckId="deck_1"))[0] == "NotFoundError"


# --- skipped -----------------------------------------------------------------------------------------------


async def test_what_cannot_be_imported_is_skipped_with_its_reason(ana: Learner, files: Path):
    note = packed(NEW).notes[0]
    notes = (
        replace(note, guid="fine", tags=("fine", "t" * 101)),
        replace(note, guid="long", values=("f" * 100_001, "")),
        replace(note, guid="none"),
        replace(note, guid="fine"),
        replace(note, guid="lost"),
    )
    cards = (
        NEW,
        replace(NEW, ordinal=7),
        replace(NEW, note=1),
        replace(NEW, note=3),
        replace(NEW, position=2),
        replace(NEW, note=4, ordinal=1),
    )
    late = ANSWER._replace(reviewed_at=MONDAY + timedelta(days=1))
    write_package(packed(*cards, notes=notes, reviews=(ANSWER, late)), files / "x.apkg")
    data = await ana("import-anki", path="x.apkg")
    assert (data["notes"]["added"], data["cards"]["added"], data["reviews"]["added"]) == (1, 1, 1)
    assert {each["what"]: each["count"] for each in data["skipped"]} == {
        "notes with a field of more than 100,000 characters": 1,
        "notes that make no card": 2,
        "notes and cards that are in the file twice": 2,
        "tags of more than 100 characters": 1,
        "cards without a template in their note type": 2,
        "cards of skipped notes": 2,
        "reviews dated in the future": 1,
    }
    assert ana.hints["warnings"][0]["message"].startswith("Skipped: ")
    assert ana.hints["confidence"] < 1


async def test_a_note_with_another_type_here_is_not_changed(ana: Learner, files: Path):
    write_package(packed(NEW), files / "basic.apkg")
    await ana("import-anki", path="basic.apkg")
    other = replace(packed(NEW).notes[0], type=CLOZE, modified_at=MONDAY + timedelta(days=1))
    write_package(packed(NEW, notes=(other,)), files / "cloze.apkg")
    data = await ana("import-anki", path="cloze.apkg")
    assert data["skipped"] == [
        {"what": "notes that exist with another note type", "count": 1},
        {"what": "cards of skipped notes", "count": 1},
    ]
    assert (data["notes"], data["cards"], data["decks"]) == (NOTHING, NOTHING, [])


async def test_buried_and_suspended_cards_stay_so(ana: Learner, clock: Clock, files: Path):
    note = packed(NEW).notes[0]
    cards = (replace(REVIEWED, buried=True), replace(REVIEWED, note=1, suspended=True))
    write_package(packed(*cards, notes=(note, replace(note, guid="guid-2"))), files / "x.apkg")
    await ana("import-anki", path="x.apkg")
    clock.forward(hours=12)
    await ana("export-anki", path="same-day.apkg")
    assert [(card.buried, card.suspended) for card in read_package(files / "same-day.apkg").cards] == [
        (True, False),
        (False, True),
    ]
    clock.forward(hours=12)
    await ana("export-anki", path="next-day.apkg")
    assert [card.buried for card in read_package(files / "next-day.apkg").cards] == [False, False]


async def test_a_review_dated_in_the_future_does_not_lock_a_card(ana: Learner, files: Path):
    await ana.notes(await ana.deck("Other"))
    ahead = replace(REVIEWED.schedule, last_review=MONDAY + timedelta(days=1), due=MONDAY + timedelta(days=5))
    write_package(packed(replace(REVIEWED, schedule=ahead)), files / "x.apkg")
    await ana("import-anki", path="x.apkg")
    ana.clock.forward(minutes=1)
    assert (await ana("review-card", cardId="card_2", grade="good"))["state"] == "review"


async def test_a_review_by_a_clock_that_is_a_little_ahead_is_kept(ana: Learner, files: Path):
    at = MONDAY + timedelta(seconds=30)
    schedule = replace(REVIEWED.schedule, last_review=at)
    write_package(
        packed(replace(REVIEWED, schedule=schedule), reviews=(ANSWER._replace(reviewed_at=at, state=CardState.NEW),)),
        files / "x.apkg",
    )
    assert (await ana("import-anki", path="x.apkg"))["reviews"]["added"] == 1
    assert (await ana("preview-reschedule", deckId="deck_1"))["unknown"] == 0


async def test_a_bad_file_changes_nothing(ana: Learner, files: Path):
    (files / "bad.apkg").write_bytes(b"no zip")
    kind, words = await ana.fails("import-anki", path="bad.apkg")
    assert kind == "ValidationError"
    assert words.startswith(
        "bad.apkg is not an Anki package, or it is damaged: File is not a zip file. Export it again"
    )
    assert (await ana("list-decks"))["decks"] == []


# --- export ------------------------------------------------------------------------------------------------


async def test_a_deck_is_exported_with_its_subdecks(ana: Learner, files: Path):
    french, verbs, other = await ana.deck("French"), await ana.deck("French::Verbs"), await ana.deck("Other")
    for number, deck in enumerate((french, verbs, other)):
        await ana("create-note", deckId=deck, front=f"front {number}", back="back")
    data = await ana("export-anki", path="french.apkg", deckId=french)
    assert data == {
        "path": "french.apkg",
        "bytes": (files / "french.apkg").stat().st_size,
        "decks": 2,
        "notes": 2,
        "cards": 2,
        "reviews": 0,
    }
    assert [deck.name for deck in read_package(files / "french.apkg").decks] == ["French", "French::Verbs"]


async def test_an_export_without_scheduling_has_nothing_personal(ana: Learner, files: Path):
    [card] = await ana.notes(await ana.deck(newPerDay=3), tags=["leech", "food"])
    await ana.answers(card, "good", "again")
    await ana("export-anki", path="shared.apkg", scheduling=False)
    package = read_package(files / "shared.apkg")
    assert (package.reviews, package.cards[0].schedule, package.cards[0].reps) == ((), Schedule(), 0)
    assert (package.decks[0].preset, package.notes[0].tags) == (None, ("food",))


async def test_undone_reviews_are_not_exported(ana: Learner, files: Path):
    [card] = await ana.notes(await ana.deck())
    await ana("review-card", cardId=card, grade="again")
    await ana("undo-review")
    assert (await ana("export-anki", path="x.apkg"))["reviews"] == 0


async def test_an_existing_file_is_not_replaced(ana: Learner, files: Path):
    await ana.notes(await ana.deck())
    (files / "mine.apkg").write_text("precious")
    assert await ana.fails("export-anki", path="mine.apkg") == (
        "ConflictError",
        "'mine.apkg' already exists. Choose another name, or set overwrite to true.",
    )
    assert (files / "mine.apkg").read_text() == "precious"
    await ana("export-anki", path="mine.apkg", overwrite=True)
    assert len(read_package(files / "mine.apkg").notes) == 1


async def test_an_export_without_cards_is_an_error(ana: Learner, files: Path):
    await ana.deck()
    assert await ana.fails("export-anki", path="x.apkg") == (
        "ConflictError",
        "There are no cards to export. list-decks shows which decks have cards.",
    )
    assert [step["action"] for step in ana.hints["suggestedNextActions"]] == ["list-decks"]
    assert not any(files.iterdir())  # noqa: ASYNC240 - a look at a folder of the test


# --- one folder --------------------------------------------------------------------------------------------


async def test_nothing_outside_the_folder_is_read_or_written(ana: Learner, files: Path):
    await ana.notes(await ana.deck())
    write_package(packed(NEW), files.parent / "out.apkg")
    before = (files.parent / "out.apkg").read_bytes()
    (files / "link").symlink_to(files.parent)
    (files / "linked.apkg").symlink_to(files.parent / "out.apkg")
    for path in ("../out.apkg", "/tmp/out.apkg", "a/../../out.apkg", "link/out.apkg", "linked.apkg"):
        words = f"{path!r} is outside of the folder for files. Give a path inside it, such as french.apkg; the folder "
        refusal = ("ValidationError", f"{words}is set with --files when the server starts.")
        assert await ana.fails("import-anki", path=path) == refusal
        assert await ana.fails("export-anki", path=path, overwrite=True) == refusal
    assert (files.parent / "out.apkg").read_bytes() == before


async def test_any_spelling_of_a_path_in_the_folder_works(ana: Learner, files: Path):
    await ana.notes(await ana.deck())
    (files / "deep").mkdir()
    for path in ("deep/x.apkg", str(files / "y.APKG"), "deep/../z.apkg"):
        await ana("export-anki", path=path)
        assert (await ana("import-anki", path=path))["notes"]["unchanged"] == 1


async def test_a_missing_file_is_an_error_that_lists_others(ana: Learner, files: Path):
    assert await ana.fails("import-anki", path="x.apkg") == (
        "NotFoundError",
        "The file 'x.apkg' is not in the folder for files (--files). There is no Anki file yet.",
    )
    (files / "y.colpkg").touch()
    assert await ana.fails("import-anki", path="x.apkg") == (
        "NotFoundError",
        "The file 'x.apkg' is not in the folder for files (--files). The newest files there: 'y.colpkg'.",
    )
    await ana.notes(await ana.deck())
    assert (await ana.fails("export-anki", path="missing/x.apkg"))[0] == "NotFoundError"


async def test_names_of_other_files_are_an_error(ana: Learner, files: Path):
    await ana.notes(await ana.deck())
    for path in ("x.txt", "apkg", "x.apkg/", "x\0.apkg", "\ud800.apkg"):
        for tool in ("import-anki", "export-anki"):
            kind, _ = await ana.fails(tool, path=path)
            assert kind == "ValidationError", path
    (files / "loop.apkg").symlink_to("loop.apkg")
    for tool in ("import-anki", "export-anki"):
        # Newer versions of Python give up on a loop of links, and report that the file does not exist.
        assert (await ana.fails(tool, path="loop.apkg"))[0] in ("ValidationError", "NotFoundError", "ConflictError")
    (files / "folder.apkg").mkdir()
    assert (await ana.fails("export-anki", path="folder.apkg", overwrite=True))[0] == "ValidationError"
    assert (await ana.fails("import-anki", path="folder.apkg"))[0] == "NotFoundError"


# --- progress and hints ------------------------------------------------------------------------------------


async def test_the_client_gets_progress_notifications(ana: Learner, app: App, files: Path):
    write_package(packed(REVIEWED, reviews=(ANSWER,)), files / "x.apkg")
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, words: str | None) -> None:
        told.append((done, total, words))

    caller = user("ana", ("*",))
    await app.answer(Request("import-anki", {"path": "x.apkg"}, caller, progress=progress))
    await app.answer(Request("export-anki", {"path": "y.apkg"}, caller, progress=progress))
    assert told == [
        (0, 1, "Reading the file."),
        (3, 6, "The file has 1 note, 1 card and 1 review."),
        (6, 6, "Done."),
        (0, 1, "Reading the cards."),
        (1, 1, "1 of 1 card written."),
    ]


async def test_the_hints_lead_to_what_was_imported(ana: Learner, files: Path):
    note = packed(NEW).notes[0]
    decks = (PackageDeck("French"), PackageDeck("French::Verbs"))
    cards = (NEW, replace(NEW, note=1, deck=1))
    write_package(packed(*cards, decks=decks, notes=(note, replace(note, guid="2"))), files / "x.apkg")
    await ana("import-anki", path="x.apkg")
    assert [(step["action"], step.get("data")) for step in ana.hints["suggestedNextActions"]] == [
        ("get-due-cards", {"deckId": "deck_1"}),
        ("list-decks", None),
    ]
    assert (await ana("get-due-cards", deckId="deck_1"))["remaining"] == {"new": 2, "learning": 0, "due": 0}


async def test_an_import_suggests_a_fit_if_one_is_possible(ana: Learner, files: Path):
    answers = tuple(ANSWER._replace(reviewed_at=LAST - timedelta(hours=n)) for n in range(400))
    write_package(packed(REVIEWED, reviews=answers), files / "one.apkg")
    assert (await ana("import-anki", path="one.apkg"))["reviews"]["added"] == 400
    # The log of one card is not enough.
    to_cards = [("get-due-cards", {"deckId": "deck_1"}), ("list-decks", None)]
    assert [(step["action"], step.get("data")) for step in ana.hints["suggestedNextActions"]] == to_cards
    logs = simulate_logs(cards=60, reviews_each=10)
    many = packed(
        *(replace(REVIEWED, note=number) for number in range(60)),
        notes=tuple(replace(packed().notes[0], guid=f"many-{number}") for number in range(60)),
        reviews=tuple(
            ANSWER._replace(card=card, rating=rating, reviewed_at=at, state=CardState(state))
            for card, log in enumerate(logs)
            for rating, at, state in log
        ),
    )
    write_package(many, files / "many.apkg")
    assert (await ana("import-anki", path="many.apkg"))["reviews"]["added"] > 500
    fit = ("optimize-parameters", {"deckId": "deck_1"})
    assert [(step["action"], step.get("data")) for step in ana.hints["suggestedNextActions"]] == [*to_cards, fit]
    await ana("optimize-parameters", deckId="deck_1")


@pytest.mark.requirement("LRN-3")
async def test_an_answer_ahead_of_time_is_what_anki_makes_of_it(
    ana: Learner, clock: Clock, files: Path, tmp_path: Path
):
    """In Anki, a filtered deck shows the card before it is due."""
    with real_anki.collection(tmp_path / "anki") as col:
        col.set_config("fsrs", True)
        (card_id,) = real_anki.add(col, "French", "Basic", "front", "back")
        real_anki.answer_now(col, card_id, 4)
        # Five days ago; it is due in a few days.
        col.db.execute("UPDATE revlog SET id = id - 432000000")
        lrt = "json_extract(data, '$.lrt') - 432000"
        col.db.execute(f"UPDATE cards SET due = due - 5, mod = mod - 432000, data = json_set(data, '$.lrt', {lrt})")
        real_anki.export(col, files / "x.apkg", legacy=False)
        filtered = col.sched.get_or_create_filtered_deck(0)
        filtered.config.search_terms[0].search = "prop:due>0"
        filtered.config.reschedule = True
        col.sched.add_or_update_filtered_deck(filtered)
        card = col.get_card(card_id)
        assert card.odid
        card.start_timer()
        col.sched.answerCard(card, 3)
        theirs = col.get_card(card_id)
        memory = theirs.memory_state
    clock.now = datetime.now(UTC)
    await ana("import-anki", path="x.apkg")
    assert "card" not in await ana("review-next-card")
    shown = await ana("review-next-card", ahead=60)
    answered = await ana("review-card", cardId=shown["card"]["cardId"], ahead=60, grade="good", next=True)
    assert (answered["stability"], answered["difficulty"]) == pytest.approx(
        (memory.stability, memory.difficulty), rel=1e-3
    )
    assert (answered["state"], theirs.type) == ("review", 2)
    assert "next" not in answered


async def test_flags_are_searched_as_in_anki(ana: Learner, clock: Clock, files: Path, tmp_path: Path):
    with real_anki.collection(tmp_path / "anki") as col:
        for flag in (0, 1, 1, 7):
            (card_id,) = real_anki.add(col, "French", "Basic", f"front {card_count(col)}", "back")
            col.set_user_flag_for_cards(flag, [card_id])
        expected = {flag: len(col.find_cards(f"flag:{flag}")) for flag in range(8)}
        real_anki.export(col, files / "x.apkg", legacy=False)
    clock.now = datetime.now(UTC)
    await ana("import-anki", path="x.apkg")
    found = {flag: (await ana("search-cards", query=f"flag:{flag}"))["total"] for flag in range(8)}
    assert found == expected == {**dict.fromkeys(range(8), 0), 0: 1, 1: 2, 7: 1}


def card_count(col: Collection) -> int:
    return len(col.find_cards(""))
