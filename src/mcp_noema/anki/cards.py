"""The rows of Anki's table `cards`, converted to package cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from pydantic_core import from_json

from mcp_noema.anki.collection import FIRST_TIME, LAST_TIME, AnkiCollection, parse_timestamp
from mcp_noema.anki.deck_options import DeckOptions, to_preset
from mcp_noema.anki.integers import clamp_count, parse_integers
from mcp_noema.anki.memory_state import MemoryEstimator
from mcp_noema.anki.package import PackageCard, damaged
from mcp_noema.anki.revlog import RevlogEntry
from mcp_noema.model import CardState, Schedule

CARD_COLUMNS = "id nid did ord type queue due ivl factor reps lapses left odue odid flags data"

_MAX_ORDINAL = 65_535
_FIRST_TIMESTAMP = 1_000_000_000
"""The due value of a learning card is a timestamp above this, and a day number below."""
_FLAG_BITS = 0b111
_MAX_EASE = 65_535
_SUSPENDED_QUEUE = -1
_BURIED_QUEUES = (-2, -3)
_LEARNING_QUEUES = (1, 3)
"""Steps within the day, and steps of a day or more."""
_STATES = {0: CardState.NEW, 1: CardState.LEARNING, 2: CardState.REVIEW, 3: CardState.RELEARNING}
_MIN_STABILITY, _MAX_STABILITY = 0.001, 36_500.0


@dataclass(frozen=True, slots=True)
class AnkiCard:
    """A row of `cards`. While a card is in a filtered deck, `odid` and `odue` are its own deck and due date."""

    data: Mapping[str, Any]
    id: int
    nid: int
    did: int
    ord: int
    type: int
    queue: int
    due: int
    ivl: int
    factor: int
    reps: int
    lapses: int
    left: int
    odue: int
    odid: int
    flags: int

    @property
    def home_deck_id(self) -> int:
        """The deck it belongs to."""
        return self.odid or self.did

    @property
    def home_due(self) -> int:
        """The due date it has in its own deck."""
        return self.odue if self.odid and self.odue else self.due

    @property
    def state(self) -> CardState:
        """The state. Anki's first scheduler gave relearning cards the type of a review card."""
        state = _STATES[self.type]
        return CardState.RELEARNING if state is CardState.REVIEW and self.queue in _LEARNING_QUEUES else state


def parse_card(row: Sequence[Any]) -> AnkiCard:
    """A row, checked."""
    card = AnkiCard(_parse_data(row[-1]), *parse_integers("card", row[:-1]))
    if card.type not in _STATES or not 0 <= card.ord <= _MAX_ORDINAL:
        raise damaged(f"The card {card.id} has type {card.type} and template {card.ord}, which is not valid.")
    return card


def creation_time(id: int, default: datetime) -> datetime:
    """The creation time of a note or card: its id, except from programs that assign other ids."""
    return parse_timestamp(id / 1000) if 0 < id / 1000 <= LAST_TIME.timestamp() else default


def _parse_data(text: Any) -> Mapping[str, Any]:
    """The column `data`. Anki ignores it if it is not valid JSON, and so do we."""
    if not isinstance(text, str) or not text.startswith("{"):
        return {}
    try:
        data = from_json(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _finite_number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


class CardConverter:
    """Converts the cards of a collection. `note_indexes` and `deck_indexes` are by Anki's ids."""

    def __init__(
        self,
        collection: AnkiCollection,
        note_indexes: Mapping[int, int],
        deck_indexes: Mapping[int, int],
    ) -> None:
        self._collection = collection
        self._note_indexes = note_indexes
        self._deck_indexes = deck_indexes
        self._estimators: dict[int, MemoryEstimator] = {}
        self._step_counts: dict[int, tuple[int, int]] = {}

    def convert(self, card: AnkiCard, log: Sequence[RevlogEntry], written_at: datetime) -> PackageCard:
        if card.nid not in self._note_indexes:
            raise damaged(f"The card {card.id} belongs to the note {card.nid}, which is not in the file.")
        state = card.state
        is_new = state is CardState.NEW
        position = card.home_due if is_new else _finite_number(card.data.get("pos")) or 0
        return PackageCard(
            note=self._note_indexes[card.nid],
            deck=self._deck_indexes[card.home_deck_id],
            ordinal=card.ord,
            position=clamp_count(int(position)),
            schedule=Schedule() if is_new else self._schedule(card, state, log),
            reps=clamp_count(card.reps),
            lapses=clamp_count(card.lapses),
            suspended=card.queue == _SUSPENDED_QUEUE,
            buried=card.queue in _BURIED_QUEUES,
            created_at=creation_time(card.id, written_at),
            flag=card.flags & _FLAG_BITS,
            ease=min(max(card.factor, 0), _MAX_EASE),
        )

    def _schedule(self, card: AnkiCard, state: CardState, log: Sequence[RevlogEntry]) -> Schedule:
        last_review = self._last_review(card, log)
        due = self._due(card, last_review)
        if last_review is None and state is not CardState.LEARNING:
            last_review = due - timedelta(days=min(max(card.ivl, 1), int(_MAX_STABILITY)))
        stability, difficulty = self._memory_state(card, state, log)
        step = None if state is CardState.REVIEW else self._step(card, state)
        return Schedule(state, step, stability, difficulty, due, last_review)

    def _last_review(self, card: AnkiCard, log: Sequence[RevlogEntry]) -> datetime | None:
        last_answer = next((entry.at for entry in reversed(log) if entry.is_answer), None)
        seconds = _finite_number(card.data.get("lrt"))
        if not seconds or (last_answer and abs(int(seconds) - int(last_answer.timestamp())) <= 1):
            # The log is more exact: it has milliseconds. Anki reads the clock twice, so the seconds may differ by one.
            return last_answer
        return parse_timestamp(int(seconds))

    def _due(self, card: AnkiCard, last_review: datetime | None) -> datetime:
        if card.home_due > _FIRST_TIMESTAMP:
            return parse_timestamp(card.home_due)
        try:
            due = self._collection.calendar.time_on(card.home_due, last_review)
        except OverflowError:
            due = None
        if due is None or not FIRST_TIME <= due <= LAST_TIME:
            raise damaged(f"The card {card.id} is due on day {card.home_due:,}, which is not valid.")
        return due

    def _memory_state(
        self, card: AnkiCard, state: CardState, log: Sequence[RevlogEntry]
    ) -> tuple[float | None, float | None]:
        stability, difficulty = _finite_number(card.data.get("s")), _finite_number(card.data.get("d"))
        if stability and difficulty:
            return (
                min(max(stability, _MIN_STABILITY), _MAX_STABILITY),
                min(max(difficulty, 1.0), 10.0),
            )
        if state is CardState.LEARNING and not any(entry.is_answer for entry in log):
            return None, None
        deck_id = card.home_deck_id
        if deck_id not in self._estimators:
            self._estimators[deck_id] = MemoryEstimator(self._options(card), self._collection.calendar)
        return self._estimators[deck_id].estimate(card.ivl, card.factor, log)

    def _step(self, card: AnkiCard, state: CardState) -> int:
        """The learning step. Anki stores the number of steps left, plus 1,000 for each step left today."""
        deck_id = card.home_deck_id
        if deck_id not in self._step_counts:
            preset = to_preset(self._options(card))
            self._step_counts[deck_id] = len(preset.learning_steps), len(preset.relearning_steps)
        learning, relearning = self._step_counts[deck_id]
        steps = learning if state is CardState.LEARNING else relearning
        return min(max(steps - card.left % 1000, 0), max(steps - 1, 0))

    def _options(self, card: AnkiCard) -> DeckOptions:
        deck = self._collection.decks.get(card.home_deck_id)
        return deck.options if deck else DeckOptions()
