"""Statistics: what was learned, and how much of it is remembered."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field

from mcp_noema.analysis import (
    INTERVALS,
    REVIEW_COUNT_LIMIT,
    Basis,
    DeckStats,
    Prediction,
    Progress,
    ReviewFilter,
    ReviewPage,
    StudyTotals,
)
from mcp_noema.hints.parts import (
    basis_evidence,
    card_resource,
    deck_argument,
    deck_resource,
    shorten,
    start_actions,
    study_action,
    study_effort,
    study_time_ms,
)
from mcp_noema.model import GRADES, RATINGS, CardId, ClockAndRandom, DeckId, Review, ReviewId
from mcp_noema.store import Store
from mcp_noema.tools.vocabulary import Arguments, DeckIdArg, JsonResult, OptionalDeckId, iso, owner, reads, rounded
from toolcharter import Example, InvalidArguments, ToolContext, hints
from toolcharter.arguments import DateRange
from toolcharter.hints import AgentHints, Dependency, EstimatedImpact, Evidence, SuggestedAction
from toolcharter.plurals import count, verb

reports = reads.preset(
    response_time="medium", permissions=["reviews:read"], cache_ttl=10, tags=["statistics", "cards", "reviews", "decks"]
)
_OptionalCardId = Annotated[
    CardId | None, Field(description="Only this card, such as card_1; give either this or deckId, or neither for all.")
]

LONGEST_MONTH = 31
MIN_ANSWERS = 100
"""True retention is compared with the desired one from this many answers on."""
MIN_REVIEWS_TO_FIT = 400
"""A suggestion to fit FSRS to this many answers has half confidence."""
MIN_DIFFERENCE = 0.05
"""The difference in retention from which on fitting FSRS is suggested."""


def _study(deck_id: DeckId | None, cards: int, basis: Basis, description: str) -> SuggestedAction:
    return study_action(deck_id, description, priority="high", cards=cards, time_ms=study_time_ms(cards, basis))


def _check_card_or_deck(card_id: CardId | None, deck_id: DeckId | None) -> None:
    if card_id is not None and deck_id is not None:
        raise InvalidArguments("Give cardId or deckId, not both.", fields=("cardId", "deckId"), alternatives=True)


# --- retention ---------------------------------------------------------------------------------------------


class PredictRetention(Arguments):
    """Of which cards, and when."""

    card_id: _OptionalCardId = None
    deck_id: OptionalDeckId = None
    on: Annotated[
        date | None, Field(description="The day to predict for, such as that of an exam, YYYY-MM-DD; omit for now.")
    ] = None
    limit: Annotated[int, Field(ge=0, le=50, description="How many of the weakest cards to return.")] = 5


@reports(
    category="analysis",
    examples=[
        Example(
            "How much of a deck is remembered now",
            {"deckId": "deck_2"},
            {
                "at": "<time>",
                "cards": 1,
                "average": 1.0,
                "desired": 0.9,
                "below": 0,
                "weakest": [{"cardId": "card_3", "front": "the dog", "recall": 1.0, "due": "<time>"}],
            },
        )
    ],
)
async def predict_retention(
    args: PredictRetention, store: Store, clock: ClockAndRandom, context: ToolContext
) -> JsonResult:
    """Predict how much will be remembered on a day.

    Use it for what the user will still know or forget by an exam, the chance to recall, or cards about to be
    forgotten. Returns the average recall and the weakest cards.

    `below` counts cards whose recall is below the desired retention of their deck. New and suspended cards are left
    out.
    """
    _check_card_or_deck(args.card_id, args.deck_id)
    of = ReviewFilter(args.card_id, args.deck_id)
    prediction = await store.statistics.predict(
        store.database, owner(context), of, clock.now(), on=args.on, most=args.limit
    )
    value = {
        "at": iso(prediction.at),
        "cards": prediction.cards,
        "average": rounded(prediction.average),
        "desired": rounded(prediction.desired),
        "below": prediction.below,
        "weakest": [
            {
                "cardId": CardId.of(face.card.id),
                "front": shorten(face.front),
                "recall": rounded(recall.recall),
                "due": iso(face.card.schedule.due),
            }
            for face, recall in prediction.weakest
        ],
    }
    sample = (
        f"Estimated from {prediction.sampled} of {count(prediction.cards, 'card')}."
        if prediction.sampled < prediction.cards
        else None
    )
    return JsonResult.ok(value, message=sample, hints=_prediction_hints(prediction, args.deck_id, clock.now()))


def _cards_are(number: int) -> str:
    return f"{count(number, 'card')} {verb(number, 'is', 'are')}"


def _prediction_hints(prediction: Prediction, deck_id: DeckId | None, now: datetime) -> AgentHints:
    if prediction.average is None:
        study = _study(deck_id, 0, prediction.basis, "None of these cards has been answered yet.")
        return hints.for_value(evidence=basis_evidence(prediction.basis, now), then=[study])
    below = f"{_cards_are(prediction.below)} below the desired retention."
    then = [_study(deck_id, prediction.below, prediction.basis, below)] if prediction.below else []
    return AgentHints(
        evidence=basis_evidence(prediction.basis, now),
        suggested_next_actions=tuple(then),
        related_resources=tuple(
            card_resource(face, relevance=1.0 - recall.recall) for face, recall in prediction.weakest[:3]
        ),
        validity_period="long",
        assumptions=("No card is answered until then.", "Memory follows FSRS with the parameters of the deck."),
        # A card that was just answered is remembered; this is how much the average would rise.
        estimated_impact=EstimatedImpact(
            benefit=round(prediction.gain, 4),
            effort=study_effort(prediction.below, prediction.basis),
            affected_metrics=("retention",),
        ),
        why=f"{prediction.average:.0%} of {_cards_are(prediction.cards)} remembered; "
        f"{prediction.desired:.0%} is desired.",
    )


# --- progress ----------------------------------------------------------------------------------------------


class GetProgress(Arguments):
    """Of which deck, and for how many days."""

    deck_id: OptionalDeckId = None
    days: Annotated[int, Field(ge=1, le=366, description="How many days to look back, including today.")] = 7
    forecast_days: Annotated[int, Field(ge=1, le=90, description="How many days of due cards to forecast.")] = 7


def _totals_json(totals: StudyTotals) -> dict[str, Any]:
    return {
        "reviews": totals.reviews,
        "new": totals.new,
        "minutes": round(totals.minutes, 1),
        "retention": rounded(totals.retention),
    }


@reports(
    examples=[
        Example(
            "How today went",
            {"days": 1},
            {
                "today": {"reviews": 1, "new": 1, "minutes": 0.1, "retention": None},
                "period": {
                    "from": "<text>",
                    "to": "<text>",
                    "daysStudied": 1,
                    "reviews": 1,
                    "new": 1,
                    "minutes": 0.1,
                    "retention": None,
                    "grades": {"again": 0, "hard": 0, "good": 1, "easy": 0},
                },
                "daily": [{"date": "<text>", "reviews": 1, "new": 1, "minutes": 0.1, "retention": None}],
                "streak": 1,
                "forecast": [{"date": "<text>", "due": 1}, *[{"date": "<text>", "due": 0}] * 6],
                "newWaiting": 2,
                "desiredRetention": 0.9,
            },
        )
    ],
)
async def get_progress(
    args: GetProgress,
    store: Store,
    clock: ClockAndRandom,
    context: ToolContext,
) -> JsonResult:
    """Show how the user is doing over time.

    Use it after a session, or when they ask about progress or their streak; for how well one deck is known,
    get-deck-stats; for single answers, get-review-history. Returns what was learned today and on the last days, streak
    and forecast.

    `retention` is the share of learned cards that were remembered. `forecast` counts cards by the day they are due.
    A period of more than 31 days has totals of each month, too. `desiredRetention` is null if decks differ in it.
    """
    progress = await store.read(
        store.statistics.progress,
        owner(context),
        args.deck_id,
        clock.now(),
        days=args.days,
        forecast_days=args.forecast_days,
    )
    period = sum(progress.days.values(), StudyTotals())
    *_, today = progress.days
    value: dict[str, Any] = {
        "today": _totals_json(progress.days[today]),
        "period": {
            "from": min(progress.days).isoformat(),
            "to": today.isoformat(),
            "daysStudied": sum(totals.reviews > 0 for totals in progress.days.values()),
            **_totals_json(period),
            "grades": {grade: period.grades.get(grade, 0) for grade in RATINGS},
        },
        "daily": [
            {"date": day.isoformat(), **_totals_json(totals)} for day, totals in progress.days.items() if totals.reviews
        ],
        "streak": progress.streak,
        "forecast": [{"date": day.isoformat(), "due": due} for day, due in progress.forecast.items()],
        "newWaiting": progress.new_waiting,
        "desiredRetention": progress.desired,
    }
    if args.days > LONGEST_MONTH:
        value["monthly"] = [{"month": month, **_totals_json(totals)} for month, totals in _by_month(progress).items()]
    fit = await _fit_action(store, owner(context), period, progress.desired, args.deck_id)
    return JsonResult.ok(value, hints=_progress_hints(progress, period, args.deck_id, fit=fit))


def _by_month(progress: Progress) -> dict[str, StudyTotals]:
    months: dict[str, StudyTotals] = {}
    for day, totals in progress.days.items():
        month = f"{day:%Y-%m}"
        months[month] = months.get(month, StudyTotals()) + totals
    return months


def _progress_hints(
    progress: Progress,
    period: StudyTotals,
    deck_id: DeckId | None,
    *,
    fit: SuggestedAction | None,
) -> AgentHints:
    due = next(iter(progress.forecast.values()))
    then = [_study(deck_id, due, progress.basis, f"{_cards_are(due)} due today.")] if due else []
    if progress.collection_is_empty:
        then = start_actions()
    if fit is not None:
        then.append(fit)
    return AgentHints(
        # Counted, not estimated.
        evidence=Evidence(),
        suggested_next_actions=tuple(then),
        dependencies=_fit_dependencies(then),
        validity_period="medium",
        assumptions=("Days begin at the hour and in the time zone of the user's preferences.",),
        # A due card has fallen to the desired retention; an answer restores the rest.
        estimated_impact=EstimatedImpact(
            benefit=round(1.0 - (progress.desired or 0.9), 4) if due else 0.0,
            effort=study_effort(due, progress.basis),
            affected_metrics=("retention", "streak"),
        ),
        why=f"{count(period.reviews, 'review')} in {count(len(progress.days), 'day')}, "
        f"a streak of {count(progress.streak, 'day')}.",
    )


async def _fit_action(
    store: Store, owner_name: str, totals: StudyTotals, desired: float | None, deck_id: DeckId | None
) -> SuggestedAction | None:
    """Suggest to fit FSRS if the true retention is far from the desired one, and there are enough reviews."""
    if totals.retention is None or desired is None or totals.learned < MIN_ANSWERS:
        return None
    if abs(totals.retention - desired) < MIN_DIFFERENCE or not await store.scheduling.can_optimize(
        store.database, owner_name, deck_id
    ):
        return None
    return SuggestedAction(
        action="optimize-parameters",
        priority="medium",
        data=deck_argument(deck_id),
        description=f"{totals.retention:.0%} were remembered, but {desired:.0%} is desired: fit FSRS to the reviews.",
        category="optimization",
        reversible=True,
        confidence=Evidence(samples=totals.learned, samples_for_half=MIN_REVIEWS_TO_FIT).confidence,
    )


def _fit_dependencies(steps: Sequence[SuggestedAction]) -> tuple[Dependency, ...]:
    if not {"review-next-card", "optimize-parameters"} <= {step.action for step in steps}:
        return ()
    reason = "The answers of today count too."
    return (
        Dependency(action="optimize-parameters", depends_on=("review-next-card",), type="recommended", reason=reason),
    )


# --- statistics of a deck ----------------------------------------------------------------------------------


class GetDeckStats(Arguments):
    """Which deck."""

    deck_id: DeckIdArg
    distribution: Annotated[bool, Field(description="Also count the cards by interval and by difficulty.")] = False


@reports(
    examples=[
        Example(
            "Statistics of a deck",
            {"deckId": "deck_2"},
            {
                "deckId": "deck_2",
                "name": "Languages::French",
                "cards": {"new": 2, "learning": 1, "relearning": 0, "young": 0, "mature": 0, "suspended": 0},
                "due": 1,
                "leeches": 0,
                "averageStability": "<number>",
                "averageDifficulty": "<number>",
                "averageRecall": 1.0,
                "desiredRetention": 0.9,
                "last30Days": {"reviews": 1, "new": 1, "minutes": 0.1, "retention": None},
            },
        )
    ],
)
async def get_deck_stats(
    args: GetDeckStats,
    store: Store,
    clock: ClockAndRandom,
    context: ToolContext,
) -> JsonResult:
    """Show statistics of the cards of one deck and its subdecks, as they are now.

    Use it to judge how well a subject is known: mature cards, right answers, difficulty. For days and streaks, use
    get-progress. Returns counts, averages, true retention and leeches.

    A card is mature from a stability of 21 days on. Stability is the number of days until recall falls to 90 %.
    An interval is counted under the first number of days that it does not exceed, or under null.
    """
    stats = await store.statistics.deck_stats(
        store.database, owner(context), args.deck_id, clock.now(), distribution=args.distribution
    )
    value: dict[str, Any] = {
        "deckId": DeckId.of(stats.deck.id),
        "name": stats.deck.name,
        "cards": {
            "new": stats.new,
            "learning": stats.learning,
            "relearning": stats.relearning,
            "young": stats.young,
            "mature": stats.mature,
            "suspended": stats.suspended,
        },
        "due": stats.due,
        "leeches": stats.leeches,
        "averageStability": rounded(stats.average_stability),
        "averageDifficulty": rounded(stats.average_difficulty),
        "averageRecall": rounded(stats.average_recall),
        "desiredRetention": stats.preset.desired_retention,
        "last30Days": _totals_json(stats.last_30_days),
    }
    if stats.distribution is not None:
        intervals = zip((*INTERVALS, None), stats.distribution.intervals, strict=True)
        value["intervals"] = [{"days": days, "cards": cards} for days, cards in intervals]
        difficulties = enumerate(stats.distribution.difficulties, start=1)
        value["difficulties"] = [{"difficulty": level, "cards": cards} for level, cards in difficulties]
    desired = stats.preset.desired_retention
    fit = await _fit_action(store, owner(context), stats.last_30_days, desired, args.deck_id)
    return JsonResult.ok(value, hints=_stats_hints(stats, args.deck_id, fit=fit))


def _stats_hints(stats: DeckStats, deck_id: DeckId, *, fit: SuggestedAction | None) -> AgentHints:
    then = [_study(deck_id, stats.due, stats.basis, f"{_cards_are(stats.due)} due today.")] if stats.due else []
    if fit is not None:
        then.append(fit)
    if stats.leeches:
        then.append(_leeches_action(stats))
    return AgentHints(
        evidence=Evidence(),
        suggested_next_actions=tuple(then),
        dependencies=_fit_dependencies(then),
        related_resources=(deck_resource(stats.deck),),
        validity_period="medium",
        estimated_impact=EstimatedImpact(
            benefit=round(1.0 - stats.preset.desired_retention, 4) if stats.due else 0.0,
            effort=study_effort(stats.due, stats.basis),
            affected_metrics=("retention",),
        ),
        why=f"{_cards_are(stats.young + stats.mature)} learned in this deck, {stats.mature} of them mature.",
    )


def _leeches_action(stats: DeckStats) -> SuggestedAction:
    threshold = stats.preset.leech_threshold
    return SuggestedAction(
        action="search-cards",
        priority="low",
        data={"query": f'"deck:{stats.deck.name}" prop:lapses>={threshold}', "sortBy": "lapses", "sortOrder": "desc"},
        description=f"{count(stats.leeches, 'card')} {verb(stats.leeches, 'was', 'were')} forgotten "
        f"{count(threshold, 'time')} or more: reword or suspend.",
        category="correction",
    )


# --- the log -----------------------------------------------------------------------------------------------


class GetReviewHistory(Arguments, DateRange):
    """Which reviews."""

    card_id: _OptionalCardId = None
    deck_id: OptionalDeckId = None
    limit: Annotated[int, Field(ge=1, le=100, description="How many reviews to return at most.")] = 20
    cursor: Annotated[ReviewId | None, Field(description="Where to continue: nextCursor of the page before.")] = None


def _review_json(review: Review, page: ReviewPage) -> dict[str, Any]:
    front = page.fronts.get(review.card_id)
    return {
        "reviewId": ReviewId.of(review.id),
        "cardId": CardId.of(review.card_id),
        "front": None if front is None else shorten(front),
        "grade": GRADES[review.rating],
        "reviewedAt": iso(review.reviewed_at),
        "seconds": round(review.duration_ms / 1000, 1),
        "stateBefore": review.state.word,
        "intervalDays": round(review.interval_s / 86_400, 2),
        "stability": rounded(review.stability),
        "difficulty": rounded(review.difficulty),
    }


@reports(
    response_time="fast",
    tags=["statistics", "reviews"],
    examples=[
        Example(
            "The last answers to a card",
            {"cardId": "card_3", "limit": 1},
            {
                "reviews": [
                    {
                        "reviewId": "review_1",
                        "cardId": "card_3",
                        "front": "the dog",
                        "grade": "good",
                        "reviewedAt": "<time>",
                        "seconds": 4.0,
                        "stateBefore": "new",
                        "intervalDays": 0.01,
                        "stability": "<number>",
                        "difficulty": "<number>",
                    }
                ],
                "total": 1,
                "nextCursor": None,
            },
        )
    ],
)
async def get_review_history(args: GetReviewHistory, store: Store, context: ToolContext) -> JsonResult:
    """List past reviews of a deck or card, newest first.

    Use it to show every single answer the user gave, and when; for totals of days, use get-progress. Returns grade,
    time and interval of each.

    Undone reviews are left out; reviews of deleted cards have no front.
    """
    _check_card_or_deck(args.card_id, args.deck_id)
    review_filter = ReviewFilter(args.card_id, args.deck_id, first=args.from_, last=args.to)
    page = await store.read(store.review_history.load_page, owner(context), review_filter, args.limit, args.cursor)
    cursor = ReviewId.of(page.reviews[-1].id) if page.more else None
    value = {
        "reviews": [_review_json(review, page) for review in page.reviews],
        "total": page.total,
        "nextCursor": cursor,
    }
    message = (
        f"At least {REVIEW_COUNT_LIMIT} reviews; counting stops there." if page.total >= REVIEW_COUNT_LIMIT else None
    )
    next_page = args.model_dump(mode="json", by_alias=True, exclude_none=True) | {"cursor": cursor}
    more = SuggestedAction(action="get-review-history", data=next_page)
    agent_hints = hints.for_list(len(page.reviews), page.total, more=more if page.more else None)
    return JsonResult.ok(value, message=message, hints=agent_hints)
