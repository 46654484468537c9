"""Memory states of cards that were learned without FSRS, compared with those that Anki computes."""

from pathlib import Path

import pytest
from anki.collection import Collection
from fsrs_rs_python import FSRS

from mcp_noema.anki.package_reader import read_package
from tests.mcp_noema.anki import real_anki
from tests.mcp_noema.anki.real_anki import WEIGHTS

LEARNING, REVIEW, RELEARNING, FILTERED, MANUAL, RESCHEDULED = range(6)
DAY = 86_400_000

# Days ago, answer, interval, ease, kind.
HISTORIES = {
    "learned from the beginning": [
        (40, 3, -600, 0, LEARNING),
        (40, 3, 1, 2500, LEARNING),
        (39, 3, 3, 2500, REVIEW),
        (36, 2, 5, 2350, REVIEW),
        (30, 1, 1, 2150, REVIEW),
        (30, 3, 1, 2150, RELEARNING),
        (29, 4, 6, 2300, REVIEW),
    ],
    "an old log that was cut": [(30, 3, 20, 2500, REVIEW), (10, 3, 40, 2500, REVIEW)],
    "one answer is left": [(10, 3, 40, 2300, REVIEW)],
    "cut, and written by FSRS": [(30, 3, 20, 550, REVIEW), (10, 3, 40, 560, REVIEW)],
    "made new again": [
        (40, 3, 1, 2500, LEARNING),
        (39, 3, 3, 2500, REVIEW),
        (20, 0, 0, 0, MANUAL),
        (19, 3, 1, 2500, LEARNING),
        (18, 3, 4, 2500, REVIEW),
    ],
    "made new, and reviewed at once": [
        (40, 3, 1, 2500, LEARNING),
        (20, 0, 0, 0, MANUAL),
        (18, 3, 4, 2500, REVIEW),
        (12, 3, 9, 2500, REVIEW),
    ],
    "learned twice": [
        (40, 3, 1, 2500, LEARNING),
        (39, 3, 3, 2500, REVIEW),
        (19, 3, -600, 2500, LEARNING),
        (19, 3, 2, 2500, LEARNING),
        (18, 1, 4, 2500, REVIEW),
    ],
    "crammed, dated by hand and rescheduled": [
        (40, 3, 1, 2500, LEARNING),
        (39, 3, 3, 0, FILTERED),
        (38, 3, 3, 2500, FILTERED),
        (30, 0, 9, 2500, MANUAL),
        (25, 0, 9, 2500, RESCHEDULED),
        (20, 3, 12, 2500, REVIEW),
    ],
}


def add_history(col: Collection, entries: list[tuple[int, ...]], weights: list[float]) -> int:
    (card,) = real_anki.add(col, "Old", "Basic", "front", "back")
    options = col.decks.get_config(1)
    options["fsrsParams6"] = weights
    col.decks.update_config(options)
    col.db.execute("UPDATE cards SET type = 2, queue = 2, due = 5, ivl = 33, factor = 2200, reps = 9, data = ''")
    # An hour after the day began: the days between are whole.
    today = (col.sched.day_cutoff - 86_400 + 3_600) * 1000
    for index, (ago, answer, interval, ease, kind) in enumerate(entries):
        row = (today - ago * DAY + index * 60_000, card, answer, interval, ease, kind)
        col.db.execute("INSERT INTO revlog VALUES (?, ?, -1, ?, ?, 0, ?, 5000, ?)", *row)
    return card


@pytest.mark.parametrize("weights", [[], WEIGHTS], ids=["default weights", "own weights"])
@pytest.mark.parametrize("name", HISTORIES)
def test_the_memory_state_equals_anki_s(tmp_path: Path, name: str, weights: list[float]):
    with real_anki.collection(tmp_path / "made") as col:
        card = add_history(col, HISTORIES[name], weights)
        theirs = col.compute_memory_state(card)
        file = real_anki.export(col, tmp_path / "old.apkg", legacy=True)
    schedule = read_package(file).cards[0].schedule
    assert (schedule.stability, schedule.difficulty) == pytest.approx((theirs.stability, theirs.difficulty), rel=1e-6)


def test_without_a_log_the_memory_state_is_computed_from_interval_and_ease(tmp_path: Path):
    with real_anki.collection(tmp_path / "made") as col:
        add_history(col, [], [])
        file = real_anki.export(col, tmp_path / "old.apkg", legacy=True)
    schedule = read_package(file).cards[0].schedule
    theirs = FSRS([]).memory_state_from_sm2(2.2, 33, 0.9)
    assert (schedule.stability, schedule.difficulty) == (theirs.stability, theirs.difficulty)


def test_a_new_card_with_a_due_date_has_a_memory_state(tmp_path: Path):
    with real_anki.collection(tmp_path / "made") as col:
        (card,) = real_anki.add(col, "Old", "Basic", "front", "back")
        col.sched.set_due_date([card], "5")
        file = real_anki.export(col, tmp_path / "dated.apkg", legacy=True)
    schedule = read_package(file).cards[0].schedule
    assert schedule.stability
    assert schedule.difficulty
    assert schedule.due
    assert schedule.last_review
    assert schedule.due > schedule.last_review
