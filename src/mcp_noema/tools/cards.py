"""Cards: read one, or search by a query."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_noema.hints import advice
from mcp_noema.hints.parts import card_resource, deck_resource, reword_action, shorten, start_actions
from mcp_noema.model import Card, CardFace, CardId, ClockAndRandom, DeckId, NoteId
from mcp_noema.query.parser import MAX_LENGTH, parse
from mcp_noema.query.tree import All, Tree
from mcp_noema.records import CardOrder, CardPage, CardView
from mcp_noema.store import Store
from mcp_noema.tools.vocabulary import Arguments, CardIdArg, JsonResult, iso, owner, reads, rounded
from toolcharter import Example, ToolContext, hints
from toolcharter.hints import NO_IMPACT, AgentHints, HintWarning, SuggestedAction
from toolcharter.plurals import verb

MAX_CARDS = 1000
"""How many cards one call may name by their ids."""


# --- reading one -------------------------------------------------------------------------------------------


class GetCard(Arguments):
    """Which card."""

    card_id: CardIdArg


@reads(
    permissions=["cards:read"],
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
async def get_card(args: GetCard, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Show one card with its note and its schedule.

    Use it to see when a card is due and how well it is known. Returns both sides, the raw fields and the memory state.

    `recall` is the probability that the card is remembered now. `fields` are in the form that update-note takes.
    """
    now = clock.now()
    view = await store.read(store.cards.view, owner(context), args.card_id, now)
    return JsonResult.ok(_full_json(view, now), hints=_card_hints(view, now))


def _full_json(view: CardView, now: datetime) -> dict[str, Any]:
    face, card, note = view.face, view.face.card, view.note.note
    value = {
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
        "stability": rounded(card.schedule.stability),
        "difficulty": rounded(card.schedule.difficulty),
        "recall": rounded(view.recall),
        "reps": card.reps,
        "lapses": card.lapses,
        "createdAt": iso(card.created_at),
    }
    return value | ({"media": list(face.media)} if face.media else {})


def _is_buried(card: Card, now: datetime) -> bool:
    return card.buried_until is not None and card.buried_until > now


def _card_hints(view: CardView, now: datetime) -> AgentHints:
    card = view.face.card
    leech = advice.leech_warning(card, view.preset, fresh=False)
    evidence, missing = advice.study_evidence(card, view.next_answer, view.preset, view.recent)
    return AgentHints(
        evidence=evidence,
        context_needed=missing,
        suggested_next_actions=tuple(_next_steps(view, leech)),
        related_resources=(card_resource(view.face), deck_resource(view.deck, relevance=0.5)),
        estimated_impact=advice.answer_impact(view.gain, view.recent) if view.is_due else NO_IMPACT,
        assumptions=advice.assumptions(view.preset),
        why=_why(view, now),
        warnings=(leech,) if leech else None,
    )


def _next_steps(view: CardView, leech: HintWarning | None) -> list[SuggestedAction]:
    card_id, steps = CardId.of(view.face.card.id), list[SuggestedAction]()
    if view.face.card.suspended:
        data: dict[str, Any] = {"cardIds": [card_id], "suspend": False}
        steps.append(SuggestedAction(action="suspend-cards", data=data, description="Unsuspend it.", reversible=True))
    if view.is_due:
        steps.append(advice.grade_action(card_id, view.next_answer, then_next=False))
    if leech:
        steps.append(reword_action(NoteId.of(view.face.card.note_id)))
    return steps


def _why(view: CardView, now: datetime) -> str:
    if view.face.card.suspended:
        return "The card is suspended, so it is not shown."
    if view.is_due:
        return "The card is due now."
    due = view.face.card.schedule.due
    return f"The card is due in {advice.interval_text((due - now).total_seconds())}." if due else "The card is new."


# --- searching ---------------------------------------------------------------------------------------------


class SearchCards(Arguments):
    """The query, and which page of its matches."""

    query: Annotated[
        str,
        Field(
            max_length=MAX_LENGTH,
            description='Words and terms as in Anki, such as deck:Math tag:hard is:due -is:suspended "exact words".',
        ),
    ] = ""
    sort_by: Annotated[CardOrder, Field(description="What to order the cards by.")] = "created"
    sort_order: Annotated[
        Literal["asc", "desc"],
        Field(description="asc: the lowest, earliest or oldest first; desc: the other way round."),
    ] = "asc"
    limit: Annotated[int, Field(ge=1, le=100, description="How many cards to return at most.")] = 20
    offset: Annotated[int, Field(ge=0, le=1_000_000, description="How many cards to skip, to get the next page.")] = 0


@reads(
    response_time="medium",
    # Not cached: what is due changes with time.
    permissions=["cards:read"],
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
            "The best known cards first",
            {"query": "-is:new", "sortBy": "stability", "sortOrder": "desc"},
            {
                "cards": [
                    {
                        "cardId": "card_3",
                        "noteId": "note_2",
                        "front": "the dog",
                        "deck": "Languages::French",
                        "state": "learning",
                        "due": "<time>",
                    }
                ],
                "total": 1,
            },
        ),
    ],
)
async def search_cards(args: SearchCards, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Find cards by words, deck, tag, state, dates or numbers.

    Use it to search for cards about something, or to see what a query matches before changing those cards. Returns
    ids and fronts.

    All terms must match; OR, - (not) and ( ) work too. Keys: deck: tag: is: note: card: prop: added: edited: rated:
    introduced: nid: cid: did:, or the name of a field. An empty query matches all.
    """
    query = parse(args.query)
    page = await store.read(
        store.cards.find,
        owner(context),
        query,
        clock.now(),
        order=args.sort_by,
        descending=args.sort_order == "desc",
        limit=args.limit,
        offset=args.offset,
    )
    value = {"cards": [_summary_json(face, clock.now()) for face in page.faces], "total": page.total}
    return JsonResult.ok(value, hints=_search_hints(args, query, page))


def _summary_json(face: CardFace, now: datetime) -> dict[str, Any]:
    card = face.card
    value: dict[str, Any] = {
        "cardId": CardId.of(card.id),
        "noteId": NoteId.of(card.note_id),
        "front": shorten(face.front),
        "deck": face.deck,
        "state": card.schedule.state.word,
        "due": iso(card.schedule.due),
    }
    if card.suspended:
        value["suspended"] = True
    if _is_buried(card, now):
        value["buried"] = True
    return value


def _search_hints(args: SearchCards, query: Tree, page: CardPage) -> AgentHints:
    if page.collection_is_empty:
        return hints.for_empty(then=start_actions())
    if not page.total:
        return hints.for_empty(then=[_broader_search(query)])
    seen = args.offset + len(page.faces)
    more = SuggestedAction(
        action="search-cards",
        data=args.model_dump(by_alias=True, exclude_defaults=True) | {"offset": seen},
        description=f"Show more: {page.total - seen} {verb(page.total - seen, 'is', 'are')} left.",
        category="exploration",
    )
    resources = [card_resource(face, relevance=0.5) for face in page.faces[:5]]
    return hints.for_list(seen, page.total, then=_match_actions(page), more=more, resources=resources)


def _broader_search(query: Tree) -> SuggestedAction:
    if isinstance(query, All):
        data = {"query": str(All(query.parts[:-1]))}
        return SuggestedAction(action="search-cards", data=data, description="Search without the last term.")
    return SuggestedAction(action="list-decks", description="Shows all decks.", category="exploration")


def _match_actions(page: CardPage) -> list[SuggestedAction]:
    """Actions for the cards that were found."""
    if not page.faces:
        return []
    first = SuggestedAction(
        action="get-card",
        data={"cardId": CardId.of(page.faces[0].card.id)},
        description="Shows the first of them in full.",
        category="exploration",
    )
    return [first]
