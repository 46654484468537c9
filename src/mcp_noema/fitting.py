"""FSRS fitted to a person's own reviews, by the optimizer of fsrs_rs_python.

A review teaches the optimizer something when it came on a later day than the one before it: then the card was either
remembered or not. Reviews of the same day are part of what led to it. Days are learning days.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from operator import itemgetter

from fsrs.scheduler import DEFAULT_PARAMETERS, LOWER_BOUNDS_PARAMETERS, UPPER_BOUNDS_PARAMETERS
from fsrs_rs_python import FSRS, FSRSItem, FSRSReview, filter_outlier

from mcp_core import Conflict
from mcp_noema.analysis import Fit, Quality
from mcp_noema.model import Preferences, Preset
from mcp_noema.schedule import Logged, since_learned

NEEDED = 64
"""With fewer the library leaves all parameters but the first four as they are, and says nothing."""
_DIGITS = 4
"""As many as FSRS gives its own parameters; more would promise too much of the qualities, too."""


def fit(histories: Iterable[Sequence[Logged]], preset: Preset, preferences: Preferences) -> Fit:
    """Fit the parameters of a preset to the logs of its cards, one history a card."""
    learned = [log for history in histories if (log := since_learned(history))]
    items = _items(learned, preferences)
    _check_number(items, sum(map(len, learned)))
    fitted = FSRS(DEFAULT_PARAMETERS).compute_parameters(
        items, num_relearning_steps=max(1, len(preset.relearning_steps))
    )
    parameters = within_bounds(fitted)
    return Fit(
        parameters=parameters,
        before=_quality(preset.parameters or DEFAULT_PARAMETERS, items),
        after=_quality(parameters, items),
        reviews=sum(map(len, learned)),
        cards=len(learned),
    )


def within_bounds(parameters: Sequence[float]) -> tuple[float, ...]:
    """The parameters as the scheduler takes them: short, and inside its bounds, which 32 bits may miss by a hair."""
    bounds = zip(parameters, LOWER_BOUNDS_PARAMETERS, UPPER_BOUNDS_PARAMETERS, strict=True)
    return tuple(min(max(round(value, _DIGITS), low), high) for value, low, high in bounds)


def _items(histories: Iterable[Sequence[Logged]], preferences: Preferences) -> list[FSRSItem]:
    """One item for each review on a later day, with all that led to it; the oldest first, because newer weigh more."""
    dated: list[tuple[datetime, FSRSItem]] = []
    for log in histories:
        days = [preferences.date_of(at).toordinal() for _, at, _ in log]
        gaps = [0, *(later - earlier for earlier, later in pairwise(days))]
        reviews = [FSRSReview(rating, gap) for (rating, _, _), gap in zip(log, gaps, strict=True)]
        dated.extend((log[i][1], FSRSItem(reviews[: i + 1])) for i, gap in enumerate(gaps) if gap > 0)
    return [item for _, item in sorted(dated, key=itemgetter(0))]


def _check_number(items: list[FSRSItem], reviews: int) -> None:
    """The library sets rare cases aside before it counts; so do we."""
    first = [item for item in items if item.long_term_review_cnt() == 1]
    others = [item for item in items if item.long_term_review_cnt() > 1]
    usable = sum(map(len, filter_outlier(first, others))) if items else 0
    if usable < NEEDED:
        raise Conflict(
            f"There are too few reviews to fit parameters to: of {reviews} reviews, {len(items)} came on a later day "
            f"than the one before and {usable} of those can be used, where {NEEDED} are needed. Rare intervals are "
            "set aside. Go on reviewing with the present parameters, or fit more decks together."
        )


def _quality(parameters: Sequence[float], items: list[FSRSItem]) -> Quality:
    seen = FSRS(parameters).evaluate(items)
    # The library adds up in no fixed order, so that the last digits mean nothing.
    return Quality(round(seen.log_loss, _DIGITS), round(seen.rmse_bins, _DIGITS))
