"""Cards: looked at, and found by a query."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_core import Example, Need, SuggestedAction, ToolContext, hints, tool
from mcp_core.hints import AgentHints, EstimatedImpact, HintWarning
from mcp_noema import advice
from mcp_noema.hint_parts import card_resource, deck_resource, shortened
from mcp_noema.model import Card, CardFace, CardId, DeckId, NoteId, World
from mcp_noema.query import LONGEST, parse
from mcp_noema.query_tree import All, Everything, Tree
from mcp_noema.repositories import CardOrder, CardPage, Cards, CardView
from mcp_noema.tools.vocabulary import READS, ACard, Answer, Arguments, iso, owner

MOST_CARDS = 1000
"""How many cards one call may change."""


# --- looking at one ----------------------------------------------------------------------------------------


class GetCard(Arguments):
    """Which card."""

    card_id: ACard


@tool(
    **READS,
    permissions=["cards:read"],
    cacheable=True,
    cache_ttl=10,
    tags=["cards", "notes", "decks", "reviews"],
    examples=[
        Example(
            "All about one card",
            {"cardId": "card_2"},
            {
                "cardId": "card_2",
                "noteId": "note_1",
                "deckId": "deck_2",
                "deck": "Languages::French",
                "front": "le fromage",
                "back": "the cheese",
                "kind": "Basic (and reversed card)",
                "fields": {"Front": "the cheese", "Back": "le fromage"},
                "tags": ["food"],
                "siblings": ["card_1"],
                "state": "new",
                "suspended": False,
                "buried": False,
                "due": None,
                "lastReview": None,
                "stability": None,
                "difficulty": None,
                "recall": None,
                "reps": 0,
                "lapses": 0,
                "createdAt": "<time>",
            },
        )
    ],
)
async def get_card(args: GetCard, cards: Need[Cards], world: Need[World], context: ToolContext) -> Answer:
    """Show one card with its note and its schedule.

    Use it to see when a card is due and how well it is known. Returns both sides, the raw fields and the memory state.

    `recall` is how likely the card is remembered now. `fields` are as update-note takes them.
    """
    now = world.now()
    view = await cards.get(owner(context), args.card_id, now)
    return Answer.ok(_in_full(view, now), hints=_for_card(view, now))


def _in_full(view: CardView, now: datetime) -> dict[str, Any]:
    face, card, note = view.face, view.face.card, view.note.note
    shown = {
        "cardId": CardId.of(card.id),
        "noteId": NoteId.of(note.id),
        "deckId": DeckId.of(card.deck_id),
        "deck": face.deck,
        "front": face.front,
        "back": face.back,
        "kind": face.note_type,
        "fields": dict(zip(note.type.fields, note.values, strict=False)),
        "tags": list(face.tags),
        "siblings": [CardId.of(other.id) for other in view.note.cards if other.id != card.id],
        "state": card.schedule.state.word,
        "suspended": card.suspended,
        "buried": _is_buried(card, now),
        "due": iso(card.schedule.due),
        "lastReview": iso(card.schedule.last_review),
        "stability": card.schedule.stability,
        "difficulty": card.schedule.difficulty,
        "recall": view.recall,
        "reps": card.reps,
        "lapses": card.lapses,
        "createdAt": iso(card.created_at),
    }
    return shown | ({"media": list(face.media)} if face.media else {})


def _is_buried(card: Card, now: datetime) -> bool:
    return card.buried_until is not None and card.buried_until > now


def _for_card(view: CardView, now: datetime) -> AgentHints:
    card = view.face.card
    leech = advice.leech_warning(card, view.preset, fresh=False)
    gain = EstimatedImpact(
        benefit=round(1.0 - (view.recall or 0.0), 4) if view.is_due else 0.0,
        effort=min(1.0, round((view.recent.usual_ms or advice.UNKNOWN_MS) / advice.MINUTE_MS, 4)) if view.is_due else 0,
        affected_metrics=("retention", "cards due") if view.is_due else None,
    )
    return AgentHints(
        evidence=advice.evidence_of(card, view.recent, now),
        suggested_next_actions=tuple(_steps(view, leech)),
        related_resources=(card_resource(view.face), deck_resource(view.deck, relevance=0.5)),
        estimated_impact=gain,
        assumptions=advice.assumptions(view.preset),
        why=_why(view, now),
        warnings=(leech,) if leech else None,
    )


def _steps(view: CardView, leech: HintWarning | None) -> list[SuggestedAction]:
    card_id, steps = CardId.of(view.face.card.id), list[SuggestedAction]()
    if view.face.card.suspended:
        again: dict[str, Any] = {"cardIds": [card_id], "suspend": False}
        steps.append(SuggestedAction(action="suspend-cards", data=again, description="Ask it again.", reversible=True))
    if view.is_due:
        steps.append(advice.answer_it(card_id, None))
    if leech:
        data = {"noteId": NoteId.of(view.face.card.note_id)}
        reword = "Reword it with the user: it is forgotten again and again."
        steps.append(SuggestedAction(action="update-note", data=data, description=reword, category="correction"))
    return steps


def _why(view: CardView, now: datetime) -> str:
    if view.face.card.suspended:
        return "The card is suspended, so it is not asked."
    if view.is_due:
        return "The card is due now."
    due = view.face.card.schedule.due
    return f"The card is due in {advice.in_words((due - now).total_seconds())}." if due else "The card is new."


# --- searching ---------------------------------------------------------------------------------------------


class SearchCards(Arguments):
    """What to look for, and how much of it to show."""

    query: Annotated[
        str,
        Field(max_length=LONGEST, description='As in Anki: deck:Math tag:hard is:due -is:suspended "exact words".'),
    ]
    sort_by: Annotated[CardOrder, Field(description="What comes first.")] = "created"
    sort_order: Annotated[Literal["asc", "desc"], Field(description="Rising or falling.")] = "asc"
    limit: Annotated[int, Field(ge=1, le=100, description="Cards to show.")] = 20
    offset: Annotated[int, Field(ge=0, le=1_000_000, description="Cards to skip.")] = 0


@tool(
    **READS,
    permissions=["cards:read"],
    # What is due changes with every second.
    cacheable=False,
    tags=["cards"],
    examples=[
        Example(
            "New cards of a deck with a tag",
            {"query": "deck:Languages tag:food is:new", "limit": 1},
            {
                "cards": [
                    {
                        "cardId": "card_1",
                        "noteId": "note_1",
                        "front": "the cheese",
                        "deck": "Languages::French",
                        "state": "new",
                        "due": None,
                    }
                ],
                "total": 2,
            },
        ),
        Example(
            "What is learned best",
            {"query": "-is:new", "sortBy": "stability", "sortOrder": "desc"},
            {"cards": "<any>", "total": 1},
        ),
    ],
)
async def search_cards(args: SearchCards, cards: Need[Cards], world: Need[World], context: ToolContext) -> Answer:
    """Find cards by words, deck, tag, state, dates or numbers.

    Use it to search for cards about something, or to see what a query means before changing those cards. Returns ids
    and fronts.

    Terms side by side all hold; OR, - and ( ) work too. Keys: deck: tag: is: note: card: prop: added: edited: rated:
    introduced: nid: cid: did:, or the name of a field. An empty query finds all.
    """
    query = parse(args.query)
    found = await cards.search(
        owner(context),
        query,
        world.now(),
        order=args.sort_by,
        descending=args.sort_order == "desc",
        limit=args.limit,
        offset=args.offset,
    )
    value = {"cards": [_in_short(face, world.now()) for face in found.faces], "total": found.total}
    return Answer.ok(value, hints=_for_search(args, query, found))


def _in_short(face: CardFace, now: datetime) -> dict[str, Any]:
    card = face.card
    shown: dict[str, Any] = {
        "cardId": CardId.of(card.id),
        "noteId": NoteId.of(card.note_id),
        "front": shortened(face.front),
        "deck": face.deck,
        "state": card.schedule.state.word,
        "due": iso(card.schedule.due),
    }
    if card.suspended:
        shown["suspended"] = True
    if _is_buried(card, now):
        shown["buried"] = True
    return shown


def _for_search(args: SearchCards, query: Tree, found: CardPage) -> AgentHints:
    if not found.total:
        return hints.for_empty(then=[_broader(query)])
    seen = args.offset + len(found.faces)
    following = args.model_dump(by_alias=True, exclude_defaults=True) | {"offset": seen}
    more = SuggestedAction(
        action="search-cards",
        data=following,
        description=f"Show more: {found.total - seen} are left.",
        category="exploration",
    )
    resources = [card_resource(face, relevance=0.5) for face in found.faces[:5]]
    return hints.for_list(seen, found.total, then=_with_found(query, found), more=more, resources=resources)


def _broader(query: Tree) -> SuggestedAction:
    if isinstance(query, All):
        data = {"query": str(All(query.parts[:-1]))}
        return SuggestedAction(action="search-cards", data=data, description="Search with one term less.")
    return SuggestedAction(action="list-decks", description="See what there is.", category="exploration")


def _with_found(query: Tree, found: CardPage) -> list[SuggestedAction]:
    """What can be done with what was found."""
    if not found.faces:
        return []
    first = SuggestedAction(
        action="get-card",
        data={"cardId": CardId.of(found.faces[0].card.id)},
        description="See the first of them whole.",
        category="exploration",
    )
    if isinstance(query, Everything) or found.total > MOST_CARDS:
        return [first]
    pause = not all(face.card.suspended for face in found.faces)
    change = SuggestedAction(
        action="suspend-cards",
        priority="low",
        data={"query": str(query), "suspend": pause},
        description=f"{'Ask none of them any more' if pause else 'Ask them again'}, if the user wants that.",
        expected_outcome=f"{found.total} cards are {'suspended' if pause else 'asked again'}.",
        reversible=True,
    )
    return [first, change]
