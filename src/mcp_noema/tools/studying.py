"""Studying: the cards to show now, and the user's answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, Field

from mcp_noema.hints import advice
from mcp_noema.hints.parts import deck_argument
from mcp_noema.model import RATINGS, CardFace, CardId, ClockAndRandom, DeckId, Grade, ReviewId
from mcp_noema.query.parser import MAX_LENGTH, parse
from mcp_noema.records import CustomStudy, NewReview, RecordedReview, RemainingCounts, StudyOrder, StudyQueue
from mcp_noema.store import Store
from mcp_noema.tools.vocabulary import (
    Arguments,
    CardIdArg,
    JsonResult,
    OptionalDeckId,
    iso,
    owner,
    reads,
    rounded,
    writes,
)
from toolcharter import Example, RateLimit, ToolContext, hints
from toolcharter.hints import NO_IMPACT, AgentHints, Evidence

# Not cached: the queue changes with every answer, and with time.
reads_queue = reads.preset(permissions=["cards:read"], tags=["cards", "reviews"])
writes_reviews = writes.preset(permissions=["reviews:write"], tags=["cards", "reviews", "decks", "statistics"])

MAX_ANSWER_MS = 3_600_000
MAX_AHEAD = 365


def face_json(face: CardFace) -> dict[str, Any]:
    """A card with both sides."""
    value = {
        "cardId": CardId.of(face.card.id),
        "front": face.front,
        "back": face.back,
        "deck": face.deck,
        "state": face.card.schedule.state.word,
        "due": iso(face.card.schedule.due),
    }
    return value | ({"media": list(face.media)} if face.media else {})


def _remaining_json(remaining: RemainingCounts) -> dict[str, int]:
    return {"new": remaining.new, "learning": remaining.learning, "due": remaining.due}


async def _load_study(
    store: Store, study: CustomStudy | None, deck_id: DeckId | None, clock: ClockAndRandom, context: ToolContext
) -> StudyQueue:
    """The queue of a custom study, or that of the day."""
    if study is None:
        return await _load_queue(store, deck_id, 1, clock, context)
    return await store.read(store.custom_queue.load_custom, owner(context), study, clock.now(), dice=clock.dice)


async def _load_queue(
    store: Store, deck_id: DeckId | None, max_cards: int, clock: ClockAndRandom, context: ToolContext
) -> StudyQueue:
    return await store.read(
        store.study_queue.load_queue, owner(context), deck_id, max_cards, clock.now(), dice=clock.dice
    )


class GetDueCards(Arguments):
    """Which cards, and how many."""

    deck_id: OptionalDeckId = None
    limit: Annotated[int, Field(ge=1, le=200, description="How many cards to return at most.")] = 20


@reads_queue(
    examples=[
        Example(
            "The cards to study",
            {"deckId": "deck_2", "limit": 1},
            {
                "cards": [
                    {
                        "cardId": "card_1",
                        "front": "the cheese",
                        "back": "le fromage",
                        "deck": "Languages::French",
                        "state": "new",
                        "due": None,
                    }
                ],
                "remaining": {"new": 1, "learning": 1, "due": 0},
                "backlog": 0,
                "nextLearningAt": "<time>",
            },
        )
    ],
)
async def get_due_cards(args: GetDueCards, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """List the cards that wait today: what is due, with learning and new cards.

    Use it to see today's pile: which and how many cards are waiting. To ask the user one question after the other,
    use review-next-card. Returns the cards in study order with both sides, and the counts.

    `backlog` is what is due beyond the daily limit.
    """
    queue = await _load_queue(store, args.deck_id, args.limit, clock, context)
    value = {
        "cards": [face_json(face) for face in queue.faces],
        "remaining": _remaining_json(queue.remaining),
        "backlog": queue.backlog,
        "nextLearningAt": iso(queue.next_learning),
    }
    return JsonResult.ok(value, hints=_queue_hints(queue, args.deck_id, clock.now()))


def _queue_hints(queue: StudyQueue, deck_id: DeckId | None, now: datetime) -> AgentHints:
    agent_hints = advice.before_review(queue, deck_argument(deck_id), now)
    if not queue.faces:
        return agent_hints
    step = advice.next_card_action(queue, deck_argument(deck_id), agent_hints.confidence)
    return agent_hints.model_copy(
        update={
            "evidence": Evidence(),
            "suggested_next_actions": (step,),
            "preference_alignment": advice.preference_alignments(queue, queue.faces[0].card.schedule.state),
        }
    )


class StudyArguments(Arguments):
    """The cards to study."""

    deck_id: OptionalDeckId = None
    query: Annotated[
        str | None,
        Field(
            max_length=MAX_LENGTH,
            description="Study only cards that match, beyond the daily limits, such as tag:exam, as in search-cards.",
        ),
    ] = None
    ahead: Annotated[
        int, Field(ge=0, le=MAX_AHEAD, description="Also study cards that are due within this many days.")
    ] = 0
    order: Annotated[
        StudyOrder, Field(description="due: as scheduled; weakest: the least likely to be remembered first.")
    ] = "due"

    @property
    def scope(self) -> dict[str, Any]:
        """These arguments, for the next call."""
        given = self.model_dump(by_alias=True, exclude_defaults=True, include={*StudyArguments.model_fields})
        return {name: str(value) if name == "deckId" else value for name, value in given.items()}

    def custom_study(self, *, is_preview: bool = False, skip: int = 0) -> CustomStudy | None:
        """The study, if it is not the queue of the day."""
        if self.query is None and not self.ahead and self.order == "due" and not is_preview:
            return None
        query = parse(self.query or "")
        return CustomStudy(self.deck_id, query, self.ahead, self.order, is_preview, skip)


class ReviewNextCard(StudyArguments):
    """The cards to study, and how."""

    preview: Annotated[
        bool, Field(description="Go through all matching cards, due or not; nothing is recorded or scheduled.")
    ] = False
    skip: Annotated[int, Field(ge=0, le=1_000_000, description="In a preview: how many cards were shown before.")] = 0


_SHOW_PREVIEW = (
    "Show the user the front only. Wait for their answer, then show the back. Do not call review-card: nothing of a "
    "preview is recorded."
)
_SHOW = "Show the user the front only. Wait for their answer, then compare it with the back and call review-card."


@reads_queue(
    examples=[
        Example(
            "The next card of a deck",
            {"deckId": "deck_2"},
            {
                "card": {
                    "cardId": "card_1",
                    "front": "the cheese",
                    "back": "le fromage",
                    "deck": "Languages::French",
                    "state": "new",
                    "due": None,
                },
                "recall": None,
                "intervals": {"again": "1m", "hard": "6m", "good": "10m", "easy": "<text>"},
                "remaining": {"new": 1, "learning": 1, "due": 0},
            },
        )
    ],
)
async def review_next_card(
    args: ReviewNextCard, store: Store, clock: ClockAndRandom, context: ToolContext
) -> JsonResult:
    """Get the next question to ask the user.

    Use it when they want to study or continue: to be asked, quizzed or tested, one card at a time. To only see what is
    waiting, use get-due-cards. Returns both sides of one card and the next interval for each grade.

    With `query`, `ahead`, `order` or `preview` it is for cramming, a quiz by tag, or the weakest cards. When nothing is
    left, `card` is missing and `nextLearningAt` says when to come back.
    """
    now = clock.now()
    study = args.custom_study(is_preview=args.preview, skip=args.skip)
    queue = await _load_study(store, study, args.deck_id, clock, context)
    scope = args.scope
    if args.preview:
        scope |= {"preview": True, "skip": args.skip}
    agent_hints = advice.before_review(queue, scope, now)
    left = {"remaining": _remaining_json(queue.remaining)}
    if not queue.faces:
        value = left | {"nextLearningAt": iso(queue.next_learning)}
        return JsonResult.ok(value, message=advice.nothing_left_message(queue), hints=agent_hints)
    if args.preview:
        value = {"card": face_json(queue.faces[0]), "recall": rounded(queue.next_recall)}
        value |= {"shown": args.skip + 1, "of": queue.matching}
        return JsonResult.ok(
            value, instruction=_SHOW_PREVIEW, hints=_preview_hints(queue, scope, args.skip, agent_hints)
        )
    return JsonResult.ok(_next_json(queue) | left, instruction=_SHOW, hints=agent_hints)


def _preview_hints(queue: StudyQueue, scope: dict[str, Any], skip: int, agent_hints: AgentHints) -> AgentHints:
    """The next card of the preview, or nothing after the last one. A preview teaches, but the schedule stays."""
    steps = (advice.preview_action(scope),) if skip + 1 < queue.matching else ()
    update: dict[str, Any] = {
        "suggested_next_actions": steps,
        "preference_alignment": (),
        "estimated_impact": NO_IMPACT,
    }
    return agent_hints.model_copy(update=update)


def _next_json(queue: StudyQueue) -> dict[str, Any]:
    """The first card of the queue, as it is shown."""
    return {
        "card": face_json(queue.faces[0]),
        "recall": rounded(queue.next_recall),
        "intervals": {grade: advice.interval_text(seconds) for grade, seconds in queue.next_intervals.items()},
    }


_GRADES: Mapping[str, Grade] = {
    **{grade: grade for grade in RATINGS},
    **{str(rating): grade for grade, rating in RATINGS.items()},
    "knew it": "good",
    "hesitated": "hard",
    "did not know": "again",
    "didn't know": "again",
}


def _parse_grade(value: Any) -> Any:
    """A grade in any case, by its number as in Anki, or as one of three: knew it, hesitated, did not know."""
    text = " ".join(str(value).casefold().replace("-", " ").replace("_", " ").split())
    return _GRADES.get(text, value)


GradeArg = Annotated[
    Grade,
    BeforeValidator(_parse_grade),
    Field(
        description="again: forgotten; hard: remembered with effort; good: remembered; easy: at once. 1 to 4 work too."
    ),
]


class ReviewCard(StudyArguments):
    """An answer to a card, and what is being studied, for what is left and the next card."""

    card_id: CardIdArg
    grade: GradeArg
    time_taken_ms: Annotated[
        int | None,
        Field(
            ge=0,
            le=MAX_ANSWER_MS,
            description="The time from question to answer in milliseconds, which plans and warnings use.",
        ),
    ] = None
    reviewed_at: Annotated[
        AwareDatetime | None, Field(description="When the card was answered, if not now, such as 2026-11-16T09:00:00Z.")
    ] = None
    idempotency_key: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=255,
            description="A key of your choice: a repeat of the call with it is recorded once.",
        ),
    ] = None
    next: Annotated[bool, Field(description="Also return the next card to ask, as review-next-card does.")] = False


@writes_reviews(
    rate_limit=RateLimit(max_calls=600, window_ms=60_000),
    examples=[
        Example(
            "Remembered after five seconds",
            {"cardId": "card_1", "grade": "good", "timeTakenMs": 5000},
            {
                "reviewId": "<text>",
                "cardId": "card_1",
                "grade": "good",
                "reviewedAt": "<time>",
                "state": "learning",
                "due": "<time>",
                "dueIn": "10m",
                "stability": "<number>",
                "difficulty": "<number>",
                "lapses": 0,
                "repeated": False,
                "remaining": {"new": 0, "learning": 2, "due": 0},
            },
        )
    ],
)
async def review_card(args: ReviewCard, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Grade how well the user remembered a card.

    Use it to mark each answer: right or wrong, easy, good, hard, or again (forgotten). Returns when the card comes
    back and what is left.

    A review that is sent twice with one idempotencyKey is recorded once. With next true, the result has the next card,
    like that of review-next-card.
    """
    now = clock.now()
    new_review = NewReview(
        args.card_id,
        RATINGS[args.grade],
        args.time_taken_ms or 0,
        args.reviewed_at,
        args.idempotency_key,
        deck_id=args.deck_id,
    )
    recorded = await store.write(store.reviews.record, owner(context), new_review, now, clock.dice)
    queue = await _load_study(store, args.custom_study(), args.deck_id, clock, context)
    value = _recorded_json(recorded, args.grade, now) | {"remaining": _remaining_json(queue.remaining)}
    agent_hints = advice.after_review(recorded, queue, args.scope, now, with_next=args.next)
    if not args.next:
        return JsonResult.ok(value, hints=agent_hints)
    if not queue.faces:
        value |= {"nextLearningAt": iso(queue.next_learning)}
        return JsonResult.ok(value, message=advice.nothing_left_message(queue), hints=agent_hints)
    return JsonResult.ok(value | {"next": _next_json(queue)}, instruction=_SHOW, hints=agent_hints)


def _recorded_json(recorded: RecordedReview, grade: Grade, now: datetime) -> dict[str, Any]:
    schedule, review = recorded.card.schedule, recorded.review
    return {
        "reviewId": ReviewId.of(review.id),
        "cardId": CardId.of(review.card_id),
        "grade": grade,
        "reviewedAt": iso(review.reviewed_at),
        "state": schedule.state.word,
        "due": iso(schedule.due),
        "dueIn": advice.interval_text((schedule.due - now).total_seconds()) if schedule.due else None,
        "stability": rounded(schedule.stability),
        "difficulty": rounded(schedule.difficulty),
        "lapses": recorded.card.lapses,
        "repeated": recorded.repeated,
    }


class UndoReview(Arguments):
    """Which review."""

    review_id: Annotated[
        ReviewId | None, Field(description="The review to undo, such as review_1; omit for the latest one.")
    ] = None


@writes_reviews(
    examples=[
        Example(
            "The last grade was a mistake",
            {},
            {
                "undone": "review_1",
                "cardId": "card_3",
                "state": "new",
                "due": None,
                "deckId": "deck_2",
            },
        )
    ],
)
async def undo_review(args: UndoReview, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Undo the last answer.

    Use it when the user takes a grade back, or meant another one. Returns the card as it was, ready to be graded
    again.

    The log keeps the review, marked as undone. Only the last review of a card can be undone.
    """
    undone = await store.write(store.reviews.undo, owner(context), args.review_id, clock.now())
    card_id = CardId.of(undone.card.id)
    value = {
        "undone": ReviewId.of(undone.review.id),
        "cardId": card_id,
        "state": undone.card.schedule.state.word,
        "due": iso(undone.card.schedule.due),
        "deckId": DeckId.of(undone.deck.id),
    }
    grade = advice.grade_action(card_id, undone.next_answer, then_next=False)
    description = "Grade it again, with the right grade."
    again = grade.model_copy(update={"description": description, "category": "correction"})
    return JsonResult.ok(value, hints=hints.for_updated("card", card_id, undone.deck.name, then=[again]))
