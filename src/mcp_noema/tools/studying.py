"""Studying: what is to be asked now, and what was answered."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from mcp_core import Example, Need, RateLimit, SuggestedAction, ToolContext, hints, tool
from mcp_core.hints import AgentHints, Evidence
from mcp_noema import advice
from mcp_noema.model import RATINGS, CardFace, CardId, DeckId, Grade, ReviewId, World
from mcp_noema.repositories import NewReview, Queue, RecordedReview, RemainingCounts, Studies
from mcp_noema.tools.vocabulary import READS, WRITES, ACard, Answer, AnyDeck, Arguments, iso, owner

LONGEST_ANSWER_MS = 3_600_000


def face_json(face: CardFace) -> dict[str, Any]:
    """A card with both sides."""
    shown = {
        "cardId": CardId.of(face.card.id),
        "front": face.front,
        "back": face.back,
        "deck": face.deck,
        "state": face.card.schedule.state.word,
        "due": iso(face.card.schedule.due),
    }
    return shown | ({"media": list(face.media)} if face.media else {})


def _remaining_json(remaining: RemainingCounts) -> dict[str, int]:
    return {"new": remaining.new, "learning": remaining.learning, "due": remaining.due}


class GetDueCards(Arguments):
    """Which cards, and how many."""

    deck_id: AnyDeck = None
    limit: Annotated[int, Field(ge=1, le=200, description="Cards to show.")] = 20


@tool(
    **READS,
    permissions=["cards:read"],
    # What is due changes with every second.
    cacheable=False,
    tags=["cards", "reviews"],
    examples=[
        Example(
            "What there is to study",
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
async def get_due_cards(args: GetDueCards, studies: Need[Studies], world: Need[World], context: ToolContext) -> Answer:
    """Show what is due today, with learning and new cards.

    Use it to see which and how many cards are waiting; to study them, review-next-card. Returns cards with both sides.

    They come in the order in which they should be asked. `backlog` is what is due beyond the limit.
    """
    queue = await studies.queue(owner(context), args.deck_id, args.limit, world.now())
    value = {
        "cards": [face_json(face) for face in queue.faces],
        "remaining": _remaining_json(queue.remaining),
        "backlog": queue.backlog,
        "nextLearningAt": iso(queue.next_learning),
    }
    return Answer.ok(value, hints=_for_queue(queue, args.deck_id, world.now()))


def _for_queue(queue: Queue, deck_id: DeckId | None, now: datetime) -> AgentHints:
    made = advice.before_review(queue, deck_id, now)
    if not queue.faces:
        return made
    shown = len(queue.faces) / max(len(queue.faces), queue.remaining.total)
    step = advice.go_on(queue, deck_id, made.confidence)
    return made.model_copy(
        update={
            "evidence": Evidence(completeness=shown),
            "suggested_next_actions": (step,),
            "preference_alignment": advice.fits_preferences(queue, queue.faces[0].card.schedule.state),
        }
    )


class ReviewNextCard(Arguments):
    """Where to go on."""

    deck_id: AnyDeck = None


_SHOW = "Show the user the front only. Wait for their answer, then compare it with the back and call review-card."


@tool(
    **READS,
    permissions=["cards:read"],
    # The next card is another one after each answer, and with time.
    cacheable=False,
    tags=["cards", "reviews"],
    examples=[
        Example(
            "The next card of a deck",
            {"deckId": "deck_2"},
            {
                "card": "<any>",
                "recall": None,
                "intervals": {"again": "1m", "hard": "6m", "good": "10m", "easy": "<text>"},
                "remaining": {"new": 1, "learning": 1, "due": 0},
            },
        )
    ],
)
async def review_next_card(
    args: ReviewNextCard, studies: Need[Studies], world: Need[World], context: ToolContext
) -> Answer:
    """Get the next question to ask the user.

    Use it when they want to study, be quizzed or tested, and after each review-card. Returns both sides of the card and
    when each grade would bring it back.

    When nothing is left, `card` is missing and `nextLearningAt` says when to come back.
    """
    now = world.now()
    queue = await studies.queue(owner(context), args.deck_id, 1, now)
    made = advice.before_review(queue, args.deck_id, now)
    left = {"remaining": _remaining_json(queue.remaining)}
    if not queue.faces:
        value = left | {"nextLearningAt": iso(queue.next_learning)}
        return Answer.ok(value, message="Nothing is left for today.", hints=made)
    shown = {
        "card": face_json(queue.faces[0]),
        "recall": queue.next_recall,
        "intervals": {grade: advice.in_words(seconds) for grade, seconds in queue.next_intervals.items()},
    }
    return Answer.ok(shown | left, instruction=_SHOW, hints=made)


class ReviewCard(Arguments):
    """An answer to a card."""

    card_id: ACard
    grade: Annotated[Grade, Field(description="again: forgotten. hard, good, easy: remembered.")]
    time_taken_ms: Annotated[int | None, Field(ge=0, le=LONGEST_ANSWER_MS, description="From question to answer.")] = (
        None
    )
    reviewed_at: Annotated[AwareDatetime | None, Field(description="If not now; with time zone.")] = None
    idempotency_key: Annotated[
        str | None, Field(min_length=1, max_length=255, description="Recorded once under one key.")
    ] = None
    deck_id: Annotated[DeckId | None, Field(description="The deck being studied, to go on in it.")] = None


@tool(
    **WRITES,
    permissions=["reviews:write"],
    rate_limit=RateLimit(max_calls=600, window_ms=60_000),
    tags=["cards", "reviews", "decks", "statistics"],
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
                "remaining": "<any>",
            },
        )
    ],
)
async def review_card(args: ReviewCard, studies: Need[Studies], world: Need[World], context: ToolContext) -> Answer:
    """Grade how well the user remembered a card.

    Use it after each answer: it was easy, good, hard, or forgotten. Returns when the card comes back and what is left.

    With an idempotencyKey a review that is sent twice is recorded once.
    """
    now = world.now()
    answered = NewReview(
        args.card_id,
        RATINGS[args.grade],
        args.time_taken_ms or 0,
        args.reviewed_at,
        args.idempotency_key,
        deck_id=args.deck_id,
    )
    recorded = await studies.record(owner(context), answered, now, world.dice)
    queue = await studies.queue(owner(context), args.deck_id, 1, now)
    value = _recorded_json(recorded, args.grade, now) | {"remaining": _remaining_json(queue.remaining)}
    made = advice.after_review(recorded, queue, args.deck_id, now)
    return Answer.ok(value, hints=made)


def _recorded_json(recorded: RecordedReview, grade: Grade, now: datetime) -> dict[str, Any]:
    schedule, review = recorded.card.schedule, recorded.review
    return {
        "reviewId": ReviewId.of(review.id),
        "cardId": CardId.of(review.card_id),
        "grade": grade,
        "reviewedAt": iso(review.reviewed_at),
        "state": schedule.state.word,
        "due": iso(schedule.due),
        "dueIn": advice.in_words((schedule.due - now).total_seconds()) if schedule.due else None,
        "stability": schedule.stability,
        "difficulty": schedule.difficulty,
        "lapses": recorded.card.lapses,
        "repeated": recorded.repeated,
    }


class UndoReview(Arguments):
    """Which review."""

    review_id: Annotated[ReviewId | None, Field(description="Such as review_1; left out, the latest.")] = None


@tool(
    **WRITES,
    permissions=["reviews:write"],
    tags=["cards", "reviews", "decks", "statistics"],
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
async def undo_review(args: UndoReview, studies: Need[Studies], world: Need[World], context: ToolContext) -> Answer:
    """Undo the last answer.

    Use it when a grade was wrong and the user takes it back. Returns the card as it was, ready to be graded again.

    The log keeps the review, marked as taken back. Only a card's last review can be.
    """
    gone = await studies.undo(owner(context), args.review_id, world.now())
    card_id = CardId.of(gone.card.id)
    value = {
        "undone": ReviewId.of(gone.review.id),
        "cardId": card_id,
        "state": gone.card.schedule.state.word,
        "due": iso(gone.card.schedule.due),
        "deckId": DeckId.of(gone.deck.id),
    }
    again = SuggestedAction(
        action="review-card",
        priority="high",
        data={"cardId": card_id},
        description="Grade it anew, with the grade that was meant.",
        category="correction",
    )
    return Answer.ok(value, hints=hints.for_updated("card", card_id, gone.deck.name, then=[again]))
