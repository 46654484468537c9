"""Hints for studying, computed from the cards, the review log and the user's preferences. No I/O.

Every figure is computed: confidence from the number of answers behind an estimate and the age of the last; benefit from
the recall that FSRS says the next answer restores; effort from the time that the user usually takes.
"""

from datetime import datetime
from typing import Literal

from mcp_noema.hints.parts import (
    DEFAULT_ANSWER_MS,
    add_notes_action,
    card_resource,
    deck_argument,
    deck_resource,
    start_actions,
    study_action,
)
from mcp_noema.model import Card, CardId, CardState, Deck, DeckId, NoteId, Preset, ReviewId
from mcp_noema.records import COUNT_LIMIT, HeldBack, RecentReviews, RecordedReview, StudyQueue
from toolcharter.hints import (
    NO_IMPACT,
    AgentHints,
    Alternative,
    Dependency,
    EstimatedImpact,
    Evidence,
    HintWarning,
    PreferenceAlignment,
    RiskFactor,
    SuggestedAction,
)
from toolcharter.plurals import count, verb

MINUTE_MS = 60_000
MORE_CARDS = 20
"""How many more cards a day are suggested if a limit is reached."""
MAX_LIMIT = 9999
"""The highest daily limit."""
SLOW_FACTOR = 3.0
"""An answer is slow from this many times the usual time on."""
MIN_REVIEWS_TO_COMPARE = 10
DAY_S = 86_400.0

Alignment = Literal["strong", "moderate", "weak", "neutral", "conflict"]
ALIGNMENTS: tuple[tuple[float, Alignment], ...] = (
    (0.75, "strong"),
    (0.4, "moderate"),
    (0.1, "weak"),
    (-0.1, "neutral"),
    (-1.0, "conflict"),
)
"""The lowest score of each alignment."""


def card_evidence(card: Card, now: datetime) -> Evidence:
    """How reliable the state of a card is: by its number of answers, and the age of the last relative to its stability.

    Nothing is estimated about a new card.
    """
    schedule = card.schedule
    if schedule.last_review is None or schedule.stability is None:
        return Evidence()
    age = max(0.0, (now - schedule.last_review).total_seconds())
    # Recall falls to 90 % after `stability` days; the estimate itself ages more slowly.
    return Evidence(
        samples=card.reps,
        samples_for_half=3,
        age_seconds=age,
        half_life_seconds=max(schedule.stability, 1.0) * DAY_S * 10,
    )


def _answer_ms(recent: RecentReviews) -> int:
    return recent.usual_ms or DEFAULT_ANSWER_MS


def answer_impact(recall: float | None, recent: RecentReviews) -> EstimatedImpact:
    """The recall that an answer restores, and its time: a minute is full effort. `recall` is None for a new card."""
    return EstimatedImpact(
        benefit=round(1.0 - (recall or 0.0), 4),
        effort=min(1.0, round(_answer_ms(recent) / MINUTE_MS, 4)),
        affected_metrics=("retention", "cards due"),
    )


# --- suggested actions -------------------------------------------------------------------------------------


def next_card_action(queue: StudyQueue, deck_id: DeckId | None, confidence: float) -> SuggestedAction:
    """Show the next card of the deck being studied."""
    left = queue.remaining
    action = study_action(
        deck_id,
        f"{left.due} due, {left.learning} in learning and {count(left.new, 'new card')} are left today.",
        priority="high" if left.learning or left.due else "medium",
        cards=left.total,
        time_ms=left.total * _answer_ms(queue.recent),
    )
    outcome = "The next card is shown; nothing changes until it is answered."
    return action.model_copy(update={"expected_outcome": outcome, "confidence": confidence})


def undo_action(recorded: RecordedReview) -> SuggestedAction:
    """Undo a grade that was given by mistake."""
    return SuggestedAction(
        action="undo-review",
        priority="low",
        data={"reviewId": ReviewId.of(recorded.review.id)},
        description="If the grade was a mistake.",
        category="correction",
        expected_outcome="The card is as it was before this answer.",
        reversible=False,
    )


def progress_action(queue: StudyQueue) -> SuggestedAction:
    """Show the progress when nothing is left for today."""
    return SuggestedAction(
        action="get-progress",
        priority="medium",
        description=f"{count(queue.recent.session_reviews, 'answer')} in this session: show the user how it went.",
        category="exploration",
    )


def grade_action(card_id: CardId, next_answer: int, deck_id: DeckId | None, *, then_next: bool) -> SuggestedAction:
    """Grade the card that is shown, once the user has answered, and get the next one with `then_next`.

    The key is the same each time until the card is answered, so an answer that is sent twice counts once.
    """
    data = {"cardId": card_id} | deck_argument(deck_id) | {"idempotencyKey": f"{card_id}-{next_answer}"}
    return SuggestedAction(
        action="review-card",
        priority="high",
        data=data | ({"next": True} if then_next else {}),
        description="Show the front, wait for the user's answer, then add the grade.",
        category="learning",
        reversible=True,
    )


# --- preferences -------------------------------------------------------------------------------------------


def alignment_of(score: float) -> Alignment:
    """The alignment for a score."""
    return next(alignment for lowest, alignment in ALIGNMENTS if score >= lowest)


def preference_alignments(
    queue: StudyQueue, next_state: CardState | None, action: str = "review-next-card"
) -> tuple[PreferenceAlignment, ...]:
    """How well it matches the user's preferences to continue with the next card."""
    if next_state is None:
        return ()
    preferred, spent = queue.preferences.session_minutes, queue.recent.session_minutes
    time_left = max(-1.0, min(1.0, 1.0 - spent / preferred))
    is_new = next_state is CardState.NEW
    focus = queue.preferences.focus
    scores = {"balanced": 0.5, "retention": -0.5 if is_new else 1.0, "new-material": 1.0 if is_new else 0.0}
    return (
        PreferenceAlignment(
            action=action,
            preference="sessionMinutes",
            alignment=alignment_of(time_left),
            score=round(time_left, 4),
            explanation=f"{spent:.0f} of {count(preferred, 'minute')} of this session have passed.",
        ),
        PreferenceAlignment(
            action=action,
            preference="focus",
            alignment=alignment_of(scores[focus]),
            score=scores[focus],
            explanation=f"The focus is {focus}, and the next card is {'new' if is_new else 'due'}.",
        ),
    )


# --- warnings and risks ------------------------------------------------------------------------------------


def backlog_warning(queue: StudyQueue) -> HintWarning | None:
    """More cards are due than the daily limit allows."""
    if not queue.backlog:
        return None
    at_least = "at least " if queue.backlog >= COUNT_LIMIT else ""
    return HintWarning(
        type="performance",
        severity="high" if queue.backlog > queue.remaining.due else "medium",
        message=f"{at_least}{count(queue.backlog, 'more card')} {verb(queue.backlog, 'is', 'are')} due than today's "
        "limit allows.".capitalize(),
        suggested_fix="plan-workload shows how long it takes to catch up; update-deck changes reviewsPerDay.",
        auto_fixable=False,
    )


_TAGGED = " Its note is now tagged leech."


def leech_warning(card: Card, preset: Preset, *, fresh: bool) -> HintWarning | None:
    """The card was forgotten as often as a leech."""
    if card.lapses < preset.leech_threshold:
        return None
    return HintWarning(
        type="performance",
        severity="high" if fresh else "medium",
        message=f"The card is a leech: forgotten {count(card.lapses, 'time')}.{_TAGGED if fresh else ''}",
        related_ids=(CardId.of(card.id), NoteId.of(card.note_id)),
        suggested_fix="Reword it with update-note, make a hint with the user, or pause it with suspend-cards.",
        auto_fixable=False,
    )


def leech_alternatives(card: Card, preset: Preset, confidence: float) -> tuple[Alternative, ...] | None:
    """Other steps for a card that was forgotten as often as a leech."""
    if card.lapses < preset.leech_threshold:
        return None
    return (
        Alternative(
            approach="Suspend the card with suspend-cards",
            confidence=confidence,
            reasoning=f"It was forgotten {count(card.lapses, 'time')} in {count(card.reps, 'answer')}, and takes time "
            "from other cards.",
            pros=("Other cards get the time.",),
            cons=("What is on the card is forgotten.",),
            estimated_impact=round(min(1.0, card.lapses / max(1, card.reps)), 4),
        ),
    )


def slow_answer_warning(duration_ms: int, recent: RecentReviews) -> HintWarning | None:
    """The answer took much longer than usual."""
    if recent.reviews < MIN_REVIEWS_TO_COMPARE or not recent.usual_ms or duration_ms < SLOW_FACTOR * recent.usual_ms:
        return None
    return HintWarning(
        type="performance",
        severity="low",
        message=f"The answer took {duration_ms / 1000:.0f} s; {recent.usual_ms / 1000:.0f} s is usual.",
        suggested_fix="Ask whether the card is too long: a card about one thing is answered faster.",
        auto_fixable=False,
    )


def fatigue_risk(queue: StudyQueue) -> RiskFactor | None:
    """The session is longer than the user prefers."""
    preferred, spent = queue.preferences.session_minutes, queue.recent.session_minutes
    if spent <= preferred:
        return None
    over = min(1.0, (spent - preferred) / preferred)
    return RiskFactor(
        type="user-experience",
        severity="medium" if over >= 0.5 else "low",  # noqa: PLR2004 - half as long again
        description=f"The session has lasted {count(round(spent), 'minute')}; the user prefers {preferred}.",
        probability=round(over, 4),
        impact=round(over / 2, 4),
        mitigation="Offer a break.",
    )


def assumptions(preset: Preset) -> tuple[str, ...]:
    """The assumptions of a schedule."""
    parameters = "fitted FSRS parameters" if preset.parameters else "default FSRS parameters"
    return ("The user answered before seeing the back.", f"The {parameters} match the user's memory.")


# --- whole hints -------------------------------------------------------------------------------------------


def after_review(
    recorded: RecordedReview, queue: StudyQueue, deck_id: DeckId | None, now: datetime, *, with_next: bool
) -> AgentHints:
    """Hints after an answer: continue, or show the progress. `with_next`: the result has the next card."""
    evidence = card_evidence(recorded.card, now)
    first = queue.faces[0] if queue.faces else None
    if first is None:
        step = progress_action(queue)
    elif with_next:
        step = grade_action(CardId.of(first.card.id), queue.next_answer, deck_id, then_next=True)
    else:
        step = next_card_action(queue, deck_id, evidence.confidence)
    warnings = (
        leech_warning(recorded.card, recorded.preset, fresh=recorded.became_leech),
        slow_answer_warning(recorded.review.duration_ms, queue.recent),
        backlog_warning(queue),
        _repeated_warning(recorded),
    )
    resources = [deck_resource(recorded.deck)]
    if first:
        resources.append(card_resource(first, relevance=0.5))
    return AgentHints(
        evidence=evidence,
        suggested_next_actions=(step,) if recorded.repeated else (step, undo_action(recorded)),
        related_resources=tuple(resources),
        validity_period="short",
        context_needed=() if recorded.review.duration_ms else ("the time taken for the answer (timeTakenMs)",),
        assumptions=assumptions(recorded.preset),
        risk_factors=tuple(filter(None, (fatigue_risk(queue),))),
        estimated_impact=answer_impact(queue.next_recall, queue.recent) if first else NO_IMPACT,
        preference_alignment=preference_alignments(queue, first.card.schedule.state if first else None, step.action),
        why=_why(recorded, queue, now),
        alternatives=leech_alternatives(recorded.card, recorded.preset, evidence.confidence),
        warnings=tuple(filter(None, warnings)) or None,
    )


def _repeated_warning(recorded: RecordedReview) -> HintWarning | None:
    if not recorded.repeated:
        return None
    return HintWarning(
        type="duplicate",
        severity="low",
        message="A review with this idempotencyKey was recorded before. It was not recorded again.",
        auto_fixable=False,
    )


def _left_today(queue: StudyQueue) -> str:
    total = queue.remaining.total
    return f"{count(total, 'card')} {verb(total, 'is', 'are')} left today"


def _why(recorded: RecordedReview, queue: StudyQueue, now: datetime) -> str:
    due = recorded.card.schedule.due
    when = f"due again in {interval_text((due - now).total_seconds())}" if due else "not scheduled"
    return f"The card is {when}. {_left_today(queue)}."


def before_review(queue: StudyQueue, deck_id: DeckId | None, now: datetime) -> AgentHints:
    """Hints with a card to show, or with none left."""
    warnings = tuple(filter(None, (backlog_warning(queue),)))
    if not queue.faces:
        return _nothing_left(queue, deck_id, now).model_copy(update={"warnings": warnings or None})
    face = queue.faces[0]
    preset = queue.presets[face.card.deck_id]
    leech = leech_warning(face.card, preset, fresh=False)
    return AgentHints(
        evidence=card_evidence(face.card, now),
        suggested_next_actions=(grade_action(CardId.of(face.card.id), queue.next_answer, deck_id, then_next=True),),
        related_resources=(card_resource(face),),
        validity_period="short",
        assumptions=assumptions(preset),
        risk_factors=tuple(filter(None, (fatigue_risk(queue),))),
        estimated_impact=answer_impact(queue.next_recall, queue.recent),
        preference_alignment=preference_alignments(queue, face.card.schedule.state, "review-card"),
        why=f"{_left_today(queue)}; learning cards come first.",
        warnings=(*warnings, *((leech,) if leech else ())) or None,
    )


def _nothing_left(queue: StudyQueue, deck_id: DeckId | None, now: datetime) -> AgentHints:
    """Hints if no card is left: fill the deck, raise the limit, or show the progress."""
    why = nothing_left_message(queue)
    if queue.next_learning:
        why = f"{why} The next learning card is due in {interval_text((queue.next_learning - now).total_seconds())}."
    if queue.collection_is_empty or queue.empty_deck:
        add_notes = [add_notes_action(DeckId.of(queue.empty_deck.id))] if queue.empty_deck else []
        steps = (*add_notes, *start_actions()) if queue.collection_is_empty else tuple(add_notes)
        return AgentHints(evidence=Evidence(), suggested_next_actions=steps, why=why)
    raised = [raise_limit_action(held_back, deck) for held_back in queue.held_back for deck in held_back.decks]
    if not raised:
        return AgentHints(evidence=Evidence(), suggested_next_actions=(progress_action(queue),), why=why)
    cards = sum(held_back.cards for held_back in queue.held_back)
    study = study_action(deck_id, "Then continue.", cards=cards, time_ms=cards * _answer_ms(queue.recent))
    study = study.model_copy(update={"prerequisites": ("update-deck",)})
    reason = "Today's limit must be raised first."
    return AgentHints(
        evidence=Evidence(),
        suggested_next_actions=(progress_action(queue), *raised, study),
        dependencies=(Dependency(action="review-next-card", depends_on=("update-deck",), reason=reason),),
        why=why,
    )


_LIMIT_NAMES = {"new": "newPerDay", "review": "reviewsPerDay"}
_CARD_NAMES = {"new": "new card", "review": "due card"}


def nothing_left_message(queue: StudyQueue) -> str:
    """Why no card is shown."""
    if queue.collection_is_empty:
        return "The collection has no cards yet. Ask your agent for some, or import an Anki file."
    if queue.empty_deck:
        return f"The deck {queue.empty_deck.name!r} has no cards yet."
    if not queue.held_back:
        return "Nothing is left for today."
    parts = [
        f"{'at least ' if held.cards >= COUNT_LIMIT else ''}{count(held.cards, _CARD_NAMES[held.kind])} "
        f"{verb(held.cards, 'waits', 'wait')} behind the limit of {held.decks[0].name!r} "
        f"({_LIMIT_NAMES[held.kind]} is {held.limit})"
        for held in queue.held_back
    ]
    return f"Nothing is left within today's limits: {', and '.join(parts)}."


def raise_limit_action(held_back: HeldBack, deck: Deck) -> SuggestedAction:
    """Raise the limit of a deck, so that the cards behind it are shown."""
    name, limit = _LIMIT_NAMES[held_back.kind], held_back.limit + min(held_back.cards, MORE_CARDS)
    return SuggestedAction(
        action="update-deck",
        priority="low",
        data={"deckId": DeckId.of(deck.id), "preset": {name: min(limit, MAX_LIMIT)}},
        description="If the user wants more today. The limit stays raised until it is set back.",
        category="learning",
        expected_outcome=f"{name} of {deck.name!r} is {limit} instead of {held_back.limit}.",
        reversible=True,
    )


_UNITS = ((365 * DAY_S, "y"), (30 * DAY_S, "mo"), (DAY_S, "d"), (3600.0, "h"), (60.0, "m"), (1.0, "s"))


def interval_text(seconds: float) -> str:
    """An interval as Anki's buttons show it: 10m, 3d, 1.2mo."""
    for size, unit in _UNITS:
        if seconds >= size:
            number = seconds / size
            return f"{number:.1f}".rstrip("0").rstrip(".") + unit if unit in ("mo", "y") else f"{number:.0f}{unit}"
    return "0s"
