"""The log of answers in SQL: a review is written down once, and can be taken back."""

from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core import InvalidArguments
from mcp_noema.errors import alternative, cards_not_found, conflict, review_not_found
from mcp_noema.model import (
    GRADES,
    LEECH,
    Card,
    CardId,
    Deck,
    Dice,
    Preset,
    Review,
    ReviewId,
    Schedule,
    State,
    names_above,
    preset_of,
)
from mcp_noema.repositories import NewReview, Person, RecordedReview, UndoneReview
from mcp_noema.schedule import answer
from mcp_noema.store import decks, people, queues
from mcp_noema.store.rows import (
    CARD,
    DECK,
    REVIEW_ROW,
    card_of,
    deck_of,
    review_of,
    schedule_values,
    tags_of,
    tags_text,
)
from mcp_noema.store.scope import standing
from mcp_noema.store.tables import NEW, REVIEW, cards, notes, reviews, undone
from mcp_noema.store.tables import decks as deck_table

SKEW = timedelta(minutes=1)
"""How far the clock of whoever saw the answer may be ahead of ours."""


def record(
    connection: Connection, owner: str, new_review: NewReview, now: datetime, dice: Dice | None
) -> RecordedReview:
    person = people.writing(connection, owner, now)
    if new_review.deck_id is not None:
        decks.find(decks.by_name(connection, person.id), new_review.deck_id)
    if new_review.key is not None and (known := _delivered(connection, person.id, new_review)):
        return known
    card = _card(connection, person.id, new_review.card_id)
    at = _checked(card, new_review, now)
    deck, preset = deck_and_preset(connection, card.deck_id)
    after = _after(card, new_review.rating, answer(card.schedule, new_review.rating, at, preset, dice))
    connection.execute(sa.update(cards).where(cards.c.id == card.id).values(_card_values(after)))
    buried = _bury_siblings(connection, card, person, now) if preset.bury_siblings else ()
    leech = _tag_leech(connection, after) if _is_leech(after, new_review.rating, preset) else False
    before = _json(card) | {"buried": list(buried), "leech": leech}
    review = _append(
        connection,
        card,
        after,
        user_id=person.id,
        rating=new_review.rating,
        reviewed_at=at,
        duration_ms=new_review.duration_ms,
        key=new_review.key,
        before=before,
    )
    return RecordedReview(review, after, deck, preset, repeated=False, became_leech=leech)


def _delivered(connection: Connection, user_id: int, new_review: NewReview) -> RecordedReview | None:
    """The review that came under this key before."""
    mine = sa.select(*REVIEW_ROW).where(reviews.c.user_id == user_id, reviews.c.key == new_review.key)
    row = connection.execute(mine).one_or_none()
    if row is None:
        return None
    review = review_of(row)
    if (review.card_id, review.rating) != (new_review.card_id.number, new_review.rating):
        raise conflict(
            f"The idempotency key {new_review.key!r} was used for {CardId.of(review.card_id)} with grade "
            f"{GRADES[review.rating]!r}. Use a new key for each review."
        )
    card = _card(connection, user_id, new_review.card_id)
    deck, preset = deck_and_preset(connection, card.deck_id)
    return RecordedReview(review, card, deck, preset, repeated=True)


def _card(connection: Connection, user_id: int, card_id: CardId) -> Card:
    mine = sa.select(*CARD).where(cards.c.user_id == user_id, cards.c.id == card_id.number)
    row = connection.execute(mine).one_or_none()
    if row is None:
        raise cards_not_found([card_id])
    return card_of(row)


def _checked(card: Card, new_review: NewReview, now: datetime) -> datetime:
    """When the answer was given, if the card can have been answered then."""
    name, at = CardId.of(card.id), new_review.reviewed_at or _just_now(card, now)
    if card.suspended:
        back = alternative("suspend-cards", "Brings the card back.", cardIds=[name], suspend=False)
        raise conflict(f"{name} is suspended. Call suspend-cards with suspend false first, then review it.", back)
    if at > now + SKEW:
        raise InvalidArguments(
            f"reviewedAt {at.isoformat()} is in the future; it is {now.isoformat()}. Leave it out for now.",
            fields=("reviewedAt",),
        )
    if (last := card.schedule.last_review) is not None and at <= last:
        raise conflict(
            f"{name} was answered at {last.isoformat()}, which is not before {at.isoformat()}. A review must come "
            "after the one before it; undo-review takes that one back.",
            alternative("get-review-history", "Shows what was answered, with the ids to undo.", cardId=name),
        )
    if at < card.created_at - SKEW:
        raise conflict(f"{name} was made at {card.created_at.isoformat()}, after {at.isoformat()}. Give a later time.")
    return at if new_review.reviewed_at is None else min(at, now)


def _just_now(card: Card, now: datetime) -> datetime:
    """Now, but after the answer before: calls may take their turns out of order, and clocks differ a little."""
    last = card.schedule.last_review
    return last + timedelta(microseconds=1) if last is not None and now <= last < now + SKEW else now


def deck_and_preset(connection: Connection, deck_id: int) -> tuple[Deck, Preset]:
    """A deck and what holds for it."""
    deck = deck_of(connection.execute(sa.select(*DECK).where(deck_table.c.id == deck_id)).one())
    keys = [name.casefold() for name in names_above(deck.name)]
    if not keys:
        return deck, preset_of(deck, {})
    owner = sa.select(deck_table.c.user_id).where(deck_table.c.id == deck_id).scalar_subquery()
    above = sa.select(*DECK).where(deck_table.c.user_id == owner, deck_table.c.name_key.in_(keys))
    return deck, preset_of(deck, {outer.name.casefold(): outer for outer in map(deck_of, connection.execute(above))})


def _after(card: Card, rating: int, schedule: Schedule) -> Card:
    forgotten = rating == 1 and card.schedule.state is State.REVIEW
    return replace(
        card, schedule=schedule, reps=card.reps + 1, lapses=card.lapses + forgotten, buried_until=None, suspended=False
    )


def _card_values(card: Card) -> dict[str, Any]:
    values = schedule_values(card.schedule, suspended=card.suspended)
    return values | {"reps": card.reps, "lapses": card.lapses, "buried_until": card.buried_until}


def _bury_siblings(connection: Connection, card: Card, person: Person, now: datetime) -> tuple[int, ...]:
    """Other cards of the note wait until tomorrow: one would give the other away."""
    siblings = sa.and_(
        cards.c.note_id == card.note_id,
        cards.c.id != card.id,
        cards.c.queue.in_([NEW, REVIEW]),
        queues.available(now),
    )
    ids = tuple(connection.execute(sa.select(cards.c.id).where(siblings)).scalars())
    if ids:
        tomorrow = person.preferences.day_of(now).ends
        connection.execute(sa.update(cards).where(cards.c.id.in_(ids)).values(buried_until=tomorrow))
    return ids


def _is_leech(card: Card, rating: int, preset: Preset) -> bool:
    """At the threshold, and again each half threshold after it."""
    beyond = card.lapses - preset.leech_threshold
    return rating == 1 and beyond >= 0 and beyond % max(1, preset.leech_threshold // 2) == 0


def _tag_leech(connection: Connection, card: Card) -> bool:
    """Whether the tag is new."""
    tags = tags_of(connection.execute(sa.select(notes.c.tags).where(notes.c.id == card.note_id)).scalar_one())
    if LEECH in tags:
        return False
    connection.execute(sa.update(notes).where(notes.c.id == card.note_id).values(tags=tags_text((*tags, LEECH))))
    return True


def _append(connection: Connection, card: Card, after: Card, **values: Any) -> Review:
    values |= {
        "card_id": card.id,
        # A card that was given a date and never answered is new to the one who answers it.
        "state": int(State.NEW if card.schedule.stability is None else card.schedule.state),
        "interval_s": _seconds(after.schedule.interval),
        "last_interval_s": _seconds(card.schedule.interval),
        "stability": after.schedule.stability,
        "difficulty": after.schedule.difficulty,
    }
    return review_of(connection.execute(sa.insert(reviews).values(values).returning(*REVIEW_ROW)).one())


def _seconds(interval: timedelta | None) -> int:
    return round(interval.total_seconds()) if interval else 0


# --- taken back --------------------------------------------------------------------------------------------


def _json(card: Card) -> dict[str, Any]:
    """What a review changes about a card, to be put back."""
    schedule = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(card.schedule).items()
    }
    until = card.buried_until.isoformat() if card.buried_until else None
    return {"schedule": schedule, "reps": card.reps, "lapses": card.lapses, "buried_until": until}


def _as_before(card: Card, before: dict[str, Any]) -> Card:
    def moment(text: Any) -> datetime | None:
        return datetime.fromisoformat(text) if text else None

    kept: dict[str, Any] = dict(before["schedule"])
    kept |= {name: moment(kept[name]) for name in ("due", "last_review")}
    kept["state"] = State(kept["state"])
    schedule = Schedule(**kept)
    until = moment(before["buried_until"])
    return replace(card, schedule=schedule, reps=before["reps"], lapses=before["lapses"], buried_until=until)


def undo(connection: Connection, owner: str, review_id: ReviewId | None, now: datetime) -> UndoneReview:
    person = people.writing(connection, owner, now)
    review, before = _to_undo(connection, person.id, review_id)
    row = connection.execute(sa.select(*CARD).where(cards.c.id == review.card_id)).one_or_none()
    if row is None:
        raise conflict(f"The card of {ReviewId.of(review.id)} was deleted since. There is nothing to put back.")
    card = _as_before(card_of(row), before)
    connection.execute(sa.update(cards).where(cards.c.id == card.id).values(_card_values(card)))
    connection.execute(sa.update(cards).where(cards.c.id.in_(before["buried"])).values(buried_until=None))
    if before["leech"]:
        tags = tags_of(connection.execute(sa.select(notes.c.tags).where(notes.c.id == card.note_id)).scalar_one())
        left = tuple(tag for tag in tags if tag != LEECH)
        connection.execute(sa.update(notes).where(notes.c.id == card.note_id).values(tags=tags_text(left)))
    connection.execute(sa.insert(undone), {"review_id": review.id, "undone_at": now})
    deck, _ = deck_and_preset(connection, card.deck_id)
    return UndoneReview(review, card, deck)


def _to_undo(connection: Connection, user_id: int, review_id: ReviewId | None) -> tuple[Review, dict[str, Any]]:
    newest = (reviews.c.reviewed_at.desc(), reviews.c.id.desc())
    mine = sa.select(*REVIEW_ROW, reviews.c.before).where(standing(user_id))
    if review_id is not None:
        mine = mine.where(reviews.c.id == review_id.number)
    row: Any = connection.execute(mine.order_by(*newest).limit(1)).one_or_none()
    if row is None and review_id is not None:
        raise review_not_found(review_id)
    if row is None:
        raise conflict(
            "There is no review to undo. get-review-history shows what was answered.",
            alternative("get-review-history", "Shows what was answered."),
        )
    review = review_of(row[: len(REVIEW_ROW)])
    of_the_card = sa.select(reviews.c.id).where(standing(user_id), reviews.c.card_id == review.card_id)
    last = connection.execute(of_the_card.order_by(*newest).limit(1)).scalar_one()
    if last != review.id:
        newer = ReviewId.of(last)
        raise conflict(
            f"{CardId.of(review.card_id)} was answered again since: undo {newer} first.",
            alternative("undo-review", "Takes the newer answer back.", reviewId=newer),
        )
    if row.before is None:
        raise conflict(f"{ReviewId.of(review.id)} was imported: how its card was before is not known.")
    return review, row.before
