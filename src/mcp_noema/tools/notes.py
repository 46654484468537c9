"""Notes: what a person wants to remember. Each makes one or more cards."""

from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any, cast

from pydantic import BaseModel, Field, StringConstraints, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from mcp_noema.analysis import Basis
from mcp_noema.errors import alternative, conflict
from mcp_noema.hints.parts import deck_resource, loss, shorten, study_action, study_effort
from mcp_noema.model import MAX_FIELD_LENGTH, CardId, ClockAndRandom, DeckId, NoteId, NoteKind
from mcp_noema.records import ChangedNote, DraftOutcome, NoteChange, NoteDraft, NoteView
from mcp_noema.store import Store
from mcp_noema.tools.vocabulary import Arguments, DeckIdArg, DeckReference, JsonResult, NoteIdArg, Tags, owner, writes
from toolcharter import Confirm, Deprecation, Example, InvalidArguments, RateLimit, ToolContext, hints
from toolcharter.hints import AgentHints, EstimatedImpact, Evidence, HintWarning, SuggestedAction
from toolcharter.plurals import count, verb

writes_notes = writes.preset(permissions=["notes:write"], tags=["notes", "cards"])

MAX_NOTES = 500
"""How many notes one call may create."""

_Front = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_FIELD_LENGTH)]
_Back = Annotated[str, StringConstraints(max_length=MAX_FIELD_LENGTH)]
_FRONT = Field(description="The question, in words or HTML; for cloze the text with its gaps, such as {{c1::Paris}}.")
_BACK = Field(description="The answer, in words or HTML; for cloze an extra remark, or empty.")


def _unique_tags(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple({tag.casefold(): tag for tag in reversed(tags)}.values())[::-1]


class NewNote(Arguments):
    """A note to create."""

    front: Annotated[_Front, _FRONT]
    back: Annotated[_Back, _BACK] = ""
    kind: Annotated[
        NoteKind, Field(description="basic: one card; basic-reversed: one each way; cloze: one for each gap.")
    ] = "basic"
    tags: Tags = Field(default_factory=list[str])

    def draft(self) -> NoteDraft:
        """The note for the repository."""
        return NoteDraft(self.kind, (self.front, self.back), _unique_tags(self.tags))


class CreateNote(NewNote):
    """A note, and the deck for its cards."""

    deck_id: DeckIdArg
    allow_duplicate: Annotated[bool, Field(description="Create it even if a note has the same front already.")] = False


def note_json(view: NoteView) -> dict[str, Any]:
    """A note with its cards."""
    return {
        "noteId": NoteId.of(view.note.id),
        "deckId": DeckId.of(view.deck.id),
        "kind": view.note.type.name,
        "fields": dict(zip(view.note.type.fields, view.note.values, strict=True)),
        "tags": list(view.note.tags),
        "cardIds": [CardId.of(card.id) for card in view.cards],
    }


def _study(deck_id: DeckId) -> SuggestedAction:
    return study_action(deck_id, "Start to learn the new cards.")


_FRENCH = {
    "noteId": "<text>",
    "deckId": "deck_2",
    "kind": "Basic",
    "fields": {"Front": "the bread", "Back": "le pain"},
    "tags": ["food"],
    "cardIds": ["<text>"],
}


@writes_notes(
    rate_limit=RateLimit(max_calls=600, window_ms=60_000),
    examples=[
        Example(
            "A word to learn",
            {"deckId": "deck_2", "front": "the bread", "back": "le pain", "tags": ["food"]},
            _FRENCH,
        )
    ],
)
async def create_note(args: CreateNote, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Create a card: add a note of one fact, word or question.

    Use it to save something as a flashcard, to remember it; for several, create-notes. Returns the note with its
    card ids.

    A basic note makes one card, a reversed one a card each way, a cloze note one for each gap.
    """
    return await _create_one(args, store, clock, context)


async def _create_one(args: CreateNote, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    [outcome] = await store.write(
        store.notes.add, owner(context), args.deck_id, [args.draft()], clock.now(), duplicates=args.allow_duplicate
    )
    if outcome.error is not None:
        raise InvalidArguments(f"No note was created: {outcome.error}.", fields=("front",))
    if outcome.view is None:
        existing = NoteId.of(outcome.duplicate_of or 0)
        given = args.model_dump(by_alias=True, exclude_unset=True)
        changed = {name: given[name] for name in ("back", "tags") if name in given}
        raise conflict(
            f"{existing} already has this front. Change it with update-note, or set allowDuplicate to true.",
            alternative("update-note", "Changes the existing note.", noteId=existing, front=args.front, **changed),
            alternative("create-note", "Creates another one.", **given | {"allowDuplicate": True}),
        )
    view = outcome.view
    agent_hints = hints.for_created(
        "note", NoteId.of(view.note.id), shorten(view.note.values[0]), then=[_study(DeckId.of(view.deck.id))]
    )
    return JsonResult.ok(note_json(view), message=_added(len(view.cards)), hints=agent_hints)


def _added(cards: int) -> str:
    return f"{count(cards, 'card')} added."


class CreateCard(Arguments):
    """A question, its answer, and the deck."""

    deck_id: DeckIdArg
    front: Annotated[_Front, Field(description="The question, in words or HTML.")]
    back: Annotated[_Back, _BACK] = ""


@writes_notes(
    deprecated=Deprecation(since="1.0.0", replacement="create-note", removal_date="2027-05-16"),
    examples=[
        Example(
            "As create-note does",
            {"deckId": "deck_2", "front": "the bread", "back": "le pain"},
            _FRENCH | {"tags": []},
        )
    ],
)
async def create_card(args: CreateCard, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Add one card, as create-note does. Returns the note.

    create-note takes the same arguments, and more.
    """
    note = CreateNote(deck_id=args.deck_id, front=args.front, back=args.back)
    return await _create_one(note, store, clock, context)


class InvalidNote(BaseModel):
    """A note that is not valid, and why."""

    error: str


def _valid_or_not(value: Any, validate: ValidatorFunctionWrapHandler) -> NewNote | InvalidNote:
    """A note of a list: one that is not valid must not stop the others."""
    try:
        return validate(value)
    except ValidationError as error:
        reasons = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)[:3])
        return InvalidNote(error="; ".join(reasons))


class CreateNotes(Arguments):
    """Notes for one deck."""

    deck_id: DeckIdArg
    notes: Annotated[
        list[Annotated[NewNote, WrapValidator(_valid_or_not)]],
        Field(
            min_length=1,
            max_length=MAX_NOTES,
            description="The notes to create, 1 to 500; one that is not valid leaves the others created.",
        ),
    ]
    allow_duplicates: Annotated[
        bool, Field(description="Create those too whose front a note has already; otherwise they are left out.")
    ] = False


def _outcome_json(index: int, outcome: DraftOutcome) -> dict[str, Any]:
    if outcome.view is not None:
        cards = [CardId.of(card.id) for card in outcome.view.cards]
        return {"index": index, "status": "created", "noteId": NoteId.of(outcome.view.note.id), "cardIds": cards}
    if outcome.error is not None:
        return {"index": index, "status": "invalid", "error": outcome.error}
    return {"index": index, "status": "duplicate", "noteId": NoteId.of(outcome.duplicate_of or 0)}


@writes_notes(
    response_time="medium",
    rate_limit=RateLimit(max_calls=60, window_ms=60_000),
    examples=[
        Example(
            "Two words, one of them known already",
            {
                "deckId": "deck_2",
                "notes": [{"front": "the milk", "back": "le lait"}, {"front": "the cheese", "back": "le fromage"}],
            },
            {
                "created": 1,
                "cards": 1,
                "outcomes": [
                    {"index": 0, "status": "created", "noteId": "<text>", "cardIds": ["<text>"]},
                    {"index": 1, "status": "duplicate", "noteId": "note_1"},
                ],
            },
        )
    ],
)
async def create_notes(args: CreateNotes, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Add many flashcards at once.

    Use it to make cards from a list of words, questions and answers, an article or a chapter. Returns the outcome
    of each: created, duplicate or invalid.

    Valid notes are created even if others are not.
    """
    notes = cast(Sequence[NewNote | InvalidNote], args.notes)
    drafts = [note.draft() for note in notes if isinstance(note, NewNote)]
    if not drafts:
        errors = (f"notes.{index}: {note.error}" for index, note in enumerate(notes) if isinstance(note, InvalidNote))
        raise InvalidArguments(f"No note was created: {'; '.join(islice(errors, 3))}.", fields=("notes",))
    added = iter(
        await store.write(
            store.notes.add, owner(context), args.deck_id, drafts, clock.now(), duplicates=args.allow_duplicates
        )
    )
    outcomes = [DraftOutcome(error=note.error) if isinstance(note, InvalidNote) else next(added) for note in notes]
    views = [outcome.view for outcome in outcomes if outcome.view is not None]
    cards = sum(len(view.cards) for view in views)
    value = {
        "created": len(views),
        "cards": cards,
        "outcomes": [_outcome_json(index, outcome) for index, outcome in enumerate(outcomes)],
    }
    return JsonResult.ok(value, message=_added(cards), hints=_outcome_hints(args.deck_id, outcomes, views))


def _outcome_hints(deck_id: DeckId, outcomes: Sequence[DraftOutcome], views: Sequence[NoteView]) -> AgentHints:
    warnings: list[HintWarning] = []
    if duplicates := [o.duplicate_of for o in outcomes if o.duplicate_of is not None]:
        warnings.append(
            HintWarning(
                type="duplicate",
                severity="low",
                message=f"{len(duplicates)} already exist, and were not changed.",
                related_ids=tuple(NoteId.of(number) for number in duplicates),
                suggested_fix="Change those with update-note, or set allowDuplicates to true.",
            )
        )
    if invalid := [o.error for o in outcomes if o.error is not None]:
        warnings.append(
            HintWarning(
                type="validation",
                severity="medium",
                message=f"{len(invalid)} {verb(len(invalid), 'is', 'are')} not valid: "
                f"{'; '.join(dict.fromkeys(invalid))}.",
                suggested_fix="Fix them, and send only them again.",
                auto_fixable=True,
            )
        )
    share = len(views) / len(outcomes)
    return AgentHints(
        evidence=Evidence(completeness=share),
        suggested_next_actions=(_study(deck_id),) if views else (),
        related_resources=(deck_resource(views[0].deck),) if views else (),
        # A new card is not remembered yet; it takes the time of an answer to change that.
        estimated_impact=EstimatedImpact(
            benefit=round(share, 4), effort=study_effort(sum(len(view.cards) for view in views), Basis())
        ),
        why=f"{len(views)} of {count(len(outcomes), 'note')} {verb(len(views), 'was', 'were')} created.",
        warnings=tuple(warnings) or None,
    )


class UpdateNote(Arguments):
    """A note, and what to change."""

    note_id: NoteIdArg
    front: Annotated[_Front | None, Field(description="The new text of the first field, usually the question.")] = None
    back: Annotated[_Back | None, Field(description="The new text of the second field, usually the answer.")] = None
    fields: Annotated[
        dict[str, _Back] | None,
        Field(
            max_length=100,
            description="New texts by the names of the fields, which get-card shows, for notes with more than two.",
        ),
    ] = None
    tags: Annotated[
        Tags | None, Field(description="The tags that replace all tags of the note; an empty list removes them.")
    ] = None
    deck_id: Annotated[
        DeckReference | None, Field(description="Move its cards to this deck: deck_1, or a unique name.")
    ] = None


@writes_notes(
    idempotent=True,
    examples=[
        Example(
            "Another answer, the same cards",
            {"noteId": "note_1", "back": "le fromage (m)"},
            {
                "noteId": "note_1",
                "deckId": "deck_2",
                "kind": "Basic (and reversed card)",
                "fields": {"Front": "the cheese", "Back": "le fromage (m)"},
                "tags": ["food"],
                "cardIds": ["card_1", "card_2"],
                "cardsAdded": [],
                "cardsRemoved": [],
                "cardsSuspended": [],
            },
        )
    ],
)
async def update_note(args: UpdateNote, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Correct or change a note: its text, tags or deck.

    Use it to fix a card whose front or back is wrong, to reword, tag or move it. Returns the note and the changes
    to its cards.

    Cards keep their schedule. New gaps make new cards; a card that the note no longer makes is removed, or suspended
    if it was answered before.
    """
    change = NoteChange(
        args.front, args.back, args.fields, None if args.tags is None else _unique_tags(args.tags), args.deck_id
    )
    if change == NoteChange():
        raise InvalidArguments("Nothing to update: give front, back, fields, tags or deckId.", fields=("front",))
    changed = await store.write(store.notes.change, owner(context), args.note_id, change, clock.now())
    value = note_json(changed.view) | {
        "cardsAdded": [CardId.of(number) for number in changed.added],
        "cardsRemoved": [CardId.of(number) for number in changed.removed],
        "cardsSuspended": [CardId.of(number) for number in changed.suspended],
    }
    return JsonResult.ok(value, hints=_update_hints(changed))


def _update_hints(changed: ChangedNote) -> AgentHints:
    note = changed.view.note
    agent_hints = hints.for_updated("note", NoteId.of(note.id), shorten(note.values[0]))
    if not changed.suspended:
        return agent_hints
    ids = tuple(CardId.of(number) for number in changed.suspended)
    return agent_hints.with_warning(
        HintWarning(
            type="conflict",
            severity="medium",
            message="The note no longer makes these cards. They were answered before, so they are suspended.",
            related_ids=ids,
            suggested_fix="Restore the gap, then call suspend-cards with suspend false.",
        )
    )


class DeleteNote(Arguments):
    """Which note."""

    note_id: NoteIdArg


@writes_notes(
    permissions=["notes:delete"],
    idempotent=True,
    confirm=Confirm("DELETE_NOTE", ask="Delete {noteId} with its cards?"),
    examples=[
        Example(
            "A word that is not needed",
            {"noteId": "note_1", "explicit_action": "DELETE_NOTE"},
            {"deleted": "note_1", "cards": 2},
        )
    ],
)
async def delete_note(args: DeleteNote, store: Store, clock: ClockAndRandom, context: ToolContext) -> JsonResult:
    """Delete a note with its cards for good.

    Use it when the user asks to remove or throw away that very card, word or fact; to pause it, use suspend-cards.
    Returns how many cards were deleted.

    The review log stays. It cannot be undone.
    """
    deleted = await store.write(store.notes.remove, owner(context), args.note_id, clock.now())
    answers = sum(card.reps for card in deleted.cards)
    lost = loss(f"{count(len(deleted.cards), 'card')} and {count(answers, 'answer')} to them", 1.0)
    agent_hints = hints.for_deleted("note", shorten(deleted.note.values[0]), risks=[lost])
    return JsonResult.ok({"deleted": str(args.note_id), "cards": len(deleted.cards)}, hints=agent_hints)
