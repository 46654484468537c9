"""The study queue: the cards to show now, in order."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from mcp_noema.model import DeckId, Dice, Grade
from mcp_noema.records import Owner, RemainingCounts, StudyQueue
from mcp_noema.scheduling.schedule import gain_of_answer, next_schedules, retrievability
from mcp_noema.store import card_faces
from mcp_noema.store.deck_selection import select_decks
from mcp_noema.store.study import waiting_cards
from mcp_noema.store.study.daily_limits import DailyLimits, studied_on
from mcp_noema.store.study.empty_queue import EmptyQueue, explain
from mcp_noema.store.study.recent_reviews import load_recent, next_answer
from mcp_noema.store.study.waiting_cards import AllowedCards, QueueRequest, WaitingCard

MIN_CARDS_PER_DECK = 20
"""How many cards of each deck are read at least, because siblings among them are left out."""


def load_queue(
    connection: Connection, owner: str, deck_id: DeckId | None, max_cards: int, now: datetime, *, dice: Dice | None
) -> StudyQueue:
    """The queue of a deck with its subdecks, or of all decks."""
    selection = select_decks(connection, owner, deck_id)
    user, day = selection.user, selection.user.preferences.day_of(now)
    limits = DailyLimits(selection.decks, selection.all_decks, studied_on(connection, user.id, day))
    request = QueueRequest([deck.id for deck in selection.decks], now, day, max(max_cards, MIN_CARDS_PER_DECK))
    counts = waiting_cards.count_waiting(connection, request, limits)
    learning_counts = counts.by_kind["learning"]
    with_learning = [deck_id for deck_id, count in learning_counts.items() if count]
    learning = waiting_cards.first_cards(connection, "learning", request, with_learning)
    due_now = [card for card in learning if card.rank <= now]
    shown_notes = {card.note_id for card in learning}
    due = waiting_cards.allowed_cards(connection, "review", request, limits, counts, shown_notes=shown_notes)
    shown_notes |= {card.note_id for card in due.first if limits.presets[card.deck_id].bury_siblings}
    new = waiting_cards.allowed_cards(connection, "new", request, limits, counts, shown_notes=shown_notes)
    ordered = _ordered(user, due_now, due, new) or _learn_ahead(learning, now)
    loaded = card_faces.load(connection, user.id, [card.id for card in ordered[:max_cards]])
    # A card may have been moved to another deck since.
    faces = [face for face in loaded if face.card.deck_id in limits.presets]
    empty = EmptyQueue() if faces else explain(connection, selection, request, limits, counts)
    queue = StudyQueue(
        faces=tuple(faces),
        remaining=RemainingCounts(new.total, sum(learning_counts.values()), due.total),
        backlog=waiting_cards.count_backlog(connection, request, limits, counts, due),
        next_learning=counts.next_learning,
        presets=limits.presets,
        recent=load_recent(connection, user.id, now),
        preferences=user.preferences,
        held_back=empty.held_back,
        empty_deck=empty.empty_deck,
        collection_is_empty=empty.collection_is_empty,
    )
    return look_ahead(connection, queue, now, dice=dice)


def look_ahead(connection: Connection, queue: StudyQueue, now: datetime, *, dice: Dice | None) -> StudyQueue:
    """The queue with what is known about its first card: recall, next intervals, and what an answer gains."""
    if not queue.faces:
        return queue
    card, preferences = queue.faces[0].card, queue.preferences
    fuzz, preset = dice(card.id, card.reps) if dice else None, queue.presets[card.deck_id]
    after = next_schedules(card.schedule, now, preset, preferences, fuzz=fuzz)
    intervals: dict[Grade, float] = {
        grade: (then.due - now).total_seconds() for grade, then in after.items() if then.due is not None
    }
    return replace(
        queue,
        next_recall=retrievability(card.schedule, now, preset, preferences),
        next_gain=gain_of_answer(card.schedule, after, now, preset, preferences),
        next_answer=next_answer(connection, card.id),
        next_intervals=intervals,
    )


def _ordered(user: Owner, learning: Sequence[WaitingCard], due: AllowedCards, new: AllowedCards) -> list[WaitingCard]:
    """Learning cards first; the place of new cards is a preference of the user."""
    match user.preferences.new_cards:
        case "before-reviews":
            others = [*new.first, *due.first]
        case "mixed":
            others = _mixed(due, new)
        case "after-reviews":
            others = [*due.first, *new.first]
    return [*learning, *others]


def _mixed(due: AllowedCards, new: AllowedCards) -> list[WaitingCard]:
    """Each kind spread evenly over the whole."""
    positions = [((index + 0.5) / kind.total, card) for kind in (due, new) for index, card in enumerate(kind.first)]
    return [card for _, card in sorted(positions, key=lambda pair: pair[0])]


def _learn_ahead(learning: Sequence[WaitingCard], now: datetime) -> list[WaitingCard]:
    """Learning cards that are due soon, for when nothing else waits."""
    return [card for card in learning if card.rank <= now + waiting_cards.LEARN_AHEAD]
