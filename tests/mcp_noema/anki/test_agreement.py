"""Schedules compared with those of Anki itself, answer by answer, over random histories."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from anki.collection import Collection

from mcp_noema.anki.deck_options import DAY_SECONDS, to_json
from mcp_noema.model import GRADES, RATINGS, CardState, Preferences, Preset, Schedule
from mcp_noema.scheduling.schedule import next_schedules
from tests.mcp_noema.anki import real_anki
from tests.thorough import examples

OTHER = (0.3, 1.1, 2.5, 9.0, 6.1, 0.9, 2.7, 0.01, 1.6, 0.2, 0.9, 1.6, 0.08, 0.3, 1.5, 0.4, 2.0, 0.6, 0.2, 0.1, 0.2)
LONG_TERM = (*OTHER[:17], 0.0, 0.0, *OTHER[19:])
PRESETS = {
    "default": Preset(),
    "own weights, short intervals": Preset(desired_retention=0.8, maximum_interval=30, parameters=OTHER),
    "no steps": Preset(learning_steps=(), relearning_steps=()),
    "no steps, long-term only": Preset(learning_steps=(), relearning_steps=(), parameters=LONG_TERM),
    "no steps, high retention": Preset(desired_retention=0.97, learning_steps=(), relearning_steps=()),
    "one step": Preset(learning_steps=(300,), relearning_steps=(1200,), desired_retention=0.85),
    "day-long steps": Preset(learning_steps=(600, 86_400, 259_200), relearning_steps=(86_400,)),
    "one day-long step": Preset(learning_steps=(172_800,), relearning_steps=(600, 129_600)),
}
Outcome = tuple[CardState, int | None, int]
"""The state, the step and the seconds until a card is due."""
LONG = 365 * DAY_SECONDS
HISTORIES = 1000
ROLLOVERS = (0, 4, 9, 14, 19, 22)
"""The hours at which the day of a collection begins: the tests run at any time of the day."""


class StudiedCard:
    """A card that Anki and we schedule side by side, each from its own state."""

    def __init__(self, col: Collection, preset: str, preferences: Preferences) -> None:
        self.col, self.preset, self.preferences = col, PRESETS[preset], preferences
        (self.id,) = real_anki.add(col, preset, "Basic", "front", "back")
        self.schedule = Schedule()

    def wait(self, gap: timedelta) -> datetime:
        """Let time pass. Anki has the clock of the machine, so what happened before is moved into the past."""
        now = datetime.now(UTC)
        if (last := self.schedule.last_review) is not None and self.schedule.due is not None:
            # Anki stores whole seconds.
            moved = (now - gap).replace(microsecond=0) - last
            self.schedule = replace(self.schedule, last_review=last + moved, due=self.schedule.due + moved)
            (text,) = self.col.db.first("SELECT data FROM cards WHERE id = ?", self.id)
            data = json.loads(text) | {"lrt": int((now - gap).timestamp())}
            self.col.db.execute("UPDATE cards SET data = ? WHERE id = ?", json.dumps(data), self.id)
        return now

    def fuzz(self) -> tuple[float, float, float]:
        """Anki's random number for the next answer, from how it fuzzes long intervals: about, at least, and at most."""
        helper = self.col.decks.id("helper")
        (deck, reps) = self.col.db.first("SELECT did, reps FROM cards WHERE id = ?", self.id)
        self.col.db.execute("UPDATE cards SET did = ?, reps = ? WHERE id = ?", helper, reps + 1, self.id)
        low, high = 0.0, 1.0
        for interval in range(20_000, 34_000, 701):
            first, size = _fuzz_range(interval)
            index = interval + self.col.fuzz_delta(self.id, interval) - first
            low, high = max(low, index / size), min(high, (index + 1) / size)
        self.col.db.execute("UPDATE cards SET did = ?, reps = ? WHERE id = ?", deck, reps, self.id)
        return (low + high) / 2, low, high

    def review(self, rating: int, gap: timedelta) -> tuple[list[Outcome], list[Outcome]]:
        """Answer the card, and return what each of us showed for the four grades."""
        now = self.wait(gap)
        theirs = self.col._backend.get_scheduling_states(self.id)
        shown_by_anki = [self._their_outcome(getattr(theirs, grade), now) for grade in RATINGS]
        for fuzz in self.fuzz():
            ours = next_schedules(self.schedule, now, self.preset, self.preferences, fuzz=fuzz)
            shown_by_us = [self._outcome(ours[grade], now) for grade in RATINGS]
            if are_equal(shown_by_us, shown_by_anki):
                break
        card = self.col.get_card(self.id)
        card.start_timer()
        self.col.sched.answer_card(self.col.sched.build_answer(card=card, states=theirs, rating=rating - 1))
        self.schedule = ours[GRADES[rating]]
        return shown_by_us, shown_by_anki

    def _outcome(self, schedule: Schedule, now: datetime) -> Outcome:
        seconds = round((schedule.due - now).total_seconds())
        return schedule.state, schedule.step, seconds

    def _their_outcome(self, state: Any, now: datetime) -> Outcome:
        kind = state.normal.WhichOneof("kind")
        if kind == "review":
            return CardState.REVIEW, None, state.normal.review.scheduled_days * DAY_SECONDS
        relearning = kind == "relearning"
        learning = state.normal.relearning.learning if relearning else state.normal.learning
        steps = self.preset.relearning_steps if relearning else self.preset.learning_steps
        due, day_end = now + timedelta(seconds=learning.scheduled_secs), self.preferences.day_of(now).ends
        if due >= day_end:
            # Anki shows such a step on a day, without a time.
            due = self.preferences.day_start(now, (due - day_end).days + 1)
        step = max(len(steps) - learning.remaining_steps, 0)
        return CardState.RELEARNING if relearning else CardState.LEARNING, step, round((due - now).total_seconds())

    def memory(self) -> tuple[Any, Any]:
        """Our memory state, and Anki's."""
        theirs = self.col.get_card(self.id).memory_state
        return (self.schedule.stability, self.schedule.difficulty), (theirs.stability, theirs.difficulty)


def are_equal(ours: list[Outcome], theirs: list[Outcome]) -> bool:
    """Intervals of years may differ by a day: Anki computes them in single precision, and then rounds."""
    return all(
        mine == their or (mine[:2] == their[:2] and mine[2] > LONG and abs(mine[2] - their[2]) == DAY_SECONDS)
        for mine, their in zip(ours, theirs, strict=True)
    )


def _fuzz_range(interval: int) -> tuple[int, int]:
    delta = 2.975 + 0.05 * (interval - 20)
    first, last = math.floor(interval - delta + 0.5), math.floor(interval + delta + 0.5)
    return first, last - first + 1


def collections(folder: Path) -> Iterator[tuple[Collection, Preferences]]:
    for rollover in ROLLOVERS:
        with real_anki.collection(folder / str(rollover)) as col:
            col.set_config("fsrs", True)
            col.load_balancer_enabled = False
            preferences = col.get_preferences()
            preferences.scheduling.rollover = rollover
            col.set_preferences(preferences)
            for name, preset in PRESETS.items():
                options = col.decks.add_config(name)
                options |= {k: v for k, v in to_json(preset, options["id"], name, 1).items() if k not in ("id", "mod")}
                col.decks.update_config(options)
                deck = col.decks.get(col.decks.id(name))
                deck["conf"] = options["id"]
                col.decks.save(deck)
            col.decks.select(1)
            yield col, Preferences("UTC", datetime.fromtimestamp(col.sched.day_cutoff, UTC).hour)


def random_gap(schedule: Schedule, dice: random.Random) -> timedelta:
    """When the card is answered next: when it is due, late, early, or on the same day."""
    interval = schedule.interval or timedelta()
    match dice.choice(("due", "due", "late", "early", "same day")):
        case "due":
            return interval
        case "late":
            return interval * dice.uniform(1, 3)
        case "early":
            return interval * dice.uniform(0.1, 1)
        case _:
            return timedelta(minutes=dice.uniform(1, 300))


def test_schedules_and_previews_agree_with_anki_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each of the presets, answered when due, late, early and on the same day, with fuzz."""
    # Anki's days are those of the machine.
    monkeypatch.setenv("TZ", "UTC")
    dice = random.Random(5)
    for col, preferences in collections(tmp_path):
        for index in range(examples(HISTORIES) // len(ROLLOVERS) + 1):
            name = list(PRESETS)[index % len(PRESETS)]
            card = StudiedCard(col, name, preferences)
            for _ in range(dice.randint(3, 10)):
                ours, theirs = card.review(dice.randint(1, 4), random_gap(card.schedule, dice))
                mine, memory = card.memory()
                assert mine == pytest.approx(memory, rel=1e-6), (name, card.schedule)
                assert are_equal(ours, theirs), (name, card.schedule, ours, theirs)
