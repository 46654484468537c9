"""Decks: they hold cards and say how these are scheduled."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from mcp_noema.hints.parts import add_notes_action, deck_resource, loss, start_actions, study_action
from mcp_noema.model import MAX_NAME_LENGTH, ClockAndRandom, Deck, DeckId, Preset
from mcp_noema.records import DeckChange, DeckView
from mcp_noema.store import Store
from mcp_noema.tools.vocabulary import (
    Arguments,
    DeckIdArg,
    JsonResult,
    iso,
    owner,
    preset_json,
    reads,
    sets,
    step_seconds,
    writes,
)
from toolcharter import Confirm, Example, InvalidArguments, ToolContext, hints
from toolcharter.hints import SuggestedAction
from toolcharter.plurals import count, verb

reads_decks = reads.preset(permissions=["decks:read"], cache_ttl=10, tags=["decks", "cards", "reviews"])

_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_LENGTH)]
_DESCRIPTION = Field(max_length=10_000, description="What the deck is for, in a sentence for the user.")
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
"""The deck of the examples."""
_PRESET = preset_json(Preset())
"""The preset of a deck that sets nothing itself."""


def deck_json(view: DeckView) -> dict[str, Any]:
    """A deck with its counts."""
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


def _full_json(view: DeckView) -> dict[str, Any]:
    return deck_json(view) | {"preset": preset_json(view.preset), "createdAt": iso(view.deck.created_at)}


def _study(view: DeckView) -> SuggestedAction:
    counts = view.counts
    return study_action(
        DeckId.of(view.deck.id),
        f"{counts.due} due, {counts.learning} in learning and {count(counts.new, 'new card')} wait in it.",
        priority="high" if counts.due + counts.learning else "medium",
    )


def _next_steps(view: DeckView) -> list[SuggestedAction]:
    counts = view.counts
    if not counts.cards:
        return [add_notes_action(DeckId.of(view.deck.id))]
    return [_study(view)] if counts.due + counts.learning + counts.new else []


class CreateDeck(Arguments):
    """A new deck."""

    name: Annotated[
        _Name, Field(description="The full name; :: puts it inside another deck, such as Languages::French.")
    ]
    description: Annotated[str, _DESCRIPTION] = ""


@writes(
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
                "preset": _PRESET,
                "createdAt": "<time>",
            },
        )
    ],
)
async def create_deck(args: CreateDeck, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Create a new deck for a subject.

    Use it to add, start or set up a deck when the user wants to learn something and needs a place for its cards.
    Returns the deck with its id.

    Parent decks that do not exist are created too. Scheduling is set with update-deck.
    """
    view = await store.write(store.decks.add, owner(context), args.name, args.description, clock.now())
    deck_id = DeckId.of(view.deck.id)
    agent_hints = hints.for_created("deck", deck_id, view.deck.name, then=[add_notes_action(deck_id)])
    return JsonResult.ok(_full_json(view), message=f"Deck {view.deck.name!r} was created.", hints=agent_hints)


class GetDeck(Arguments):
    """Which deck."""

    deck_id: DeckIdArg


@reads_decks(
    examples=[
        Example("A deck with its preset", {"deckId": "deck_2"}, _FRENCH | {"preset": _PRESET, "createdAt": "<time>"})
    ],
)
async def get_deck(args: GetDeck, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Show one deck and its settings.

    Use it to open a deck, or see how it is set up: options, daily limits, learning steps, target retention. Returns
    counts and preset.

    The preset includes the settings that the deck inherits from its parents.
    """
    view = await store.read(store.decks.get, owner(context), args.deck_id, clock.now())
    due = view.counts.due
    why = f"{count(due, 'card')} of the deck {verb(due, 'is', 'are')} due today."
    agent_hints = hints.for_value(then=_next_steps(view), why=why)
    return JsonResult.ok(
        _full_json(view), hints=agent_hints.model_copy(update={"related_resources": (deck_resource(view.deck),)})
    )


class ListDecks(Arguments):
    """Which page of the decks."""

    limit: Annotated[int, Field(ge=1, le=500, description="How many decks to return at most.")] = 100
    offset: Annotated[int, Field(ge=0, description="How many decks to skip, to get the next page.")] = 0


@reads_decks(
    examples=[Example("All decks but the first", {"offset": 1}, {"decks": [_FRENCH], "total": 2})],
)
async def list_decks(args: ListDecks, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """List all decks, with what is waiting in them today.

    Use it when the user asks which decks or subjects they have, or to get ids. Returns name, id and counts of each.

    Counts include subdecks and ignore the daily limits.
    """
    views = await store.read(store.decks.list_all, owner(context), clock.now())
    if not views:
        return JsonResult.ok({"decks": [], "total": 0}, hints=hints.for_empty(then=start_actions()))
    return _page(views, args.limit, args.offset, SuggestedAction(action="list-decks", data=_next_page(args)))


def _next_page(args: "ListDecks | SearchDecks") -> dict[str, Any]:
    """The arguments for the next page."""
    return args.model_dump(by_alias=True) | {"offset": args.offset + args.limit}


def _page(views: Sequence[DeckView], limit: int, offset: int, more: SuggestedAction) -> JsonResult:
    shown = views[offset : offset + limit]
    fullest = max(views, key=lambda view: (view.counts.due + view.counts.learning, view.counts.new))
    agent_hints = hints.for_list(
        len(shown),
        len(views) - offset if shown else 0,
        then=_next_steps(fullest),
        more=more,
        resources=[deck_resource(view.deck) for view in shown[:5]],
    )
    return JsonResult.ok({"decks": [deck_json(view) for view in shown], "total": len(views)}, hints=agent_hints)


class SearchDecks(Arguments):
    """Which decks."""

    words: Annotated[_Name, Field(description="Words that must all be in the name or the description of a deck.")]
    limit: Annotated[int, Field(ge=1, le=500, description="How many decks to return at most.")] = 20
    offset: Annotated[int, Field(ge=0, description="How many decks to skip, to get the next page.")] = 0


@reads_decks(
    examples=[Example("Decks about French", {"words": "french"}, {"decks": [_FRENCH], "total": 1})],
)
async def search_decks(args: SearchDecks, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Find a deck by words in its name or description.

    Use it to search for a deck, or to see whether there is a deck on something and where. Returns the same as
    list-decks.
    """
    words = args.words.casefold().split()
    all_decks = await store.read(store.decks.list_all, owner(context), clock.now())
    views = [
        view
        for view in all_decks
        if all(word in f"{view.deck.name}\n{view.deck.description}".casefold() for word in words)
    ]
    if views:
        return _page(views, args.limit, args.offset, SuggestedAction(action="search-decks", data=_next_page(args)))
    create = SuggestedAction(
        action="create-deck", data={"name": args.words}, description="Creates a deck with that name."
    )
    if all_decks:
        steps = [SuggestedAction(action="list-decks", priority="high", description="Shows all decks."), create]
    else:
        steps = [create, *start_actions()[1:]]
    return JsonResult.ok({"decks": [], "total": 0}, hints=hints.for_empty(then=steps))


def _check_order(steps: list[str]) -> list[str]:
    if sorted(steps, key=step_seconds) != steps:
        raise ValueError(f"steps must not get shorter: {', '.join(steps)}")
    return steps


_Step = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}[smhd]$")]
_Steps = Annotated[list[_Step], Field(max_length=10), AfterValidator(_check_order)]


class PresetChange(Arguments):
    """The settings to change; the others stay."""

    desired_retention: Annotated[
        float | None,
        Field(
            ge=0.7,
            le=0.99,
            description="The share of due cards that the user wants to remember, 0.7 to 0.99; more is more work.",
        ),
    ] = None
    learning_steps: Annotated[
        _Steps | None,
        Field(description="The waits before a new card is learned, the shortest first, such as 1m, 10m, 1d."),
    ] = None
    relearning_steps: Annotated[
        _Steps | None, Field(description="The waits before a forgotten card is a review card again, such as 10m.")
    ] = None
    maximum_interval: Annotated[
        int | None, Field(ge=1, le=36_500, description="The longest interval of a card, in days.")
    ] = None
    new_per_day: Annotated[int | None, Field(ge=0, le=9999, description="How many new cards a day at most.")] = None
    reviews_per_day: Annotated[int | None, Field(ge=0, le=9999, description="How many due cards a day at most.")] = None
    leech_threshold: Annotated[
        int | None, Field(ge=1, le=99, description="After how often it was forgotten a card is tagged as a leech.")
    ] = None
    bury_siblings: Annotated[bool | None, Field(description="Whether only one card of a note is shown on a day.")] = (
        None
    )

    def changes(self) -> dict[str, Any]:
        """The given settings, with steps in seconds."""
        settings = self.model_dump(exclude_none=True)
        for name in ("learning_steps", "relearning_steps"):
            if name in settings:
                settings[name] = [step_seconds(step) for step in settings[name]]
        return settings


class UpdateDeck(Arguments):
    """A deck, and what to change."""

    deck_id: DeckIdArg
    name: Annotated[
        _Name | None, Field(description="The new full name, such as Languages::French; its subdecks follow.")
    ] = None
    description: Annotated[str | None, _DESCRIPTION] = None
    preset: Annotated[
        PresetChange | None, Field(description="The scheduling settings to change; those left out stay as they are.")
    ] = None


@sets(
    permissions=["decks:write", "presets:write"],
    tags=["decks", "cards"],
    examples=[
        Example(
            "Fewer new cards, remembered better",
            {"deckId": "deck_2", "preset": {"newPerDay": 5, "desiredRetention": 0.93}},
            _FRENCH | {"preset": _PRESET | {"newPerDay": 5, "desiredRetention": 0.93}, "createdAt": "<time>"},
        )
    ],
)
async def update_deck(args: UpdateDeck, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Rename a deck, move it into another, or change its settings.

    Use it to set new cards and reviews a day in this deck, learning steps or target retention (percent). Returns
    the deck.

    What is left out stays. Subdecks follow a new name, and inherit settings that they do not have themselves.
    """
    preset = args.preset.changes() if args.preset else {}
    change = DeckChange(args.name, args.description, preset or None)
    if change == DeckChange():
        raise InvalidArguments(
            "Nothing to update: give a name, a description or a preset.",
            fields=("name", "description", "preset"),
            alternatives=True,
        )
    view = await store.write(store.decks.change, owner(context), args.deck_id, change, clock.now())
    then = _next_steps(view)
    if {"desired_retention", "maximum_interval"} & preset.keys():
        then = [_preview_reschedule(view.deck), *then]
    agent_hints = hints.for_updated("deck", DeckId.of(view.deck.id), view.deck.name, then=then)
    return JsonResult.ok(_full_json(view), hints=agent_hints)


def _preview_reschedule(deck: Deck) -> SuggestedAction:
    return SuggestedAction(
        action="preview-reschedule",
        priority="low",
        data={"deckId": DeckId.of(deck.id)},
        description="Cards keep their due dates until they are reviewed; this shows what rescheduling would change.",
        category="optimization",
    )


class DeleteDeck(Arguments):
    """Which deck."""

    deck_id: DeckIdArg


@sets(
    response_time="medium",
    permissions=["decks:delete"],
    confirm=Confirm("DELETE_DECK", ask="Delete {deckId} with all decks, notes and cards in it?"),
    tags=["decks", "cards", "notes", "reviews"],
    examples=[
        Example(
            "Throw a deck away",
            {"deckId": "deck_2", "explicit_action": "DELETE_DECK"},
            {"deleted": "deck_2", "name": "Languages::French", "decks": 1, "notes": "<number>", "cards": "<number>"},
        )
    ],
)
async def delete_deck(args: DeleteDeck, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Delete a whole deck for good, with everything in it.

    Use it when the user asks to throw that very deck away. Returns what was deleted.

    Subdecks are deleted too. The review log stays, so progress does not change. It cannot be undone: make a copy with
    export-anki first.
    """
    deleted = await store.write(store.decks.remove, owner(context), args.deck_id, clock.now())
    value = {
        "deleted": str(args.deck_id),
        "name": deleted.name,
        "decks": deleted.decks,
        "notes": deleted.notes,
        "cards": deleted.cards,
    }
    lost = f"{count(deleted.cards, 'card')} and {count(deleted.answers, 'answer')} to them"
    agent_hints = hints.for_deleted("deck", deleted.name, risks=[loss(lost, deleted.share)] if deleted.cards else ())
    return JsonResult.ok(
        value, message=f"Deck {deleted.name!r} was deleted with {count(deleted.cards, 'card')}.", hints=agent_hints
    )
