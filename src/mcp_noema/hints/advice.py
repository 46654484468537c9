"""Hints for studying, computed from the cards, the review log and the user's preferences. No I/O.

Every figure is computed: confidence from the number of answers behind an estimate and the age of the last; benefit from
the recall that FSRS says the next answer restores; effort from the time that the user usually takes.
"""

from collections.abc import Mapping
from datetime import datetime
from statistics import fmean
from typing import Any, Literal

from mcp_noema.hints.parts import (
    DEFAULT_ANSWER_MS,
    add_notes_action,
    card_resource,
    deck_resource,
    start_actions,
    study_action,
)
from mcp_noema.model import Card, CardId, CardState, Deck, DeckId, NoteId, Preset
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
    SourceQuality,
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
ENOUGH_REVIEWS = 10
"""With fewer answers, the usual time of one is not known."""
DAY_S = 86_400.0

StudyScope = Mapping[str, Any]
"""The arguments that say what is being studied: a deck, a query and so on. Each suggestion repeats them."""
NOTHING_MORE: StudyScope = {}

Alignment = Literal["strong", "moderate", "weak", "neutral", "conflict"]
MODERATE = 0.4
"""A preference that is matched less is explained."""
ALIGNMENTS: tuple[tuple[float, Alignment], ...] = (
    (0.75, "strong"),
    (MODERATE, "moderate"),
    (0.1, "weak"),
    (-0.1, "neutral"),
    (-1.0, "conflict"),
)
"""The lowest score of each alignment."""


def study_evidence(
    card: Card, next_answer: int, preset: Preset, recent: RecentReviews
) -> tuple[Evidence, tuple[str, ...]]:
    """The evidence for hints about a card, and what is missing to know better: the share of it that is known.

    Parameters fitted to the user are a better source than the defaults, and an incomplete log is a worse one.
    """
    unlogged = max(0, card.reps - (next_answer - 1))
    known = {
        f"{count(unlogged, 'answer')} of this card that the log does not have": 1.0 - unlogged / max(1, card.reps),
        "the time that answers take (timeTakenMs)": 1.0 if recent.usual_ms else 0.0,
        f"answers of the user: {recent.reviews} of the {ENOUGH_REVIEWS} that show how they study": min(
            1.0, recent.reviews / ENOUGH_REVIEWS
        ),
    }
    fitted: SourceQuality = "high" if preset.parameters else "medium"
    source = "low" if unlogged else fitted if recent.reviews else "unknown"
    missing = tuple(text for text, share in known.items() if share < 1.0)
    return Evidence(completeness=round(fmean(known.values()), 4), source=source), missing


def _answer_ms(recent: RecentReviews) -> int:
    return recent.usual_ms or DEFAULT_ANSWER_MS


def answer_impact(gain: float, recent: RecentReviews) -> EstimatedImpact:
    """How much likelier the card is known in a month if it is answered now, and the time: a minute is full effort."""
    return EstimatedImpact(
        benefit=round(gain, 4),
        effort=min(1.0, round(_answer_ms(recent) / MINUTE_MS, 4)),
        affected_metrics=("retention",),
    )


# --- suggested actions -------------------------------------------------------------------------------------


def next_card_action(queue: StudyQueue, study: StudyScope, confidence: float) -> SuggestedAction:
    """Show the next card of the deck being studied."""
    left = queue.remaining
    action = study_action(
        None,
        f"{left.due} due, {left.learning} in learning and {count(left.new, 'new card')} are left today.",
        priority="high" if left.learning or left.due else "medium",
        cards=left.total,
        time_ms=left.total * _answer_ms(queue.recent),
    )
    outcome = "The next card is shown; nothing changes until it is answered."
    return action.model_copy(update={"data": dict(study), "expected_outcome": outcome, "confidence": confidence})


def progress_action(queue: StudyQueue) -> SuggestedAction:
    """Show the progress when nothing is left for today."""
    return SuggestedAction(
        action="get-progress",
        priority="medium",
        description=f"{count(queue.recent.session_reviews, 'answer')} in this session: show the user how it went.",
        category="exploration",
    )


def grade_action(
    card_id: CardId, next_answer: int, study: StudyScope = NOTHING_MORE, *, then_next: bool
) -> SuggestedAction:
    """Grade the card that is shown, once the user has answered, and get the next one with `then_next`.

    The key is the same each time until the card is answered, so an answer that is sent twice counts once.
    """
    data = {"cardId": card_id, **study} | {"idempotencyKey": f"{card_id}-{next_answer}"}
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
    scores = {"sessionMinutes": max(-1.0, min(1.0, 1.0 - spent / preferred))}
    explanations = {"sessionMinutes": f"{spent:.0f} of {count(preferred, 'minute')} of this session have passed."}
    if (focus := queue.preferences.focus) != "balanced":
        is_new = next_state is CardState.NEW
        scores["focus"] = (1.0 if is_new else 0.0) if focus == "new-material" else (-0.5 if is_new else 1.0)
        explanations["focus"] = f"The focus is {focus}, and the next card is {'new' if is_new else 'due'}."
    return tuple(
        PreferenceAlignment(
            action=action,
            preference=preference,
            alignment=alignment_of(score),
            score=round(score, 4),
            explanation=explanations[preference] if score < MODERATE else None,
        )
        for preference, score in scores.items()
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
            reasoning=f"It was forgotten {count(card.lapses, 'time')} in {count(card.reps, 'answer')}.",
        ),
    )


def slow_answer_warning(duration_ms: int, recent: RecentReviews) -> HintWarning | None:
    """The answer took much longer than usual."""
    if recent.reviews < ENOUGH_REVIEWS or not recent.usual_ms or duration_ms < SLOW_FACTOR * recent.usual_ms:
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
    default = () if preset.parameters else ("The default FSRS parameters fit the user.",)
    return ("The user answers before seeing the back.", *default)


# --- whole hints -------------------------------------------------------------------------------------------


def after_review(
    recorded: RecordedReview, queue: StudyQueue, study: StudyScope, now: datetime, *, with_next: bool
) -> AgentHints:
    """Hints after an answer: continue, or show the progress. `with_next`: the result has the next card."""
    first = queue.faces[0] if queue.faces else None
    shown = first.card if first else recorded.card
    evidence, missing = study_evidence(shown, queue.next_answer, _preset(queue, shown, recorded.preset), queue.recent)
    if first is None:
        step = progress_action(queue)
    elif with_next:
        step = grade_action(CardId.of(first.card.id), queue.next_answer, study, then_next=True)
    else:
        step = next_card_action(queue, study, evidence.confidence)
    warnings = (
        leech_warning(recorded.card, recorded.preset, fresh=recorded.became_leech),
        slow_answer_warning(recorded.review.duration_ms, queue.recent),
        backlog_warning(queue),
        _repeated_warning(recorded),
    )
    return AgentHints(
        evidence=evidence,
        suggested_next_actions=(step,),
        related_resources=(card_resource(first) if first else deck_resource(recorded.deck),),
        validity_period="short",
        context_needed=missing,
        assumptions=assumptions(recorded.preset),
        risk_factors=tuple(filter(None, (fatigue_risk(queue),))),
        estimated_impact=answer_impact(queue.next_gain, queue.recent) if first else NO_IMPACT,
        preference_alignment=preference_alignments(queue, first.card.schedule.state if first else None, step.action),
        why=_why(recorded, queue, now),
        alternatives=leech_alternatives(recorded.card, recorded.preset, evidence.confidence),
        warnings=tuple(filter(None, warnings)) or None,
    )


def _preset(queue: StudyQueue, card: Card, otherwise: Preset) -> Preset:
    return queue.presets.get(card.deck_id, otherwise)


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


def before_review(queue: StudyQueue, study: StudyScope, now: datetime) -> AgentHints:
    """Hints with a card to show, or with none left."""
    warnings = tuple(filter(None, (backlog_warning(queue),)))
    if not queue.faces:
        return _nothing_left(queue, study, now).model_copy(update={"warnings": warnings or None})
    face = queue.faces[0]
    preset = queue.presets[face.card.deck_id]
    leech = leech_warning(face.card, preset, fresh=False)
    evidence, missing = study_evidence(face.card, queue.next_answer, preset, queue.recent)
    return AgentHints(
        evidence=evidence,
        context_needed=missing,
        suggested_next_actions=(grade_action(CardId.of(face.card.id), queue.next_answer, study, then_next=True),),
        related_resources=(card_resource(face),),
        validity_period="short",
        assumptions=assumptions(preset),
        risk_factors=tuple(filter(None, (fatigue_risk(queue),))),
        estimated_impact=answer_impact(queue.next_gain, queue.recent),
        preference_alignment=preference_alignments(queue, face.card.schedule.state, "review-card"),
        why=f"{_left_today(queue)}; learning cards come first.",
        warnings=(*warnings, *((leech,) if leech else ())) or None,
    )


def _nothing_left(queue: StudyQueue, study: StudyScope, now: datetime) -> AgentHints:
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
    then = study_action(None, "Then continue.", cards=cards, time_ms=cards * _answer_ms(queue.recent))
    then = then.model_copy(update={"data": dict(study), "prerequisites": ("update-deck",)})
    reason = "Today's limit must be raised first."
    return AgentHints(
        evidence=Evidence(),
        suggested_next_actions=(progress_action(queue), *raised, then),
        dependencies=(Dependency(action="review-next-card", depends_on=("update-deck",), reason=reason),),
        why=why,
    )


_LIMIT_NAMES = {"new": "newPerDay", "review": "reviewsPerDay"}
_CARD_NAMES = {"new": "new card", "review": "due card"}


def preview_action(study: StudyScope) -> SuggestedAction:
    """Show the next card of a preview."""
    return SuggestedAction(
        action="review-next-card",
        priority="medium",
        data={**study, "skip": study.get("skip", 0) + 1},
        description="Once the user has answered: the next card of the preview.",
        category="learning",
        reversible=True,
    )


def nothing_left_message(queue: StudyQueue) -> str:
    """Why no card is shown."""
    if queue.matching:
        return (
            f"Nothing waits among the {count(queue.matching, 'card')} that match; preview or ahead shows them anyway."
        )
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
