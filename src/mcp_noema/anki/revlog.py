"""Anki's review log: the rows of the table `revlog`."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from mcp_noema.anki.collection import parse_timestamp
from mcp_noema.anki.deck_options import DAY_SECONDS
from mcp_noema.anki.integers import clamp_count, clamp_interval, parse_integers
from mcp_noema.anki.package import PackageLogEntry, PackageReview, damaged
from mcp_noema.model import State

REVLOG_COLUMNS = "id cid ease ivl lastIvl factor time type"
LEARNING, REVIEW, RELEARNING, FILTERED, MANUAL, RESCHEDULED = range(6)
"""The kinds of entries."""
_HIGHEST_RATING = 4
_LOWEST_DIFFICULTY, _HIGHEST_DIFFICULTY = 100, 1100
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
        """Whether it affects memory: not a manual change, and not cramming."""
        return self.rating > 0 and self.kind not in (MANUAL, RESCHEDULED) and not self.is_cramming

    @property
    def is_cramming(self) -> bool:
        """Whether it was an extra review that did not reschedule the card."""
        return self.kind == FILTERED and self.ease == 0

    @property
    def is_reset(self) -> bool:
        """Whether it made the card new again."""
        return self.kind == MANUAL and self.ease == 0


def entries_by_card(rows: Iterable[Sequence[Any]]) -> dict[int, list[RevlogEntry]]:
    """The entries of each card, oldest first."""
    log: defaultdict[int, list[RevlogEntry]] = defaultdict(list)
    for row in rows:
        review_id, card_id, rating, interval, last_interval, ease, duration, kind = parse_integers("review", row)
        if not 0 <= rating <= _HIGHEST_RATING:
            raise damaged(f"The review {review_id} has the rating {rating}; Anki's ratings are 0 to {_HIGHEST_RATING}.")
        at = parse_timestamp(review_id / 1000)
        log[card_id].append(RevlogEntry(at, rating, interval, last_interval, ease, duration, kind))
    return log


def package_reviews(log: Mapping[int, list[RevlogEntry]], card_indexes: Mapping[int, int]) -> list[PackageReview]:
    """All answers, oldest first, without those to deleted cards."""
    reviews = [
        review
        for card_id, entries in log.items()
        if card_id in card_indexes
        for review in _reviews(entries, card_indexes[card_id])
    ]
    return sorted(reviews, key=lambda review: review.reviewed_at)


def other_entries(log: Mapping[int, list[RevlogEntry]], card_indexes: Mapping[int, int]) -> list[PackageLogEntry]:
    """All entries that are not answers, oldest first, without those of deleted cards."""
    entries = [
        PackageLogEntry(
            card_indexes[card_id],
            entry.at,
            entry.rating,
            clamp_interval(entry.interval),
            clamp_interval(entry.last_interval),
            clamp_count(entry.ease),
            clamp_count(entry.duration_ms),
            clamp_count(entry.kind),
        )
        for card_id, card_entries in log.items()
        if card_id in card_indexes
        for entry in card_entries
        if not entry.is_answer
    ]
    return sorted(entries, key=lambda entry: entry.at)


def _reviews(entries: Sequence[RevlogEntry], card_index: int) -> Iterator[PackageReview]:
    is_new = True
    for entry in entries:
        if entry.is_reset:
            is_new = True
        if not entry.is_answer:
            continue
        is_by_fsrs = _LOWEST_DIFFICULTY <= entry.ease <= _HIGHEST_DIFFICULTY
        yield PackageReview(
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
        is_new = False


def _state_before(entry: RevlogEntry, *, is_new: bool) -> State:
    """An early review in a filtered deck counts as a review."""
    if entry.kind == LEARNING:
        return State.NEW if is_new else State.LEARNING
    return State.RELEARNING if entry.kind == RELEARNING else State.REVIEW


def _seconds(interval: int) -> int:
    return clamp_count(interval) * DAY_SECONDS if interval > 0 else clamp_count(-interval)
