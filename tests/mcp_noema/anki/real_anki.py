"""Anki itself, without its windows: writes the files that tests read, and opens those that they write."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from anki.collection import (
    Collection,
    ExportAnkiPackageOptions,
    ImportAnkiPackageOptions,
    ImportAnkiPackageRequest,
)

from mcp_noema.anki.package import CollectionCalendar, Package
from mcp_noema.model import CardState

WEIGHTS = [
    0.3,
    1.4,
    2.5,
    8.1,
    6.4,
    0.83,
    3.0,
    0.002,
    1.9,
    0.17,
    0.8,
    1.5,
    0.06,
    0.26,
    1.65,
    0.6,
    1.87,
    0.54,
    0.09,
    0.066,
    0.16,
]


@contextmanager
def collection(folder: Path) -> Generator[Collection]:
    """The collection in a folder, created if it does not exist."""
    folder.mkdir(exist_ok=True)
    opened = Collection(str(folder / "collection.anki2"))
    try:
        yield opened
    finally:
        opened.close()


def add(col: Collection, deck: str, kind: str, *values: str, tags: tuple[str, ...] = ()) -> list[int]:
    """A note, and the ids of its cards."""
    note = col.new_note(col.models.by_name(kind))
    note.fields = list(values)
    note.tags = list(tags)
    col.add_note(note, col.decks.id(deck))
    return [int(card) for card in note.card_ids()]


def fill(col: Collection) -> None:
    """Nested decks, all kinds of notes, and cards in every state, answered through Anki's scheduler with FSRS."""
    col.set_config("fsrs", True)
    options = col.decks.add_config("Thorough")
    options |= {"desiredRetention": 0.93, "fsrsParams6": WEIGHTS}
    options["new"] |= {"delays": [2, 15], "perDay": 7, "bury": True}
    options["rev"] |= {"maxIvl": 365}
    col.decks.update_config(options)
    french = col.decks.get(col.decks.id("Languages::French"))
    french |= {"conf": options["id"], "desc": "Words", "reviewLimit": 50}
    col.decks.save(french)
    for index, word in enumerate(("un", "deux", "trois", "quatre", "cinq")):
        tags = ("a::b", "leech") if index % 2 else ()
        add(col, "Languages::French", "Basic", word, f'{index} <img src="{word}.png">', tags=tags)
    reversed_cards = add(col, "Languages", "Basic (and reversed card)", "Hund", "dog")
    cloze = add(col, "Science::Physics", "Cloze", "{{c1::E}} = {{c3::mc²}}", "Einstein")
    col.media.write_data("un.png", b"a picture")
    col.decks.select(col.decks.id("Languages"))
    for answer in (4, 1, 2, 3, 4):
        card = col.sched.getCard()
        col.sched.answerCard(card, answer)
    answer_now(col, cloze[0], 4)
    col.sched.set_due_date([cloze[0]], "12")
    col.sched.set_due_date([reversed_cards[1]], "0")
    answer_now(col, reversed_cards[1], 1)
    col.sched.suspend_cards([cloze[1]])
    col.sched.bury_cards([reversed_cards[0]])


def fill_with_what_only_anki_uses(col: Collection) -> None:
    """Flags, SM-2 ease, display orders, easy days, and log entries that are not answers."""
    options = col.decks.add_config("Odd")
    options |= {"newMix": 2, "newSortOrder": 3, "newGatherPriority": 4, "reviewOrder": 5, "interdayLearningMix": 1}
    options["easyDaysPercentages"] = [1.0, 1.0, 0.5, 1.0, 1.0, 0.0, 0.5]
    options["new"] |= {"order": 0, "initialFactor": 2300, "ints": [2, 6, 0]}
    options["rev"] |= {"ease4": 1.5, "hardFactor": 1.1, "ivlFct": 0.9}
    options["lapse"] |= {"leechAction": 0, "minInt": 3, "mult": 0.25}
    col.decks.update_config(options)
    deck = col.decks.get(col.decks.id("Old"))
    deck["conf"] = options["id"]
    col.decks.save(deck)
    # Answered without FSRS.
    (first,) = add(col, "Old", "Basic", "first", "back")
    for answer in (4, 3, 2):
        answer_now(col, first, answer)
    col.sched.set_due_date([first], "7")
    col.set_user_flag_for_cards(3, [first])
    (second,) = add(col, "Old", "Basic", "second", "back")
    answer_now(col, second, 4)
    col.sched.schedule_cards_as_new([second])
    answer_now(col, second, 1)
    crammed = (int(time.time() * 1000) + 50, first, 3, -600, 0, 0, 4000, 3)
    col.db.execute("INSERT INTO revlog VALUES (?, ?, -1, ?, ?, ?, ?, ?, ?)", *crammed)


def what_only_anki_uses(col: Collection) -> Any:
    """What the function above made, as it is after an import."""
    cards = col.db.all("SELECT n.flds, c.flags, c.factor FROM cards c JOIN notes n ON n.id = c.nid ORDER BY n.flds")
    log = col.db.all("SELECT id, ease, ivl, lastIvl, factor, time, type FROM revlog ORDER BY id")
    options = col.decks.config_dict_for_deck_id(col.decks.id("Old"))
    names = ("newMix", "newSortOrder", "newGatherPriority", "reviewOrder", "interdayLearningMix", "easyDaysPercentages")
    kept = {name: options[name] for name in names}
    kept["new"] = {name: options["new"][name] for name in ("order", "initialFactor", "ints")}
    kept["rev"] = {name: options["rev"][name] for name in ("ease4", "hardFactor", "ivlFct")}
    kept["lapse"] = {name: options["lapse"][name] for name in ("leechAction", "minInt", "mult")}
    return cards, log, kept


def answer_now(col: Collection, card_id: int, answer: int) -> None:
    """Answer a card, due or not: with another deck selected, Anki does not check the queue."""
    col.decks.select(1)
    col.sched.reset()
    card = col.get_card(card_id)
    card.start_timer()
    col.sched.answerCard(card, answer)


def export(col: Collection, path: Path, *, legacy: bool, scheduling: bool = True) -> Path:
    """An .apkg of everything, or a .colpkg."""
    if path.suffix == ".colpkg":
        col.export_collection_package(str(path), include_media=True, legacy=legacy)
        col.reopen(after_full_sync=False)
        return path
    options = ExportAnkiPackageOptions(
        with_scheduling=scheduling, with_deck_configs=scheduling, with_media=True, legacy=legacy
    )
    col.export_anki_package(out_path=str(path), options=options, limit=None)
    return path


def as_anki2(legacy: Path, path: Path) -> Path:
    """A file as Anki 2.0 wrote it: no meta, and the collection under the name collection.anki2."""
    with ZipFile(legacy) as old, ZipFile(path, "w", ZIP_DEFLATED) as new:
        new.writestr("collection.anki2", old.read("collection.anki21"))
        new.writestr("media", old.read("media"))
    return path


def import_file(col: Collection, path: Path) -> Any:
    """Import all of a file. Returns Anki's log of the import."""
    options = ImportAnkiPackageOptions(with_scheduling=True, with_deck_configs=True, merge_notetypes=True)
    return col.import_anki_package(ImportAnkiPackageRequest(package_path=str(path), options=options)).log


# --- the cards of a collection and of a package, in the same form ------------------------------------------


def anki_cards(col: Collection) -> list[tuple[Any, ...]]:
    """Each card: its note and deck, its state, when it is due in days (or seconds since 1970), and its memory."""
    cards = []
    for number in col.find_cards(""):
        card = col.get_card(number)
        memory = card.memory_state
        due = card.due if card.type in (0, 1, 3) else card.due - col.sched.today
        cards.append((
            card.note().guid,
            card.ord,
            col.decks.name(card.did),
            tuple(card.note().tags),
            tuple(card.note().fields),
            CardState(card.type),
            due,
            round(memory.stability, 4) if memory else None,
            round(memory.difficulty, 3) if memory else None,
            card.reps,
            card.lapses,
            card.queue == -1,
            card.queue in (-2, -3),
        ))  # fmt: skip
    return sorted(cards)


def package_cards(package: Package, today: CollectionCalendar) -> list[tuple[Any, ...]]:
    """The same for a package. `today` counts days from Anki's today."""
    cards = []
    for card in package.cards:
        note, schedule = package.notes[card.note], card.schedule
        due = card.position
        if schedule.due:
            day = today.day_number(schedule.due)
            # A step that ends on a later day has a day, too.
            has_day = schedule.state is CardState.REVIEW or day > today.day_number(package.written_at)
            due = day if has_day else int(schedule.due.timestamp())
        cards.append((
            note.guid,
            card.ordinal,
            package.decks[card.deck].name,
            note.tags,
            note.values,
            schedule.state,
            due,
            None if schedule.stability is None else round(schedule.stability, 4),
            None if schedule.difficulty is None else round(schedule.difficulty, 3),
            card.reps,
            card.lapses,
            card.suspended,
            card.buried,
        ))  # fmt: skip
    return sorted(cards)


def revlog(col: Collection) -> list[tuple[Any, ...]]:
    """The answers in Anki's log."""
    return [
        tuple(row)
        for row in col.db.all(
            "SELECT id, ease, ivl, lastIvl, factor, time, type FROM revlog WHERE ease > 0 ORDER BY id"
        )
    ]
