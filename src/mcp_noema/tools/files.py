"""Anki's files, in and out, in the one folder that the person chose."""

from typing import Annotated, Any

from pydantic import Field

from mcp_core import Example, Need, SuggestedAction, ToolContext, hints, tool
from mcp_core.hints import AgentHints, EstimatedImpact, Evidence, HintWarning
from mcp_noema.folder import Folder
from mcp_noema.hint_parts import deck_resource
from mcp_noema.model import SEPARATOR, Deck, DeckId, World
from mcp_noema.repositories import ImportSummary, Packages, Tally
from mcp_noema.tools.vocabulary import SETS, WRITES, Answer, AnyDeck, Arguments, owner

LONGEST_PATH = 1000
PATIENCE = 300
"""Seconds: the largest collections take longer than anything else here."""
WORTH_FITTING = 400
"""Reviews. With fewer, the default parameters are hard to beat."""
_MOST_NAMED = 20

_SLOW: dict[str, Any] = {"response_time": "slow", "deadline": PATIENCE}


class ImportAnki(Arguments):
    """Which file, and where its decks go."""

    path: Annotated[
        str, Field(min_length=1, max_length=LONGEST_PATH, description="An .apkg or .colpkg in the files folder.")
    ]
    deck_id: Annotated[DeckId | None, Field(description="Put its decks inside this one.")] = None


def _tally_json(tally: Tally) -> dict[str, int]:
    return {"added": tally.added, "updated": tally.updated, "unchanged": tally.unchanged}


def _imported_json(imported: ImportSummary) -> dict[str, Any]:
    named = [{"deckId": DeckId.of(deck.id), "name": deck.name} for deck in imported.decks[:_MOST_NAMED]]
    return {
        "decks": named,
        "decksAdded": imported.decks_added,
        "notes": _tally_json(imported.notes),
        "cards": _tally_json(imported.cards),
        "reviews": _tally_json(imported.reviews),
        "skipped": [{"what": reason, "count": count} for reason, count in imported.skipped.items()],
        "mediaLeftOut": imported.media,
    }


@tool(
    **SETS | _SLOW,
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
    args: ImportAnki, packages: Need[Packages], folder: Need[Folder], world: Need[World], context: ToolContext
) -> Answer:
    """Import decks from an Anki file, with schedules and review history.

    Use it to bring in what the user learned with Anki, or a shared deck. Returns what was added, updated and skipped.

    Nothing is deleted: newer text and later reviews win, and a second import changes nothing. Images and sounds are
    not kept. A file that cannot be read changes nothing.
    """
    path = folder.to_read(args.path, ".apkg", ".colpkg")
    imported = await packages.import_file(owner(context), path, args.deck_id, world.now(), context.report_progress)
    notes, cards = imported.notes, imported.cards
    message = f"{notes.added:,} notes and {cards.added:,} cards added, {notes.updated + cards.updated:,} updated."
    return Answer.ok(_imported_json(imported), message=message, hints=_for_import(imported))


def _outermost(decks: tuple[Deck, ...]) -> Deck | None:
    """The deck that all are in, if one of them is."""
    first = min(decks, key=lambda deck: deck.name.count(SEPARATOR), default=None)
    return first if first and all(deck.is_in(first.name) for deck in decks) else None


def _for_import(imported: ImportSummary) -> AgentHints:
    outer = _outermost(imported.decks)
    study = SuggestedAction(
        action="get-due-cards",
        priority="high",
        data={"deckId": DeckId.of(outer.id)} if outer else {},
        description="See what of it is due today.",
        category="learning",
    )
    look = SuggestedAction(action="list-decks", description="See all decks with what waits in them.")
    fit = SuggestedAction(
        action="optimize-parameters",
        priority="low",
        data=study.data,
        description=f"See what FSRS gains when it is fitted to the {imported.reviews.added:,} reviews that came along.",
        category="optimization",
    )
    steps = (study, look, fit) if imported.reviews.added >= WORTH_FITTING else (study, look)
    taken = sum(tally.added + tally.updated + tally.unchanged for tally in (imported.notes, imported.cards))
    left_out = sum(imported.skipped.values())
    made = AgentHints(
        evidence=Evidence(completeness=taken / max(taken + left_out, 1)),
        suggested_next_actions=steps if imported.decks else (look,),
        related_resources=tuple(deck_resource(deck) for deck in imported.decks[:_MOST_NAMED]),
        estimated_impact=EstimatedImpact(benefit=imported.cards.added / max(taken, 1), effort=0.1),
        why=f"{taken} notes and cards of the file are in the collection now, {left_out} things were left out.",
    )
    return _warned(made, imported)


def _warned(made: AgentHints, imported: ImportSummary) -> AgentHints:
    if imported.skipped:
        what = "; ".join(f"{count} {reason}" for reason, count in imported.skipped.items())
        made = made.warned(HintWarning(type="validation", severity="medium", message=f"Left out: {what}."))
    if imported.media:
        words = f"{imported.media} images and sounds are shown by their names only."
        made = made.warned(HintWarning(type="validation", severity="low", message=words))
    return made


class ExportAnki(Arguments):
    """What to write, and where."""

    path: Annotated[
        str, Field(min_length=1, max_length=LONGEST_PATH, description="Such as french.apkg, in the files folder.")
    ]
    deck_id: AnyDeck = None
    scheduling: Annotated[bool, Field(description="With schedules and reviews; false to share.")] = True
    overwrite: Annotated[bool, Field(description="Replace a file of that name.")] = False


@tool(
    **WRITES | _SLOW,
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
    args: ExportAnki, packages: Need[Packages], folder: Need[Folder], world: Need[World], context: ToolContext
) -> Answer:
    """Write cards to an .apkg file that Anki opens, with due dates, FSRS memory and review history.

    Use it for a back-up, to go on in Anki, or to share a deck. Returns its name and what is in it.

    A file that exists is left alone, unless overwrite is true: then it is replaced.
    """
    path = folder.to_write(args.path, ".apkg")
    exported = await packages.export_file(
        owner(context),
        path,
        args.deck_id,
        world.now(),
        context.report_progress,
        scheduling=args.scheduling,
        overwrite=args.overwrite,
    )
    value = {
        "path": folder.name_of(path),
        "bytes": exported.size,
        "decks": exported.decks,
        "notes": exported.notes,
        "cards": exported.cards,
        "reviews": exported.reviews,
    }
    why = f"All {exported.cards} cards that were asked for are in the file."
    return Answer.ok(value, message=f"{exported.cards:,} cards are in {path.name}.", hints=hints.for_value(why=why))
