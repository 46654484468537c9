"""The review log in SQL: a review is recorded once, and can be undone."""

from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.errors import alternative, conflict, review_not_found
from mcp_noema.model import (
    CLOCK_SKEW,
    GRADES,
    LEECH,
    Card,
    CardId,
    CardState,
    Dice,
    Preset,
    Review,
    ReviewId,
    Schedule,
)
from mcp_noema.records import NewReview, Owner, RecordedReview, UndoneReview
from mcp_noema.scheduling.schedule import answer
from mcp_noema.store import decks, tags, users
from mcp_noema.store.cards import get_card
from mcp_noema.store.conditions import counted_reviews, not_buried
from mcp_noema.store.row_mapping import (
    CARD_COLUMNS,
    REVIEW_COLUMNS,
    format_tags,
    parse_tags,
    schedule_values,
    to_card,
    to_review,
)
from mcp_noema.store.study.recent_reviews import next_answer
from mcp_noema.store.tables import NEW, REVIEW, cards, notes, reviews, undone
from toolcharter import InvalidArguments

# --- record ------------------------------------------------------------------------------------------------


def record(
    connection: Connection, owner: str, new_review: NewReview, now: datetime, dice: Dice | None
) -> RecordedReview:
    """Record a review and schedule its card."""
    user = users.lock(connection, owner, now)
    if new_review.deck_id is not None:
        decks.find(decks.by_name(connection, user.id), new_review.deck_id)
    if new_review.key is not None and (recorded := _recorded_before(connection, user.id, new_review)):
        return recorded
    card = get_card(connection, user.id, new_review.card_id)
    at = _review_time(card, new_review, now)
    deck, preset = decks.with_preset(connection, card.deck_id)
    fuzz = dice(card.id, card.reps) if dice else None
    schedule = answer(card.schedule, new_review.rating, at, preset, user.preferences, fuzz=fuzz)
    after = _after(card, new_review.rating, schedule)
    connection.execute(sa.update(cards).where(cards.c.id == card.id).values(_card_values(after)))
    buried = _bury_siblings(connection, card, user, now) if preset.bury_siblings else ()
    leech = _tag_leech(connection, user, after) if _is_leech(after, new_review.rating, preset) else False
    review = _insert(
        connection,
        card,
        after,
        user_id=user.id,
        rating=new_review.rating,
        reviewed_at=at,
        duration_ms=new_review.duration_ms,
        key=new_review.key,
        before=_undo_data(card) | {"buried": list(buried), "leech": leech},
    )
    return RecordedReview(review, after, deck, preset, repeated=False, became_leech=leech)


def _recorded_before(connection: Connection, user_id: int, new_review: NewReview) -> RecordedReview | None:
    """The review that was recorded with the same idempotency key."""
    query = sa.select(*REVIEW_COLUMNS).where(reviews.c.user_id == user_id, reviews.c.key == new_review.key)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    review = to_review(row)
    if connection.execute(sa.select(sa.exists().where(undone.c.review_id == review.id))).scalar_one():
        raise conflict(
            f"The review with the idempotency key {new_review.key!r} was undone, so a repeat of it is not recorded. "
            "Use a new key to grade the card again."
        )
    if (review.card_id, review.rating) != (new_review.card_id.number, new_review.rating):
        raise conflict(
            f"The idempotency key {new_review.key!r} was used for {CardId.of(review.card_id)} with grade "
            f"{GRADES[review.rating]!r}. Use a new key for each review."
        )
    card = get_card(connection, user_id, new_review.card_id)
    deck, preset = decks.with_preset(connection, card.deck_id)
    return RecordedReview(review, card, deck, preset, repeated=True)


def _review_time(card: Card, new_review: NewReview, now: datetime) -> datetime:
    """When the card was answered, checked against the card's history and the clock."""
    card_id, at = CardId.of(card.id), new_review.reviewed_at or _present_time(card, now)
    if card.suspended:
        unsuspend = alternative("suspend-cards", "Brings the card back.", cardIds=[card_id], suspend=False)
        raise conflict(
            f"{card_id} is suspended. Call suspend-cards with suspend false first, then review it.", unsuspend
        )
    if at > now + CLOCK_SKEW:
        raise InvalidArguments(
            f"reviewedAt {at.isoformat()} is in the future; the time is {now.isoformat()}. Leave it out for a review "
            "made now.",
            fields=("reviewedAt",),
        )
    if (last := card.schedule.last_review) is not None and at <= last:
        raise conflict(
            f"{card_id} was answered at {last.isoformat()}, so it cannot be reviewed at {at.isoformat()}. Give a "
            "later time, or undo that review first with undo-review.",
            alternative("get-review-history", "Shows the reviews of the card, with the ids to undo.", cardId=card_id),
        )
    if at < card.created_at - CLOCK_SKEW:
        raise conflict(
            f"{card_id} was created at {card.created_at.isoformat()}, so it cannot be reviewed at {at.isoformat()}. "
            "Give a later time."
        )
    return at if new_review.reviewed_at is None else min(at, now)


def _present_time(card: Card, now: datetime) -> datetime:
    """Now, but after the last review: calls may run out of order, and the clocks of servers differ a little."""
    last = card.schedule.last_review
    return last + timedelta(microseconds=1) if last is not None and now <= last < now + CLOCK_SKEW else now


def _after(card: Card, rating: int, schedule: Schedule) -> Card:
    is_lapse = rating == 1 and card.schedule.state is CardState.REVIEW
    return replace(
        card, schedule=schedule, reps=card.reps + 1, lapses=card.lapses + is_lapse, buried_until=None, suspended=False
    )


def _card_values(card: Card) -> dict[str, Any]:
    values = schedule_values(card.schedule, suspended=card.suspended)
    return values | {"reps": card.reps, "lapses": card.lapses, "buried_until": card.buried_until}


def _bury_siblings(connection: Connection, card: Card, user: Owner, now: datetime) -> tuple[int, ...]:
    """Hide the other cards of the note until tomorrow, because one would give away the other."""
    siblings = sa.and_(
        cards.c.note_id == card.note_id,
        cards.c.id != card.id,
        cards.c.queue.in_([NEW, REVIEW]),
        not_buried(now),
    )
    ids = tuple(connection.execute(sa.select(cards.c.id).where(siblings)).scalars())
    if ids:
        tomorrow = user.preferences.day_of(now).ends
        connection.execute(sa.update(cards).where(cards.c.id.in_(ids)).values(buried_until=tomorrow))
    return ids


def _is_leech(card: Card, rating: int, preset: Preset) -> bool:
    """At the threshold, and again every half threshold after it."""
    excess = card.lapses - preset.leech_threshold
    return rating == 1 and excess >= 0 and excess % max(1, preset.leech_threshold // 2) == 0


def _tag_leech(connection: Connection, user: Owner, card: Card) -> bool:
    """Tag the note as a leech. Returns whether it had no such tag."""
    before = _get_tags(connection, card)
    if LEECH in before:
        return False
    _set_tags(connection, user, card, (*before, LEECH))
    return True


def _get_tags(connection: Connection, card: Card) -> tuple[str, ...]:
    return parse_tags(connection.execute(sa.select(notes.c.tags).where(notes.c.id == card.note_id)).scalar_one())


def _set_tags(connection: Connection, user: Owner, card: Card, names: tuple[str, ...]) -> None:
    text = format_tags(names)
    connection.execute(sa.update(notes).where(notes.c.id == card.note_id).values(tags=text))
    tags.replace(connection, user.id, {card.note_id: text})


def _insert(connection: Connection, card: Card, after: Card, **values: Any) -> Review:
    values |= {
        "card_id": card.id,
        # A card that was given a due date and never answered is new to the learner.
        "state": int(CardState.NEW if card.schedule.stability is None else card.schedule.state),
        "interval_s": _seconds(after.schedule.interval),
        "last_interval_s": _seconds(card.schedule.interval),
        "stability": after.schedule.stability,
        "difficulty": after.schedule.difficulty,
    }
    return to_review(connection.execute(sa.insert(reviews).values(values).returning(*REVIEW_COLUMNS)).one())


def _seconds(interval: timedelta | None) -> int:
    return round(interval.total_seconds()) if interval else 0


# --- undo --------------------------------------------------------------------------------------------------


def _undo_data(card: Card) -> dict[str, Any]:
    """The values of a card that a review changes, as JSON."""
    schedule = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(card.schedule).items()
    }
    until = card.buried_until.isoformat() if card.buried_until else None
    return {"schedule": schedule, "reps": card.reps, "lapses": card.lapses, "buried_until": until}


def _restore(card: Card, undo_data: dict[str, Any]) -> Card:
    """The card as it was before the review."""

    def parse(text: Any) -> datetime | None:
        return datetime.fromisoformat(text) if text else None

    values: dict[str, Any] = dict(undo_data["schedule"])
    values |= {name: parse(values[name]) for name in ("due", "last_review")}
    values["state"] = CardState(values["state"])
    return replace(
        card,
        schedule=Schedule(**values),
        reps=undo_data["reps"],
        lapses=undo_data["lapses"],
        buried_until=parse(undo_data["buried_until"]),
    )


def undo(connection: Connection, owner: str, review_id: ReviewId | None, now: datetime) -> UndoneReview:
    """Undo a card's last review; without an id, the latest of all."""
    user = users.lock(connection, owner, now)
    review, undo_data = _review_to_undo(connection, user.id, review_id)
    row = connection.execute(sa.select(*CARD_COLUMNS).where(cards.c.id == review.card_id)).one_or_none()
    if row is None:
        raise conflict(f"{ReviewId.of(review.id)} cannot be undone, because its card was deleted.")
    card = _restore(to_card(row), undo_data)
    connection.execute(sa.update(cards).where(cards.c.id == card.id).values(_card_values(card)))
    connection.execute(sa.update(cards).where(cards.c.id.in_(undo_data["buried"])).values(buried_until=None))
    if undo_data["leech"]:
        _set_tags(connection, user, card, tuple(tag for tag in _get_tags(connection, card) if tag != LEECH))
    connection.execute(sa.insert(undone), {"review_id": review.id, "undone_at": now})
    deck, _ = decks.with_preset(connection, card.deck_id)
    return UndoneReview(review, card, deck, next_answer(connection, card.id))


def _review_to_undo(connection: Connection, user_id: int, review_id: ReviewId | None) -> tuple[Review, dict[str, Any]]:
    """The review with its undo data. Only the last review of a card can be undone."""
    newest_first = (reviews.c.reviewed_at.desc(), reviews.c.id.desc())
    query = sa.select(*REVIEW_COLUMNS, reviews.c.before).where(counted_reviews(user_id))
    if review_id is not None:
        query = query.where(reviews.c.id == review_id.number)
    row: Any = connection.execute(query.order_by(*newest_first).limit(1)).one_or_none()
    if row is None and review_id is not None:
        raise review_not_found(review_id)
    if row is None:
        raise conflict(
            "You have no review to undo. get-review-history shows your reviews.",
            alternative("get-review-history", "Shows the last reviews with their ids."),
        )
    review = to_review(row[: len(REVIEW_COLUMNS)])
    of_card = sa.select(reviews.c.id).where(counted_reviews(user_id), reviews.c.card_id == review.card_id)
    last_id = connection.execute(of_card.order_by(*newest_first).limit(1)).scalar_one()
    if last_id != review.id:
        later = ReviewId.of(last_id)
        raise conflict(
            f"{CardId.of(review.card_id)} was answered again after {ReviewId.of(review.id)}. Undo {later} first.",
            alternative("undo-review", "Undoes the later review.", reviewId=later),
        )
    if row.before is None:
        raise conflict(
            f"{ReviewId.of(review.id)} cannot be undone: it was imported, without the state of its card before it."
        )
    return review, row.before
