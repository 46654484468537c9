"""FSRS parameters fitted to a user's own reviews, with the optimizer of fsrs_rs_python.

The optimizer learns from reviews on a later day than the previous one, when the card was remembered or not. Reviews on
the same day are part of the history of the next such review. Days are learning days.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from operator import itemgetter

from fsrs_rs_python import DEFAULT_PARAMETERS, FSRS, FSRSItem, FSRSReview, filter_outlier

from mcp_noema.analysis import Fit, Quality
from mcp_noema.model import Preferences, Preset
from mcp_noema.scheduling.schedule import LoggedReview, clamp_parameters, since_last_learned
from toolcharter import Conflict
from toolcharter.plurals import count

MIN_ITEMS = 64
"""With fewer, the library silently fits only the first four parameters."""
_DIGITS = 4
"""As in the default parameters of FSRS. More digits of a quality would not be meaningful either."""


def fit(logs: Iterable[Sequence[LoggedReview]], preset: Preset, preferences: Preferences) -> Fit:
    """Fit the parameters of a preset to the logs of its cards."""
    histories = [history for log in logs if (history := since_last_learned(log))]
    items = _items(histories, preferences)
    review_count = sum(map(len, histories))
    _check_item_count(items, review_count)
    fitted = FSRS(DEFAULT_PARAMETERS).compute_parameters(
        items, num_relearning_steps=max(1, len(preset.relearning_steps))
    )
    parameters = round_parameters(fitted)
    return Fit(
        parameters=parameters,
        before=_quality(preset.parameters or DEFAULT_PARAMETERS, items),
        after=_quality(parameters, items),
        reviews=review_count,
        cards=len(histories),
    )


def can_fit(logs: Iterable[Sequence[LoggedReview]], preferences: Preferences) -> bool:
    """Whether there are enough reviews to fit parameters to."""
    histories = [history for log in logs if (history := since_last_learned(log))]
    return _usable_items(_items(histories, preferences)) >= MIN_ITEMS


def round_parameters(parameters: Sequence[float]) -> tuple[float, ...]:
    """Rounded, and within the bounds of the scheduler, which 32-bit floats can miss."""
    return clamp_parameters(round(value, _DIGITS) for value in parameters)


def _items(histories: Iterable[Sequence[LoggedReview]], preferences: Preferences) -> list[FSRSItem]:
    """One item for each review on a later day, with its history; oldest first, because newer items weigh more."""
    dated: list[tuple[datetime, FSRSItem]] = []
    for history in histories:
        days = [preferences.date_of(at).toordinal() for _, at, _ in history]
        elapsed = [0, *(later - earlier for earlier, later in pairwise(days))]
        reviews = [FSRSReview(rating, gap) for (rating, _, _), gap in zip(history, elapsed, strict=True)]
        dated.extend((history[i][1], FSRSItem(reviews[: i + 1])) for i, gap in enumerate(elapsed) if gap > 0)
    return [item for _, item in sorted(dated, key=itemgetter(0))]


def _usable_items(items: list[FSRSItem]) -> int:
    """The library removes outliers before it counts, so we do too."""
    first = [item for item in items if item.long_term_review_cnt() == 1]
    others = [item for item in items if item.long_term_review_cnt() > 1]
    return sum(map(len, filter_outlier(first, others))) if items else 0


def _check_item_count(items: list[FSRSItem], review_count: int) -> None:
    usable = _usable_items(items)
    if usable < MIN_ITEMS:
        raise Conflict(
            f"There are too few reviews to fit parameters: {MIN_ITEMS} usable reviews are needed, and there are "
            f"{usable}. Of {count(review_count, 'review')}, {len(items)} came on a later day than the one before; "
            "those with a rare interval do not count. Continue reviewing with the present parameters, or fit more "
            "decks together."
        )


def _quality(parameters: Sequence[float], items: list[FSRSItem]) -> Quality:
    metrics = FSRS(parameters).evaluate(items)
    # The library adds in no fixed order, so the last digits vary.
    return Quality(round(metrics.log_loss, _DIGITS), round(metrics.rmse_bins, _DIGITS))
