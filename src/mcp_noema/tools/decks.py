"""Decks: where cards are, and how they are scheduled."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from mcp_core import Example, InvalidArguments, Need, SuggestedAction, ToolContext, hints, tool
from mcp_noema.hint_parts import deck_resource
from mcp_noema.model import LONGEST_NAME, Deck, DeckId, World
from mcp_noema.repositories import Decks, DeckView
from mcp_noema.tools.vocabulary import (
    READS,
    SETS,
    WRITES,
    ADeck,
    Answer,
    Arguments,
    iso,
    owner,
    preset_json,
    step_seconds,
)

_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME)]
_ABOUT = Field(max_length=10_000, description="What it is for.")
_FRENCH = {
    "deckId": "deck_2",
    "name": "Languages::French",
    "description": "",
    "cards": 3,
    "new": 2,
    "learning": 1,
    "due": 0,
    "suspended": 0,
}
"""The deck that the examples speak of."""


def deck_json(view: DeckView) -> dict[str, Any]:
    """A deck as an agent reads it."""
    deck, counts = view.deck, view.counts
    return {
        "deckId": DeckId.of(deck.id),
        "name": deck.name,
        "description": deck.description,
        "cards": counts.cards,
        "new": counts.new,
        "learning": counts.learning,
        "due": counts.due,
        "suspended": counts.suspended,
    }


def _in_full(view: DeckView) -> dict[str, Any]:
    return deck_json(view) | {"preset": preset_json(view.preset), "createdAt": iso(view.deck.created_at)}


def _study(view: DeckView) -> SuggestedAction:
    counts = view.counts
    waiting = counts.due + counts.learning
    return SuggestedAction(
        action="review-next-card",
        priority="high" if waiting else "medium",
        data={"deckId": DeckId.of(view.deck.id)},
        description=f"{counts.due} due, {counts.learning} in learning and {counts.new} new cards wait in it.",
        category="learning",
        reversible=True,
    )


def _fill(deck: Deck) -> SuggestedAction:
    return SuggestedAction(
        action="create-notes",
        priority="high",
        data={"deckId": DeckId.of(deck.id)},
        description="The deck has no cards yet: add what the user wants to learn.",
        category="learning",
    )


def _next(view: DeckView) -> list[SuggestedAction]:
    if not view.counts.cards:
        return [_fill(view.deck)]
    counts = view.counts
    return [_study(view)] if counts.due + counts.learning + counts.new else []


class CreateDeck(Arguments):
    """A new deck."""

    name: Annotated[_Name, Field(description="Languages::French is inside Languages.")]
    description: Annotated[str, _ABOUT] = ""


@tool(
    **WRITES,
    permissions=["decks:write"],
    tags=["decks"],
    examples=[
        Example(
            "A deck inside another",
            {"name": "Languages::Spanish"},
            {
                "deckId": "<text>",
                "name": "Languages::Spanish",
                "description": "",
                "cards": 0,
                "new": 0,
                "learning": 0,
                "due": 0,
                "suspended": 0,
                "preset": "<any>",
                "createdAt": "<time>",
            },
        )
    ],
)
async def create_deck(args: CreateDeck, decks: Need[Decks], world: Need[World], context: ToolContext) -> Answer:
    """Create a deck for a new subject.

    Use it when the user starts to learn something and wants a place for its cards. Returns the deck with its id.

    The decks it is in are made too, where they are missing. Scheduling is set with update-deck.
    """
    view = await decks.add(owner(context), args.name, args.description, world.now())
    made = hints.for_created("deck", DeckId.of(view.deck.id), view.deck.name, then=[_fill(view.deck)])
    return Answer.ok(_in_full(view), message=f"The deck {view.deck.name!r} is there.", hints=made)


class GetDeck(Arguments):
    """Which deck."""

    deck_id: ADeck


@tool(
    **READS,
    permissions=["decks:read"],
    cacheable=True,
    cache_ttl=10,
    tags=["decks", "cards", "reviews"],
    examples=[
        Example("A deck with its preset", {"deckId": "deck_2"}, _FRENCH | {"preset": "<any>", "createdAt": "<time>"})
    ],
)
async def get_deck(args: GetDeck, decks: Need[Decks], world: Need[World], context: ToolContext) -> Answer:
    """Show the settings of a deck.

    Use it to see how it is set up: daily limits, learning steps, target retention. Returns counts and preset.

    The preset is what holds for the deck: what it does not set itself comes from the decks above it.
    """
    view = await decks.get(owner(context), args.deck_id, world.now())
    made = hints.for_value(then=_next(view), why=f"{view.counts.due} cards of the deck are due today.")
    return Answer.ok(_in_full(view), hints=made.model_copy(update={"related_resources": (deck_resource(view.deck),)}))


class ListDecks(Arguments):
    """Which page of the decks."""

    limit: Annotated[int, Field(ge=1, le=500, description="Decks to show.")] = 100
    offset: Annotated[int, Field(ge=0, description="Decks to skip.")] = 0


@tool(
    **READS,
    permissions=["decks:read"],
    cacheable=True,
    cache_ttl=10,
    tags=["decks", "cards", "reviews"],
    examples=[Example("All decks but the first", {"offset": 1}, {"decks": [_FRENCH], "total": 2})],
)
async def list_decks(args: ListDecks, decks: Need[Decks], world: Need[World], context: ToolContext) -> Answer:
    """List all decks with what waits in them today.

    Use it to learn ids, or when the user asks what they are learning. Returns name, id and counts of each.

    Counts include the decks inside, and are not cut at the limits of the day.
    """
    views = await decks.all(owner(context), world.now())
    if not views:
        begin = SuggestedAction(action="create-deck", priority="high", description="There is no deck yet.")
        return Answer.ok({"decks": [], "total": 0}, hints=hints.for_empty(then=[begin]))
    return _page(views, args.limit, args.offset, SuggestedAction(action="list-decks", data=_further(args)))


def _further(args: "ListDecks | SearchDecks") -> dict[str, Any]:
    """The arguments for the page after this one."""
    return args.model_dump(by_alias=True) | {"offset": args.offset + args.limit}


def _page(views: Sequence[DeckView], limit: int, offset: int, more: SuggestedAction) -> Answer:
    shown = views[offset : offset + limit]
    fullest = max(views, key=lambda view: (view.counts.due + view.counts.learning, view.counts.new))
    made = hints.for_list(
        len(shown),
        len(views) - offset if shown else 0,
        then=_next(fullest),
        more=more,
        resources=[deck_resource(view.deck) for view in shown[:5]],
    )
    return Answer.ok({"decks": [deck_json(view) for view in shown], "total": len(views)}, hints=made)


class SearchDecks(Arguments):
    """Which decks."""

    words: Annotated[_Name, Field(description="All of them are in the name or description.")]
    limit: Annotated[int, Field(ge=1, le=500, description="Decks to show.")] = 20
    offset: Annotated[int, Field(ge=0, description="Decks to skip.")] = 0


@tool(
    **READS,
    permissions=["decks:read"],
    cacheable=True,
    cache_ttl=10,
    tags=["decks", "cards", "reviews"],
    examples=[Example("Decks about French", {"words": "french"}, {"decks": [_FRENCH], "total": 1})],
)
async def search_decks(args: SearchDecks, decks: Need[Decks], world: Need[World], context: ToolContext) -> Answer:
    """Find a deck by words in its name or description.

    Use it to look up a deck that the user names, or whether there is one about something. Returns what list-decks does.
    """
    words = args.words.casefold().split()
    views = [
        view
        for view in await decks.all(owner(context), world.now())
        if all(word in f"{view.deck.name}\n{view.deck.description}".casefold() for word in words)
    ]
    if views:
        return _page(views, args.limit, args.offset, SuggestedAction(action="search-decks", data=_further(args)))
    steps = [
        SuggestedAction(action="list-decks", priority="high", description="See all decks."),
        SuggestedAction(action="create-deck", data={"name": args.words}, description="Make a deck of that name."),
    ]
    return Answer.ok({"decks": [], "total": 0}, hints=hints.for_empty(then=steps))


def _rising(steps: list[str]) -> list[str]:
    if sorted(steps, key=step_seconds) != steps:
        raise ValueError(f"steps must not get shorter, as in {', '.join(steps)}")
    return steps


_Step = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}[smhd]$")]
_Steps = Annotated[list[_Step], Field(max_length=10), AfterValidator(_rising)]


class PresetChange(Arguments):
    """What to set for a deck; what is left out stays."""

    desired_retention: Annotated[float | None, Field(ge=0.7, le=0.99, description="Share to be remembered.")] = None
    learning_steps: Annotated[_Steps | None, Field(description="Such as 1m, 10m.")] = None
    relearning_steps: Annotated[_Steps | None, Field(description="After forgetting.")] = None
    maximum_interval: Annotated[int | None, Field(ge=1, le=36_500, description="Days.")] = None
    new_per_day: Annotated[int | None, Field(ge=0, le=9999, description="Limit.")] = None
    reviews_per_day: Annotated[int | None, Field(ge=0, le=9999, description="Limit.")] = None
    leech_threshold: Annotated[int | None, Field(ge=1, le=99, description="Lapses until tagged leech.")] = None
    bury_siblings: Annotated[bool | None, Field(description="One card of a note a day.")] = None

    def changes(self) -> dict[str, Any]:
        """What was given, as a deck keeps it."""
        given = self.model_dump(exclude_none=True)
        for name in ("learning_steps", "relearning_steps"):
            if name in given:
                given[name] = [step_seconds(step) for step in given[name]]
        return given


class UpdateDeck(Arguments):
    """A deck, and what shall be different."""

    deck_id: ADeck
    name: Annotated[_Name | None, Field(description="Its new whole name.")] = None
    description: Annotated[str | None, _ABOUT] = None
    preset: Annotated[PresetChange | None, Field(description="Scheduling; the rest stays.")] = None


@tool(
    **SETS,
    permissions=["decks:write", "presets:write"],
    tags=["decks", "cards"],
    examples=[
        Example(
            "Fewer new cards, remembered better",
            {"deckId": "deck_2", "preset": {"newPerDay": 5, "desiredRetention": 0.93}},
            _FRENCH | {"preset": "<any>", "createdAt": "<time>"},
        )
    ],
)
async def update_deck(args: UpdateDeck, decks: Need[Decks], world: Need[World], context: ToolContext) -> Answer:
    """Rename or move a deck, or change its settings.

    Use it to set new cards and reviews a day, learning steps or target retention. Returns the deck.

    What is left out stays. Decks inside follow a new name, and take on what they do not set themselves.
    """
    changes = args.preset.changes() if args.preset else {}
    if args.name is None and args.description is None and not changes:
        raise InvalidArguments(
            "Nothing to update: give a name, a description or a preset.", fields=("name", "description", "preset")
        )
    view = await decks.change(
        owner(context),
        args.deck_id,
        name=args.name,
        description=args.description,
        preset=changes,
        now=world.now(),
    )
    then = _next(view)
    if {"desired_retention", "maximum_interval"} & set(changes):
        then = [_reschedule(view.deck), *then]
    made = hints.for_updated("deck", DeckId.of(view.deck.id), view.deck.name, then=then)
    return Answer.ok(_in_full(view), hints=made)


def _reschedule(deck: Deck) -> SuggestedAction:
    return SuggestedAction(
        action="preview-reschedule",
        priority="low",
        data={"deckId": DeckId.of(deck.id)},
        description="Cards keep their due dates until they are answered; this shows what rescheduling would change.",
        category="optimization",
    )


class DeleteDeck(Arguments):
    """Which deck."""

    deck_id: ADeck


@tool(
    **SETS,
    permissions=["decks:delete"],
    consent="DELETE_DECK",
    confirm="if_possible",
    question="Delete {deckId} with all decks, notes and cards in it?",
    tags=["decks", "cards", "notes", "reviews"],
    examples=[
        Example(
            "Throw a deck away",
            {"deckId": "deck_2", "explicit_action": "DELETE_DECK"},
            {"deleted": "deck_2", "name": "Languages::French", "decks": 1, "notes": "<number>", "cards": "<number>"},
        )
    ],
)
async def delete_deck(args: DeleteDeck, decks: Need[Decks], world: Need[World], context: ToolContext) -> Answer:
    """Delete a whole deck with everything in it.

    Use it when the user asks to throw that very deck away. Returns what was deleted.

    The decks inside go too. The log of reviews stays, so that progress does not change. It cannot be undone:
    export-anki keeps a copy.
    """
    gone = await decks.remove(owner(context), args.deck_id, world.now())
    value = {
        "deleted": str(args.deck_id),
        "name": gone.name,
        "decks": gone.decks,
        "notes": gone.notes,
        "cards": gone.cards,
    }
    made = hints.for_deleted("deck", args.deck_id, gone.name)
    return Answer.ok(value, message=f"{gone.name!r} is deleted, with {gone.cards} cards.", hints=made)
