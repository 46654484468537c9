"""Why the study queue is empty: the daily limits, no cards at all, or everything is done."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.model import Deck
from mcp_noema.records import COUNT_LIMIT, HeldBack
from mcp_noema.store.cards import has_cards
from mcp_noema.store.deck_selection import DeckSelection
from mcp_noema.store.study.daily_limits import LIMITED_KINDS, DailyLimits, LimitedKind
from mcp_noema.store.study.waiting_cards import QueueRequest, WaitingCounts, count_in_decks
from mcp_noema.store.tables import cards


@dataclass(frozen=True, slots=True)
class EmptyQueue:
    """The reasons why a queue has no cards."""

    held_back: tuple[HeldBack, ...] = ()
    empty_deck: Deck | None = None
    collection_is_empty: bool = False


def explain(
    connection: Connection, selection: DeckSelection, request: QueueRequest, limits: DailyLimits, counts: WaitingCounts
) -> EmptyQueue:
    """Why no card is shown."""
    by_id = {deck.id: deck for deck in selection.decks}
    by_kind = (_held_back(connection, kind, request, limits, counts, by_id=by_id) for kind in LIMITED_KINDS)
    held_back = tuple(one for one in by_kind if one is not None)
    in_decks = sa.exists().where(selection.of_cards)
    if held_back or connection.execute(sa.select(in_decks.select_from(cards))).scalar_one():
        return EmptyQueue(held_back)
    first = min(selection.decks, key=lambda deck: deck.name, default=None)
    return EmptyQueue(empty_deck=first, collection_is_empty=not has_cards(connection, selection.user.id))


def _held_back(
    connection: Connection,
    kind: LimitedKind,
    request: QueueRequest,
    limits: DailyLimits,
    counts: WaitingCounts,
    *,
    by_id: Mapping[int, Deck],
) -> HeldBack | None:
    """The cards that wait behind the limit that holds back most."""
    waiting = {deck_id: count for deck_id, count in counts.by_kind[kind].items() if count}
    if not waiting:
        return None
    fullest = max(waiting, key=waiting.__getitem__)
    reached = limits.reached(fullest, kind)
    if not reached:
        return None
    behind = [deck_id for deck_id in waiting if reached[0] in limits.reached(deck_id, kind)]
    setting = "new_per_day" if kind == "new" else "reviews_per_day"
    # A deck without a limit of its own follows the deck around it.
    outer, *inner = (by_id[deck_id] for deck_id in reached)
    return HeldBack(
        kind=kind,
        cards=count_in_decks(connection, kind, request, behind, COUNT_LIMIT),
        decks=(outer, *(deck for deck in inner if setting in deck.preset)),
        limit=getattr(limits.presets[outer.id], setting),
    )
