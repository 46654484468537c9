"""What to do next while studying, worked out from the cards, the log and what the user prefers. Pure.

Nothing here is made up: confidence follows from how many answers an estimate rests on and how old the last is; benefit
is the share of memory that FSRS says the next answer wins back; effort is the time the user usually takes.
"""

from datetime import datetime
from typing import Literal

from mcp_core import Evidence, SuggestedAction
from mcp_core.hints import (
    AgentHints,
    EstimatedImpact,
    HintWarning,
    PreferenceAlignment,
    RiskFactor,
)
from mcp_noema.hint_parts import UNKNOWN_MS, card_resource, deck_resource
from mcp_noema.model import Card, CardId, DeckId, NoteId, Preset, ReviewId, State
from mcp_noema.repositories import COUNT_LIMIT, Queue, RecentReviews, RecordedReview

MINUTE_MS = 60_000
SLOW = 3.0
"""An answer that takes this many times the usual is worth a word."""
ENOUGH_TO_COMPARE = 10
DAY_S = 86_400.0

Alignment = Literal["strong", "moderate", "weak", "neutral", "conflict"]
ALIGNMENTS: tuple[tuple[float, Alignment], ...] = (
    (0.75, "strong"),
    (0.4, "moderate"),
    (0.1, "weak"),
    (-0.1, "neutral"),
)
"""From which score on a suggestion fits how well; below all of them it is in conflict."""


def evidence_of(card: Card, recent: RecentReviews, now: datetime) -> Evidence:
    """How well a card is known: by its answers, and by how long ago the last was, measured in its own stability.

    A new card is known only by what the user does with others.
    """
    schedule = card.schedule
    if schedule.last_review is None or schedule.stability is None:
        return Evidence(samples=recent.reviews, samples_for_half=20, source="medium")
    age = max(0.0, (now - schedule.last_review).total_seconds())
    # After its stability in days a memory has fallen to 90 %; what is known about it fades more slowly than that.
    return Evidence(
        samples=card.reps,
        samples_for_half=3,
        age_seconds=age,
        half_life_seconds=max(schedule.stability, 1.0) * DAY_S * 10,
    )


def usual_ms(queue: Queue) -> int:
    """How long the user takes for an answer."""
    return queue.recent.usual_ms or UNKNOWN_MS


def impact_of_next(queue: Queue, recall: float | None) -> EstimatedImpact:
    """What the next answer wins back, and what it takes: a minute is full effort. `recall` is None for a new card."""
    if not queue.faces:
        return EstimatedImpact(benefit=0.0, effort=0.0)
    return EstimatedImpact(
        benefit=round(1.0 - (recall or 0.0), 4),
        effort=min(1.0, round(usual_ms(queue) / MINUTE_MS, 4)),
        affected_metrics=("retention", "cards due"),
    )


# --- what to call next -------------------------------------------------------------------------------------


def go_on(queue: Queue, deck_id: DeckId | None, confidence: float) -> SuggestedAction:
    """The next card, in the deck that is being studied."""
    left = queue.remaining
    return SuggestedAction(
        action="review-next-card",
        priority="high" if left.learning or left.due else "medium",
        data={"deckId": deck_id} if deck_id else {},
        description=f"{left.due} due, {left.learning} in learning and {left.new} new cards are left today.",
        estimated_time=left.total * usual_ms(queue),
        category="learning",
        expected_outcome="The next card is shown; nothing changes until it is answered.",
        reversible=True,
        confidence=confidence,
    )


def undo(recorded: RecordedReview) -> SuggestedAction:
    """For a grade that was given by mistake."""
    return SuggestedAction(
        action="undo-review",
        priority="low",
        data={"reviewId": ReviewId.of(recorded.review.id)},
        description="If the grade was a mistake.",
        category="correction",
        expected_outcome="The card is as it was before this answer.",
        reversible=False,
    )


def look_back(queue: Queue) -> SuggestedAction:
    """When nothing is left for today."""
    return SuggestedAction(
        action="get-progress",
        priority="medium",
        description=f"{queue.recent.session_reviews} answers in this session: show the user how it went.",
        category="exploration",
    )


def answer_it(card_id: CardId, deck_id: DeckId | None) -> SuggestedAction:
    """With the card on the screen: the user answers, then it is graded."""
    data = {"cardId": card_id} | ({"deckId": deck_id} if deck_id else {})
    return SuggestedAction(
        action="review-card",
        priority="high",
        data=data,
        description="Show the front, wait for the user's answer, then add grade: again, hard, good or easy.",
        category="learning",
        reversible=True,
    )


# --- preferences -------------------------------------------------------------------------------------------


def alignment(score: float) -> Alignment:
    """A score in a word."""
    fits: list[Alignment] = [word for least, word in ALIGNMENTS if score >= least]
    return fits[0] if fits else "conflict"


def fits_preferences(queue: Queue, next_state: State | None) -> tuple[PreferenceAlignment, ...]:
    """How going on fits what the user has said."""
    if next_state is None:
        return ()
    wanted, spent = queue.preferences.session_minutes, queue.recent.session_minutes
    time_left = max(-1.0, min(1.0, 1.0 - spent / wanted))
    is_new = next_state is State.NEW
    focus = {"balanced": 0.5, "retention": -0.5 if is_new else 1.0, "new-material": 1.0 if is_new else 0.0}
    fit = focus[queue.preferences.focus]
    kind = "a new card" if is_new else "a card that is due"
    return (
        PreferenceAlignment(
            action="review-next-card",
            preference="sessionMinutes",
            alignment=alignment(time_left),
            score=round(time_left, 4),
            explanation=f"{spent:.0f} of {wanted} minutes of this session have passed.",
        ),
        PreferenceAlignment(
            action="review-next-card",
            preference="focus",
            alignment=alignment(fit),
            score=fit,
            explanation=f"The focus is {queue.preferences.focus}, and next comes {kind}.",
        ),
    )


# --- what to watch out for ---------------------------------------------------------------------------------


def pile_warning(queue: Queue) -> HintWarning | None:
    """More is due than a day takes."""
    if not queue.backlog:
        return None
    more = "at least " if queue.backlog >= COUNT_LIMIT else ""
    return HintWarning(
        type="performance",
        severity="high" if queue.backlog > queue.remaining.due else "medium",
        message=f"{more}{queue.backlog} more cards are due than today's limit lets through.".capitalize(),
        suggested_fix="plan-workload shows how long it takes to catch up; update-deck changes reviewsPerDay.",
        auto_fixable=False,
    )


def leech_warning(card: Card, preset: Preset, *, fresh: bool) -> HintWarning | None:
    """A card that is forgotten again and again."""
    if card.lapses < preset.leech_threshold:
        return None
    return HintWarning(
        type="performance",
        severity="high" if fresh else "medium",
        message=f"A leech: forgotten {card.lapses} times.{' Its note is tagged leech now.' if fresh else ''}",
        related_ids=(CardId.of(card.id), NoteId.of(card.note_id)),
        suggested_fix="Reword it with update-note, make a hint with the user, or pause it with suspend-cards.",
        auto_fixable=False,
    )


def slow_warning(duration_ms: int, queue: Queue) -> HintWarning | None:
    """An answer that took much longer than usual."""
    recent = queue.recent
    if recent.reviews < ENOUGH_TO_COMPARE or not recent.usual_ms or duration_ms < SLOW * recent.usual_ms:
        return None
    return HintWarning(
        type="performance",
        severity="low",
        message=f"It took {duration_ms / 1000:.0f} s; {recent.usual_ms / 1000:.0f} s are usual.",
        suggested_fix="Ask whether the card is too long: a card that asks one thing is answered faster.",
        auto_fixable=False,
    )


def fatigue(queue: Queue) -> RiskFactor | None:
    """A session that lasts longer than the user likes."""
    wanted, spent = queue.preferences.session_minutes, queue.recent.session_minutes
    if spent <= wanted:
        return None
    over = min(1.0, (spent - wanted) / wanted)
    return RiskFactor(
        type="user-experience",
        severity="medium" if over >= 0.5 else "low",  # noqa: PLR2004 - half as long again as they like
        description=f"The session has lasted {spent:.0f} minutes, and {wanted} are preferred.",
        probability=round(over, 4),
        impact=round(over / 2, 4),
        mitigation="Offer a pause.",
    )


def assumptions(preset: Preset) -> tuple[str, ...]:
    """What a schedule takes for granted."""
    fitted = "The user's own FSRS parameters fit." if preset.parameters else "FSRS's default parameters fit the user."
    return ("The user answered before seeing the back.", fitted)


# --- whole hints -------------------------------------------------------------------------------------------


def after_review(recorded: RecordedReview, queue: Queue, deck_id: DeckId | None, now: datetime) -> AgentHints:
    """After an answer: go on, or look back, with what this answer showed."""
    evidence = evidence_of(recorded.card, queue.recent, now)
    first = queue.faces[0] if queue.faces else None
    step = go_on(queue, deck_id, evidence.confidence) if first else look_back(queue)
    warnings = (
        leech_warning(recorded.card, recorded.preset, fresh=recorded.became_leech),
        slow_warning(recorded.review.duration_ms, queue),
        pile_warning(queue),
        _repeated(recorded),
    )
    resources = [deck_resource(recorded.deck)]
    if first:
        resources.append(card_resource(first, relevance=0.5))
    return AgentHints(
        evidence=evidence,
        suggested_next_actions=(step,) if recorded.repeated else (step, undo(recorded)),
        related_resources=tuple(resources),
        validity_period="short",
        context_needed=() if recorded.review.duration_ms else ("the time taken for the answer (timeTakenMs)",),
        assumptions=assumptions(recorded.preset),
        risk_factors=tuple(filter(None, (fatigue(queue),))),
        estimated_impact=impact_of_next(queue, queue.next_recall),
        preference_alignment=fits_preferences(queue, first.card.schedule.state if first else None),
        why=_why(recorded, queue, now),
        warnings=tuple(filter(None, warnings)) or None,
    )


def _repeated(recorded: RecordedReview) -> HintWarning | None:
    if not recorded.repeated:
        return None
    return HintWarning(
        type="duplicate",
        severity="low",
        message="This review came before under the same key. It is recorded once.",
        auto_fixable=False,
    )


def _why(recorded: RecordedReview, queue: Queue, now: datetime) -> str:
    due = recorded.card.schedule.due
    when = f"due again in {in_words((due - now).total_seconds())}" if due else "not scheduled"
    return f"The card is {when}. {queue.remaining.total} cards are left today."


def before_review(queue: Queue, deck_id: DeckId | None, now: datetime) -> AgentHints:
    """With a card to show, or with none left."""
    warnings = tuple(filter(None, (pile_warning(queue),)))
    if not queue.faces:
        later = (
            f" The next learning card is due in {in_words((queue.next_learning - now).total_seconds())}."
            if (queue.next_learning)
            else ""
        )
        return AgentHints(
            evidence=Evidence(),
            suggested_next_actions=(look_back(queue),),
            validity_period="short",
            why=f"Nothing is left for today.{later}",
            warnings=warnings or None,
        )
    face = queue.faces[0]
    preset = queue.presets[face.card.deck_id]
    leech = leech_warning(face.card, preset, fresh=False)
    return AgentHints(
        evidence=evidence_of(face.card, queue.recent, now),
        suggested_next_actions=(answer_it(CardId.of(face.card.id), deck_id),),
        related_resources=(card_resource(face),),
        validity_period="short",
        assumptions=assumptions(preset),
        risk_factors=tuple(filter(None, (fatigue(queue),))),
        estimated_impact=impact_of_next(queue, queue.next_recall),
        preference_alignment=tuple(
            fit.model_copy(update={"action": "review-card"})
            for fit in fits_preferences(queue, face.card.schedule.state)
        ),
        why=f"{queue.remaining.total} cards are left today; learning cards come first.",
        warnings=(*warnings, *((leech,) if leech else ())) or None,
    )


_UNITS = ((365 * DAY_S, "y"), (30 * DAY_S, "mo"), (DAY_S, "d"), (3600.0, "h"), (60.0, "m"), (1.0, "s"))


def in_words(seconds: float) -> str:
    """A span as Anki's buttons show it: 10m, 3d, 1.2mo."""
    for size, unit in _UNITS:
        if seconds >= size:
            number = seconds / size
            return f"{number:.1f}".rstrip("0").rstrip(".") + unit if unit in ("mo", "y") else f"{number:.0f}{unit}"
    return "0s"
