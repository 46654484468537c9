"""Anki's review log: the rows of the table `revlog`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from mcp_noema.anki.collection import parse_timestamp
from mcp_noema.anki.deck_options import DAY_SECONDS
from mcp_noema.anki.integers import clamp_count, clamp_interval, parse_integers
from mcp_noema.anki.package import PackageLogEntry, PackageReview, damaged
from mcp_noema.model import CardState

REVLOG_COLUMNS = "id cid ease ivl lastIvl factor time type"
LEARNING, REVIEW, RELEARNING, FILTERED, MANUAL, RESCHEDULED = range(6)
"""The kinds of entries."""
_MAX_RATING = 4
_MIN_DIFFICULTY, _MAX_DIFFICULTY = 100, 1100
"""An ease in this range is a difficulty, written by FSRS in the same column."""


class RevlogEntry(NamedTuple):
    """An entry of the log. A positive interval is days, a negative one seconds."""

    at: datetime
    rating: int
    interval: int
    last_interval: int
    ease: int
    duration_ms: int
    kind: int

    @property
    def is_answer(self) -> bool:
        """Return whether the review affects memory: it is neither a manual change nor cramming."""
        return self.rating > 0 and self.kind not in (MANUAL, RESCHEDULED) and not self.is_cramming

    @property
    def is_cramming(self) -> bool:
        """Return whether the review was an extra one that did not reschedule the card."""
        return self.kind == FILTERED and self.ease == 0

    @property
    def is_reset(self) -> bool:
        """Return whether the review made the card new again."""
        return self.kind == MANUAL and self.ease == 0


def parse_entry(row: Sequence[Any]) -> tuple[int, RevlogEntry]:
    """A row, checked: Anki's id of the card, and the entry."""
    review_id, card_id, rating, interval, last_interval, ease, duration, kind = parse_integers("review", row)
    if not 0 <= rating <= _MAX_RATING:
        raise damaged(f"The review {review_id} has the rating {rating}; Anki's ratings are 0 to {_MAX_RATING}.")
    at = parse_timestamp(review_id / 1000)
    return card_id, RevlogEntry(at, rating, interval, last_interval, ease, duration, kind)


class LogsByCard:
    """The entries of one card after the other, from rows ordered by card and time."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self._groups = groupby(map(parse_entry, rows), key=itemgetter(0))
        self._card_id: int | None = None
        self._entries: list[RevlogEntry] = []

    def entries_of(self, card_id: int) -> Sequence[RevlogEntry]:
        """The entries of a card, oldest first. Cards must be requested in the order of their ids."""
        while self._card_id is None or self._card_id < card_id:
            group = next(self._groups, None)
            if group is None:
                return ()
            self._card_id, self._entries = group[0], [entry for _, entry in group[1]]
        return self._entries if self._card_id == card_id else ()


def package_log(
    rows: Iterable[Sequence[Any]], card_indexes: Mapping[int, int]
) -> Iterator[PackageReview | PackageLogEntry]:
    """The entries in rows ordered by time, without those of deleted cards."""
    is_answered = bytearray(len(card_indexes))
    """Whether the card has been answered since it was last new."""
    for card_id, entry in map(parse_entry, rows):
        index = card_indexes.get(card_id)
        if index is None:
            continue
        if entry.is_reset:
            is_answered[index] = False
        if entry.is_answer:
            yield _review(entry, index, is_new=not is_answered[index])
            is_answered[index] = True
        else:
            yield _log_entry(entry, index)


def _log_entry(entry: RevlogEntry, card_index: int) -> PackageLogEntry:
    return PackageLogEntry(
        card_index,
        entry.at,
        entry.rating,
        clamp_interval(entry.interval),
        clamp_interval(entry.last_interval),
        clamp_count(entry.ease),
        clamp_count(entry.duration_ms),
        clamp_count(entry.kind),
    )


def _review(entry: RevlogEntry, card_index: int, *, is_new: bool) -> PackageReview:
    is_by_fsrs = _MIN_DIFFICULTY <= entry.ease <= _MAX_DIFFICULTY
    return PackageReview(
        card=card_index,
        rating=entry.rating,
        reviewed_at=entry.at,
        duration_ms=clamp_count(entry.duration_ms),
        state=_state_before(entry, is_new=is_new),
        interval_s=_seconds(entry.interval),
        last_interval_s=_seconds(entry.last_interval),
        difficulty=(entry.ease / 1000 - 0.1) * 9 + 1 if is_by_fsrs else None,
        ease=None if is_by_fsrs or not entry.ease else clamp_count(entry.ease),
    )


def _state_before(entry: RevlogEntry, *, is_new: bool) -> CardState:
    """An early review in a filtered deck counts as a review."""
    if entry.kind == LEARNING:
        return CardState.NEW if is_new else CardState.LEARNING
    return CardState.RELEARNING if entry.kind == RELEARNING else CardState.REVIEW


def _seconds(interval: int) -> int:
    return clamp_count(interval) * DAY_SECONDS if interval > 0 else clamp_count(-interval)
