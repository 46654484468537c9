"""Rows of Anki's tables `cards` and `revlog`, in our words."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from pydantic_core import from_json

from mcp_noema.anki.archive import AGAIN
from mcp_noema.anki.collection import Described, moment
from mcp_noema.anki.deck_options import DAY, Options, as_preset
from mcp_noema.anki.memory_state import LEARNING, RELEARNING, Aged, Entry, Memories
from mcp_noema.anki.package import BadPackage, PackedCard, PackedReview
from mcp_noema.model import Schedule, State

CARDS = "id nid did ord type queue due ivl factor reps lapses left odue odid data"
LOG = "id cid ease ivl lastIvl factor time type"

_HIGHEST = 2**31 - 1
_LATEST_ID = 253_402_300_799_000
"""Ids are milliseconds since 1970. This is the end of the year 9999."""
_MOST_TEMPLATES = 65_535
_WHOLE = frozenset({int})
_FIRST_SECOND = 1_000_000_000
"""When a learning card is due: a number above is seconds since 1970, one below is a day."""
_SUSPENDED = -1
_BURIED = (-2, -3)
_LEARNED_TODAY, _LEARNED_IN_DAYS = 1, 3
_STATES = {0: State.NEW, 1: State.LEARNING, 2: State.REVIEW, 3: State.RELEARNING}
_LOWEST_DIFFICULTY, _HIGHEST_DIFFICULTY = 100, 1100
"""Where the log has difficulties, 1 to 10, in place of ease."""
_LOWEST_STABILITY, _HIGHEST_STABILITY = 0.001, 36_500.0
_HARDEST = 4


@dataclass(frozen=True, slots=True)
class AnkiCard:
    """A row of `cards`. A card that visits a filtered deck has its own deck and due date in `odid` and `odue`."""

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

    @property
    def home(self) -> int:
        """The deck it belongs to."""
        return self.odid or self.did

    @property
    def date(self) -> int:
        """When it is due, once it is home."""
        return self.odue if self.odid and self.odue else self.due

    @property
    def state(self) -> State:
        """How far it is. The first scheduler kept cards that were forgotten among the reviews."""
        is_learned = self.queue in (_LEARNED_TODAY, _LEARNED_IN_DAYS)
        state = _STATES[self.type]
        return State.RELEARNING if state is State.REVIEW and is_learned else state


def card(row: Sequence[Any]) -> AnkiCard:
    """A row, checked."""
    read = AnkiCard(_data(row[-1]), *whole("card", row[:-1]))
    if read.type not in _STATES or not 0 <= read.ord <= _MOST_TEMPLATES:
        raise BadPackage(f"The card {read.id} has type {read.type} and template {read.ord}, as none has. {AGAIN}")
    return read


def whole(what: str, values: Sequence[Any]) -> list[int]:
    """Numbers of a row, which may hold anything. The first is its id. Old versions of Anki wrote 5.0 for 5."""
    # Nearly all rows are as they should be, and there are many.
    if _WHOLE.issuperset(map(type, values)) and min(values) >= -_LATEST_ID and max(values) <= _LATEST_ID:
        return list(values)
    numbers: list[int] = []
    for value in values:
        number = int(value) if isinstance(value, float) and isfinite(value) else value
        if not isinstance(number, int) or abs(number) > _LATEST_ID:
            raise BadPackage(f"The {what} {values[0]!r:.50} has {value!r:.50} where a number belongs. {AGAIN}")
        numbers.append(number)
    return numbers


def made_at(number: int, otherwise: datetime) -> datetime:
    """When a note or card was made, by its id. Some programs number them in other ways."""
    return moment(number / 1000) if number > 0 else otherwise


def _data(text: Any) -> Mapping[str, Any]:
    """What a card carries besides its columns. What cannot be read is left out, as Anki does."""
    if not isinstance(text, str) or not text.startswith("{"):
        return {}
    try:
        found = from_json(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


# --- cards -------------------------------------------------------------------------------------------------


class Cards:
    """Cards read one after another, with what they refer to."""

    def __init__(
        self, described: Described, notes: Mapping[int, int], decks: Mapping[int, int], log: Mapping[int, list[Entry]]
    ) -> None:
        self._described = described
        self._notes = notes
        self._decks = decks
        self._log = log
        self._memories: dict[int, Memories] = {}
        self._steps: dict[int, tuple[int, int]] = {}

    def packed(self, card: AnkiCard, written_at: datetime) -> PackedCard:
        """A card in our words."""
        if card.nid not in self._notes:
            raise BadPackage(f"The card {card.id} belongs to the note {card.nid}, which is not in the file. {AGAIN}")
        state = card.state
        is_new = state is State.NEW
        position = card.date if is_new else _number(card.data.get("pos")) or 0
        return PackedCard(
            note=self._notes[card.nid],
            deck=self._decks[card.home],
            ordinal=card.ord,
            position=_bounded(int(position)),
            schedule=Schedule() if is_new else self._schedule(card, state),
            reps=_bounded(card.reps),
            lapses=_bounded(card.lapses),
            suspended=card.queue == _SUSPENDED,
            buried=card.queue in _BURIED,
            created_at=made_at(card.id, written_at),
        )

    def _schedule(self, card: AnkiCard, state: State) -> Schedule:
        log = self._log.get(card.id, [])
        last_review = self._last_review(card, log)
        due = self._due(card, last_review)
        if last_review is None and state is not State.LEARNING:
            last_review = due - timedelta(days=min(max(card.ivl, 1), int(_HIGHEST_STABILITY)))
        stability, difficulty = self._memory(card, state, log)
        step = None if state is State.REVIEW else self._step(card, state)
        return Schedule(state, step, stability, difficulty, due, last_review)

    def _last_review(self, card: AnkiCard, log: Sequence[Entry]) -> datetime | None:
        if seconds := _number(card.data.get("lrt")):
            return moment(int(seconds))
        return next((entry.at for entry in reversed(log) if entry.is_answer), None)

    def _due(self, card: AnkiCard, last_review: datetime | None) -> datetime:
        if card.date > _FIRST_SECOND:
            return moment(card.date)
        try:
            return self._described.days.moment(card.date, last_review)
        except OverflowError:
            raise BadPackage(f"The card {card.id} is due on day {card.date:,}, which never comes. {AGAIN}") from None

    def _memory(self, card: AnkiCard, state: State, log: Sequence[Entry]) -> tuple[float | None, float | None]:
        stability, difficulty = _number(card.data.get("s")), _number(card.data.get("d"))
        if stability and difficulty:
            return (
                min(max(stability, _LOWEST_STABILITY), _HIGHEST_STABILITY),
                min(max(difficulty, 1.0), 10.0),
            )
        if state is State.LEARNING and not any(entry.is_answer for entry in log):
            return None, None
        if card.home not in self._memories:
            self._memories[card.home] = Memories(self._options(card), self._described.days)
        return self._memories[card.home].of(Aged(card.ivl, card.factor), log)

    def _step(self, card: AnkiCard, state: State) -> int:
        """Anki counts the steps that are left; the thousands are those that fit into the day."""
        if card.home not in self._steps:
            preset = as_preset(self._options(card))
            self._steps[card.home] = len(preset.learning_steps), len(preset.relearning_steps)
        learning, relearning = self._steps[card.home]
        steps = learning if state is State.LEARNING else relearning
        return min(max(steps - card.left % 1000, 0), max(steps - 1, 0))

    def _options(self, card: AnkiCard) -> Options:
        deck = self._described.decks.get(card.home)
        return deck.options if deck else Options()


def _bounded(value: int) -> int:
    return value if 0 <= value <= _HIGHEST else min(max(value, 0), _HIGHEST)


# --- the log -----------------------------------------------------------------------------------------------


def log_by_card(rows: Iterable[Sequence[Any]]) -> dict[int, list[Entry]]:
    """The entries of each card, the oldest first."""
    log: defaultdict[int, list[Entry]] = defaultdict(list)
    for row in rows:
        number, card, rating, interval, last_interval, ease, duration, kind = whole("review", row)
        if not 0 <= rating <= _HARDEST:
            raise BadPackage(f"The review {number} has the answer {rating}, and Anki has 0 to {_HARDEST}. {AGAIN}")
        log[card].append(Entry(moment(number / 1000), rating, interval, last_interval, ease, duration, kind))
    return log


def reviews(log: Mapping[int, list[Entry]], places: Mapping[int, int]) -> list[PackedReview]:
    """All answers in the order they were given. Those to cards that are gone are left out."""
    found = [
        review for number, entries in log.items() if number in places for review in _answers(entries, places[number])
    ]
    return sorted(found, key=lambda review: review.reviewed_at)


def _answers(entries: Sequence[Entry], place: int) -> Iterator[PackedReview]:
    is_new = True
    for entry in entries:
        if entry.is_reset:
            is_new = True
        if not entry.is_answer:
            continue
        is_by_fsrs = _LOWEST_DIFFICULTY <= entry.ease <= _HIGHEST_DIFFICULTY
        yield PackedReview(
            card=place,
            rating=entry.rating,
            reviewed_at=entry.at,
            duration_ms=_bounded(entry.duration_ms),
            state=_state_before(entry, is_new=is_new),
            interval_s=_seconds(entry.interval),
            last_interval_s=_seconds(entry.last_interval),
            difficulty=(entry.ease / 1000 - 0.1) * 9 + 1 if is_by_fsrs else None,
        )
        is_new = False


def _state_before(entry: Entry, *, is_new: bool) -> State:
    """An early review in a filtered deck is a review."""
    if entry.kind == LEARNING:
        return State.NEW if is_new else State.LEARNING
    return State.RELEARNING if entry.kind == RELEARNING else State.REVIEW


def _seconds(interval: int) -> int:
    return _bounded(interval) * DAY if interval > 0 else _bounded(-interval)
