"""Statistics: what was learned, and how much of it is remembered."""

from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field

from mcp_core import AgentHints, DateRange, Example, InvalidArguments, Need, SuggestedAction, ToolContext, hints, tool
from mcp_core.hints import EstimatedImpact
from mcp_noema.analysis import (
    REVIEW_COUNT_LIMIT,
    Basis,
    DeckStats,
    Prediction,
    Progress,
    ReviewFilter,
    ReviewPage,
    StudyTotals,
)
from mcp_noema.hint_parts import card_resource, deck_resource, effort_of, evidence_from, shortened, time_for
from mcp_noema.model import GRADES, RATINGS, CardId, DeckId, Review, ReviewId, World
from mcp_noema.repositories import Statistics
from mcp_noema.tools.vocabulary import READS, ADeck, Answer, AnyDeck, Arguments, iso, owner

ANALYSES = READS | {"category": "analysis"}
_TAGS = ["statistics", "cards", "reviews", "decks"]
_ACard = Annotated[CardId | None, Field(description="One card, such as card_1.")]

TELLING = 100
"""From how many answers on a true retention can be held against the desired one."""
FAR = 0.05
"""A difference in retention that is worth a word."""


def rounded(value: float | None, digits: int = 4) -> float | None:
    """As many digits as an average deserves."""
    return None if value is None else round(value, digits)


def _study(deck_id: DeckId | None, cards: int, basis: Basis, *, due: str) -> SuggestedAction:
    return SuggestedAction(
        action="review-next-card",
        priority="high",
        data={"deckId": deck_id} if deck_id else {},
        description=f"{cards} {due}.",
        estimated_time=time_for(cards, basis),
        category="learning",
        reversible=True,
    )


def _one_or_all(card_id: CardId | None, deck_id: DeckId | None) -> ReviewFilter:
    if card_id is not None and deck_id is not None:
        raise InvalidArguments("Give cardId or deckId, not both.", fields=("cardId", "deckId"))
    return ReviewFilter(card_id, deck_id)


# --- retention ---------------------------------------------------------------------------------------------


class PredictRetention(Arguments):
    """Of what, and when."""

    card_id: _ACard = None
    deck_id: AnyDeck = None
    on: Annotated[date | None, Field(description="A day, YYYY-MM-DD; left out, now.")] = None
    limit: Annotated[int, Field(ge=0, le=50, description="Weakest cards to show.")] = 5


@tool(
    **ANALYSES,
    permissions=["reviews:read"],
    cacheable=True,
    cache_ttl=10,
    tags=_TAGS,
    examples=[
        Example(
            "What of a deck is remembered now",
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
    args: PredictRetention, statistics: Need[Statistics], world: Need[World], context: ToolContext
) -> Answer:
    """Predict how much will be remembered on a day.

    Use it when the user asks what they will still know, or have forgotten, at an exam. Returns the average recall and
    the weakest cards.

    `below` counts cards that are less likely to be remembered than their deck desires. New and suspended cards are
    left out.
    """
    search = _one_or_all(args.card_id, args.deck_id)
    found = await statistics.predict(owner(context), search, args.on, args.limit, world.now())
    value = {
        "at": iso(found.at),
        "cards": found.cards,
        "average": rounded(found.average),
        "desired": rounded(found.desired),
        "below": found.below,
        "weakest": [
            {
                "cardId": CardId.of(face.card.id),
                "front": shortened(face.front),
                "recall": each.recall,
                "due": iso(face.card.schedule.due),
            }
            for face, each in found.weakest
        ],
    }
    part = f"Estimated from {found.sampled} of {found.cards} cards." if found.sampled < found.cards else None
    return Answer.ok(value, message=part, hints=_for_prediction(found, args.deck_id, world.now()))


def _for_prediction(found: Prediction, deck_id: DeckId | None, now: datetime) -> AgentHints:
    if found.average is None:
        begin = _study(deck_id, 0, found.basis, due="of these cards have been answered: nothing is known yet")
        return hints.for_value(evidence=evidence_from(found.basis, now), then=[begin])
    then = [_study(deck_id, found.below, found.basis, due="cards are below the desired retention")] * (found.below > 0)
    return AgentHints(
        evidence=evidence_from(found.basis, now),
        suggested_next_actions=tuple(then),
        related_resources=tuple(card_resource(face, relevance=1.0 - each.recall) for face, each in found.weakest[:3]),
        validity_period="long",
        assumptions=("No card is answered until then.", "The memory follows FSRS with the parameters of the deck."),
        # What was just answered is remembered: so much the average would rise.
        estimated_impact=EstimatedImpact(
            benefit=round(found.gain, 4),
            effort=effort_of(found.below, found.basis),
            affected_metrics=("retention",),
        ),
        why=f"{found.average:.0%} of {found.cards} cards are remembered, and {found.desired:.0%} are desired.",
    )


# --- progress ----------------------------------------------------------------------------------------------


class GetProgress(Arguments):
    """How far back."""

    deck_id: AnyDeck = None
    days: Annotated[int, Field(ge=1, le=90, description="Days to look back, with today.")] = 7


def _studied_json(done: StudyTotals) -> dict[str, Any]:
    return {
        "reviews": done.reviews,
        "new": done.new,
        "minutes": round(done.minutes, 1),
        "retention": rounded(done.retention),
    }


@tool(
    **READS,
    permissions=["reviews:read"],
    cacheable=True,
    cache_ttl=10,
    tags=_TAGS,
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
                "forecast": "<any>",
                "newWaiting": 2,
            },
        )
    ],
)
async def get_progress(
    args: GetProgress, statistics: Need[Statistics], world: Need[World], context: ToolContext
) -> Answer:
    """Show how the user is doing.

    Use it after a session, or when they ask about progress or their streak. Returns what was learned today and on the
    last days, streak and forecast.

    `retention` is the share of learned cards that were remembered. `forecast` counts cards by the day they are due.
    """
    found = await statistics.progress(owner(context), args.deck_id, args.days, world.now())
    whole = sum(found.days.values(), StudyTotals())
    *_, today = found.days
    value = {
        "today": _studied_json(found.days[today]),
        "period": {
            "from": min(found.days).isoformat(),
            "to": today.isoformat(),
            "daysStudied": sum(done.reviews > 0 for done in found.days.values()),
            **_studied_json(whole),
            "grades": {grade: whole.grades.get(grade, 0) for grade in RATINGS},
        },
        "daily": [{"date": day.isoformat(), **_studied_json(done)} for day, done in found.days.items() if done.reviews],
        "streak": found.streak,
        "forecast": [{"date": day.isoformat(), "due": due} for day, due in found.forecast.items()],
        "newWaiting": found.new_waiting,
    }
    return Answer.ok(value, hints=_for_progress(found, whole, args.deck_id, world.now()))


def _for_progress(found: Progress, whole: StudyTotals, deck_id: DeckId | None, now: datetime) -> AgentHints:
    due = next(iter(found.forecast.values()))
    then = [_study(deck_id, due, found.basis, due="cards are due today")] * (due > 0)
    if (off := _off_target(whole, found.desired, deck_id)) is not None:
        then.append(off)
    return AgentHints(
        evidence=evidence_from(found.basis, now),
        suggested_next_actions=tuple(then),
        validity_period="medium",
        assumptions=("The days of the user begin when their preferences say.",),
        # A card that is due has fallen to the desired retention; an answer wins back the rest.
        estimated_impact=EstimatedImpact(
            benefit=round(1.0 - (found.desired or 0.9), 4) if due else 0.0,
            effort=effort_of(due, found.basis),
            affected_metrics=("retention", "streak"),
        ),
        why=f"{whole.reviews} reviews in {len(found.days)} days, {found.streak} days in a row.",
    )


def _off_target(whole: StudyTotals, desired: float | None, deck_id: DeckId | None) -> SuggestedAction | None:
    """FSRS predicts something else than what happens: its parameters do not fit."""
    if whole.retention is None or desired is None or whole.learned < TELLING or abs(whole.retention - desired) < FAR:
        return None
    return SuggestedAction(
        action="optimize-parameters",
        priority="medium",
        data={"deckId": deck_id} if deck_id else {},
        description=f"{whole.retention:.0%} were remembered where {desired:.0%} are desired; this fits FSRS anew.",
        category="optimization",
        reversible=True,
    )


# --- a deck in figures -------------------------------------------------------------------------------------


class GetDeckStats(Arguments):
    """Which deck."""

    deck_id: ADeck


@tool(
    **READS,
    permissions=["reviews:read"],
    cacheable=True,
    cache_ttl=10,
    tags=_TAGS,
    examples=[
        Example(
            "A deck in figures",
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
    args: GetDeckStats, statistics: Need[Statistics], world: Need[World], context: ToolContext
) -> Answer:
    """Show statistics of a deck with those in it.

    Use it to judge how well a subject is known: mature cards, right answers, difficulty. Returns counts, averages, true
    retention and leeches.

    A card is mature with a stability of 21 days. Stability is the days until recall falls to 90 %.
    """
    found = await statistics.deck_stats(owner(context), args.deck_id, world.now())
    value = {
        "deckId": DeckId.of(found.deck.id),
        "name": found.deck.name,
        "cards": {
            "new": found.new,
            "learning": found.learning,
            "relearning": found.relearning,
            "young": found.young,
            "mature": found.mature,
            "suspended": found.suspended,
        },
        "due": found.due,
        "leeches": found.leeches,
        "averageStability": rounded(found.average_stability),
        "averageDifficulty": rounded(found.average_difficulty),
        "averageRecall": rounded(found.average_recall),
        "desiredRetention": found.preset.desired_retention,
        "last30Days": _studied_json(found.last_30_days),
    }
    return Answer.ok(value, hints=_for_stats(found, args.deck_id, world.now()))


def _for_stats(found: DeckStats, deck_id: DeckId, now: datetime) -> AgentHints:
    then = [_study(deck_id, found.due, found.basis, due="cards are due today")] * (found.due > 0)
    if (off := _off_target(found.last_30_days, found.preset.desired_retention, deck_id)) is not None:
        then.append(off)
    if found.leeches:
        then.append(_leeches(found))
    return AgentHints(
        evidence=evidence_from(found.basis, now),
        suggested_next_actions=tuple(then),
        related_resources=(deck_resource(found.deck),),
        validity_period="medium",
        estimated_impact=EstimatedImpact(
            benefit=round(1.0 - found.preset.desired_retention, 4) if found.due else 0.0,
            effort=effort_of(found.due, found.basis),
            affected_metrics=("retention",),
        ),
        why=f"{found.young + found.mature} cards of the deck are learned, {found.mature} of them for long.",
    )


def _leeches(found: DeckStats) -> SuggestedAction:
    often = found.preset.leech_threshold
    return SuggestedAction(
        action="search-cards",
        priority="low",
        data={"query": f'"deck:{found.deck.name}" prop:lapses>={often}', "sortBy": "lapses", "sortOrder": "desc"},
        description=f"{found.leeches} cards were forgotten {often} times or more: reword or suspend them.",
        category="correction",
    )


# --- the log -----------------------------------------------------------------------------------------------


class GetReviewHistory(Arguments, DateRange):
    """Which reviews."""

    card_id: _ACard = None
    deck_id: AnyDeck = None
    limit: Annotated[int, Field(ge=1, le=100, description="Reviews to show.")] = 20
    cursor: Annotated[ReviewId | None, Field(description="nextCursor of the page before.")] = None


def _review_json(review: Review, page: ReviewPage) -> dict[str, Any]:
    front = page.fronts.get(review.card_id)
    return {
        "reviewId": ReviewId.of(review.id),
        "cardId": CardId.of(review.card_id),
        "front": None if front is None else shortened(front),
        "grade": GRADES[review.rating],
        "reviewedAt": iso(review.reviewed_at),
        "seconds": round(review.duration_ms / 1000, 1),
        "stateBefore": review.state.word,
        "intervalDays": round(review.interval_s / 86_400, 2),
        "stability": review.stability,
        "difficulty": review.difficulty,
    }


@tool(
    **READS,
    permissions=["reviews:read"],
    cacheable=True,
    cache_ttl=10,
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
async def get_review_history(args: GetReviewHistory, statistics: Need[Statistics], context: ToolContext) -> Answer:
    """List past reviews, the newest first.

    Use it to see what the user answered or got wrong, and when. Returns grade, time and interval of each.

    Answers that were taken back are left out; those to deleted cards stay, without a front.
    """
    kind = _one_or_all(args.card_id, args.deck_id)
    search = ReviewFilter(kind.card_id, kind.deck_id, first=args.from_, last=args.to)
    page = await statistics.history(owner(context), search, args.limit, args.cursor)
    following = ReviewId.of(page.reviews[-1].id) if page.more else None
    value = {
        "reviews": [_review_json(review, page) for review in page.reviews],
        "total": page.total,
        "nextCursor": following,
    }
    many = f"At least {REVIEW_COUNT_LIMIT} reviews; counting stops there." if page.total >= REVIEW_COUNT_LIMIT else None
    given = args.model_dump(mode="json", by_alias=True, exclude_none=True)
    more = SuggestedAction(action="get-review-history", data=given | {"cursor": following})
    made = hints.for_list(len(page.reviews), page.total, more=more if page.more else None)
    return Answer.ok(value, message=many, hints=made)
