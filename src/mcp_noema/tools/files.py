"""Import and export of Anki files, in the folder set by the user."""

from typing import Annotated, Any

from pydantic import Field

from mcp_noema.analysis import Basis
from mcp_noema.hints.parts import deck_argument, deck_resource, study_effort
from mcp_noema.model import SEPARATOR, ClockAndRandom, Deck, DeckId
from mcp_noema.records import ImportSummary, ImportTally
from mcp_noema.store import Store
from mcp_noema.tools.vocabulary import (
    LONG_DEADLINE_S,
    Arguments,
    DeckReference,
    JsonResult,
    OptionalDeckId,
    owner,
    sets,
    writes,
)
from toolcharter import Example, ToolContext, hints
from toolcharter.files import Folder
from toolcharter.hints import AgentHints, EstimatedImpact, Evidence, HintWarning, SuggestedAction
from toolcharter.plurals import count, verb

MAX_PATH_LENGTH = 1000
MIN_REVIEWS_TO_FIT = 400
"""With fewer reviews, fitted parameters are hardly better than the defaults."""
_MAX_DECKS = 20


class ImportAnki(Arguments):
    """Which file, and the deck to put its decks into."""

    path: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_PATH_LENGTH,
            description="The name of an .apkg or .colpkg file in the files folder of the server.",
        ),
    ]
    deck_id: Annotated[
        DeckReference | None, Field(description="Put the decks of the file inside this deck: deck_1, or a unique name.")
    ] = None


def _tally_json(tally: ImportTally) -> dict[str, int]:
    return {"added": tally.added, "updated": tally.updated, "unchanged": tally.unchanged}


def _imported_json(imported: ImportSummary) -> dict[str, Any]:
    decks = [{"deckId": DeckId.of(deck.id), "name": deck.name} for deck in imported.decks[:_MAX_DECKS]]
    return {
        "decks": decks,
        "decksAdded": imported.decks_added,
        "notes": _tally_json(imported.notes),
        "cards": _tally_json(imported.cards),
        "reviews": _tally_json(imported.reviews),
        "skipped": [{"what": reason, "count": number} for reason, number in imported.skipped.items()],
        "mediaLeftOut": imported.media,
    }


@sets(
    task="auto",
    response_time=LONG_DEADLINE_S,
    permissions=["files:read", "decks:write", "notes:write", "cards:write", "reviews:write"],
    tags=["decks", "notes", "cards", "reviews", "statistics", "files"],
    examples=[
        Example(
            "A file that was exported before, and has nothing new",
            {"path": "french.apkg"},
            {
                "decks": [{"deckId": "deck_2", "name": "Languages::French"}],
                "decksAdded": 0,
                "notes": {"added": 0, "updated": 0, "unchanged": 2},
                "cards": {"added": 0, "updated": 0, "unchanged": 3},
                "reviews": {"added": 0, "updated": 0, "unchanged": 1},
                "skipped": [],
                "mediaLeftOut": 0,
            },
        )
    ],
)
async def import_anki(
    args: ImportAnki,
    store: Store,
    folder: Folder,
    clock: ClockAndRandom,
    context: ToolContext,
) -> JsonResult:
    """Import decks from an Anki file, with schedules and review history.

    Use it to load what the user learned in Anki, old flashcards or a shared deck. Returns what was added, updated
    and skipped.

    Nothing is deleted: newer text and later reviews win, and a second import changes nothing. Images and sounds are
    not kept. A file that cannot be read changes nothing.
    """
    path = folder.file_to_read(args.path, ".apkg", ".colpkg")
    imported = await store.anki_packages.import_file(
        store.database, owner(context), path, args.deck_id, clock.now(), report_progress=context.report_progress
    )
    notes, cards = imported.notes, imported.cards
    added = f"{count(notes.added, 'note')} and {count(cards.added, 'card')} added"
    message = f"{added}, {notes.updated + cards.updated:,} updated."
    outer = _outermost(imported.decks)
    outer_id = DeckId.of(outer.id) if outer else None
    fit = imported.reviews.added >= MIN_REVIEWS_TO_FIT and await store.scheduling.can_optimize(
        store.database, owner(context), outer_id
    )
    return JsonResult.ok(_imported_json(imported), message=message, hints=_import_hints(imported, outer_id, fit=fit))


def _outermost(decks: tuple[Deck, ...]) -> Deck | None:
    """The deck that contains all of them, if there is one."""
    first = min(decks, key=lambda deck: deck.name.count(SEPARATOR), default=None)
    return first if first and all(deck.is_in(first.name) for deck in decks) else None


def _import_hints(imported: ImportSummary, deck_id: DeckId | None, *, fit: bool) -> AgentHints:
    study = SuggestedAction(
        action="get-due-cards",
        priority="high",
        data=deck_argument(deck_id),
        description="Shows which of its cards are due today.",
        category="learning",
    )
    list_decks = SuggestedAction(action="list-decks", description="Shows all decks with the cards that wait in them.")
    optimize = SuggestedAction(
        action="optimize-parameters",
        priority="low",
        data=study.data,
        description=f"Shows how much better FSRS predicts if fitted to {count(imported.reviews.added, 'new review')}.",
        category="optimization",
    )
    steps = (study, list_decks, optimize) if fit else (study, list_decks)
    taken = sum(tally.added + tally.updated + tally.unchanged for tally in (imported.notes, imported.cards))
    skipped = sum(imported.skipped.values())
    agent_hints = AgentHints(
        evidence=Evidence(completeness=taken / max(taken + skipped, 1)),
        suggested_next_actions=steps if imported.decks else (list_decks,),
        related_resources=tuple(deck_resource(deck) for deck in imported.decks[:_MAX_DECKS]),
        # The share that is new, and the time to study it.
        estimated_impact=EstimatedImpact(
            benefit=round(imported.cards.added / max(taken, 1), 4), effort=study_effort(imported.cards.added, Basis())
        ),
        why=f"Notes and cards of the file in the collection: {taken:,}; skipped: {skipped:,}.",
    )
    return _with_warnings(agent_hints, imported)


def _with_warnings(agent_hints: AgentHints, imported: ImportSummary) -> AgentHints:
    if imported.skipped:
        reasons = "; ".join(f"{number} {reason}" for reason, number in imported.skipped.items())
        warning = HintWarning(type="validation", severity="medium", message=f"Skipped: {reasons}.")
        agent_hints = agent_hints.with_warning(warning)
    if imported.media:
        message = f"{imported.media} images and sounds are shown by their names only."
        agent_hints = agent_hints.with_warning(HintWarning(type="validation", severity="low", message=message))
    return agent_hints


class ExportAnki(Arguments):
    """The cards to export, and the file to write."""

    path: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_PATH_LENGTH,
            description="The name of the file to write in the files folder, such as french.apkg.",
        ),
    ]
    deck_id: OptionalDeckId = None
    scheduling: Annotated[
        bool, Field(description="Include schedules and reviews; false for a deck to share with others.")
    ] = True
    overwrite: Annotated[bool, Field(description="Replace the file if it exists; otherwise that is an error.")] = False


@writes(
    task="auto",
    response_time=LONG_DEADLINE_S,
    permissions=["files:write", "decks:read", "cards:read", "reviews:read"],
    tags=["files"],
    examples=[
        Example(
            "A deck with all that is in it",
            {"path": "copy.apkg", "deckId": "deck_2"},
            {"path": "<text>", "bytes": "<number>", "decks": 1, "notes": 2, "cards": 3, "reviews": 1},
        )
    ],
)
async def export_anki(
    args: ExportAnki, store: Store, folder: Folder, clock: ClockAndRandom, context: ToolContext
) -> JsonResult:
    """Write cards to an .apkg file that Anki opens, with due dates, FSRS memory and review history.

    Use it for a back-up, to continue in Anki, or to share a deck. Returns the name of the file and what is in it.

    An existing file is replaced only if overwrite is true.
    """
    path = folder.file_to_write(args.path, ".apkg")
    exported = await store.anki_packages.export_file(
        store.database,
        owner(context),
        path,
        args.deck_id,
        clock.now(),
        report_progress=context.report_progress,
        scheduling=args.scheduling,
        overwrite=args.overwrite,
    )
    value = {
        "path": folder.relative_name(path),
        "bytes": exported.size,
        "decks": exported.decks,
        "notes": exported.notes,
        "cards": exported.cards,
        "reviews": exported.reviews,
    }
    why = "All requested cards are in the file."
    return JsonResult.ok(
        value,
        message=f"{count(exported.cards, 'card')} {verb(exported.cards, 'was', 'were')} written to {path.name}.",
        hints=hints.for_value(why=why),
    )
