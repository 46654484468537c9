"""A notebook for an agent: a handful of tools that use every feature.

python examples/demo.py                     over stdio
python examples/demo.py http --port 8000    over HTTP, at /mcp
"""

import asyncio
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import Field

from toolcharter import (
    App,
    BrandedId,
    Confirm,
    Deprecation,
    Example,
    NotFound,
    RateLimit,
    Result,
    Settings,
    ToolArguments,
    ToolContext,
    hints,
    instructions,
    prompt,
    run,
    tool,
)
from toolcharter.arguments import Pagination
from toolcharter.hints import Evidence, SuggestedAction
from toolcharter.resources import Content, Resource, ResourcePage, ResourceSource, ResourceTemplate, page_of


class NoteId(BrandedId, prefix="note"):
    """The id of a note, such as note_1."""


@dataclass(frozen=True)
class Note:
    """One note."""

    id: str
    title: str
    body: str


class Notebook:
    """The notes, by id. A real server would store them in a database."""

    def __init__(self) -> None:
        self.notes = {"note_1": Note("note_1", "Welcome", "Try list_notes.")}
        self.made = 1

    def add(self, title: str, body: str) -> Note:
        self.made += 1
        note = Note(f"note_{self.made}", title, body)
        self.notes[note.id] = note
        return note

    def get(self, note_id: NoteId) -> Note:
        if note_id not in self.notes:
            raise NotFound(f"No note {note_id!r} exists. Call list_notes to see the ids.")
        return self.notes[note_id]


# Values that several tools share. A keyword of a declaration replaces that of its preset.
reads = tool.query.preset(permissions=["notes:read"], tags=["notes"], open_world=False)
writes = tool.mutation.preset(permissions=["notes:write"], tags=["notes"], open_world=False)


# A tool with everything on: permission, rate limit, cache, strict arguments, hints. Plain type hints are enough.
@tool.query(
    permissions=["math:use"],
    cache_ttl=60,
    open_world=False,
    rate_limit=RateLimit(max_calls=1_000_000, window_ms=60_000),
    tags=["math"],
    examples=[Example("Two and three make five", {"a": 2, "b": 3}, 5)],
)
async def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Use this when the user wants the exact sum of two whole numbers.

    Args:
        a: The first number.
        b: The second number.

    Returns:
        Their sum.
    """
    return a + b


class ListNotes(Pagination):
    """What list_notes takes: a page, and words to look for."""

    words: str = Field(default="", max_length=100, description="Only notes whose title or body contains this text.")


@reads(
    cache_ttl=30,
    examples=[Example("The first note", {"limit": 1}, [{"id": "note_1", "title": "Welcome"}])],
)
async def list_notes(args: ListNotes, notebook: Notebook) -> Result[list[dict[str, str]]]:
    """List the notes, page by page.

    Use this when the user wants to see, find or count their notes.

    Returns:
        The id and title of each note, oldest first.
    """
    found = [n for n in notebook.notes.values() if args.words.lower() in f"{n.title} {n.body}".lower()]
    page = found[args.offset : args.offset + args.limit]
    more = SuggestedAction(
        action="list_notes",
        priority="medium",
        data={"words": args.words, "limit": args.limit, "offset": args.offset + args.limit},
    )
    left = len(found) - args.offset
    made = hints.for_list(len(page), left, more=more, then=[_open(page[0])] if page else [_write()])
    return Result.ok([{"id": note.id, "title": note.title} for note in page], hints=made)


@reads(
    cache_ttl=30,
    examples=[
        Example(
            "Read the welcome note",
            {"note_id": "note_1"},
            {"id": "note_1", "title": "Welcome", "body": "Try list_notes."},
        )
    ],
)
async def get_note(
    note_id: Annotated[NoteId, Field(description="The id of the note, such as note_1.")], notebook: Notebook
) -> dict[str, str]:
    """Read one note in full.

    Use this when the user wants to read a note whose id is known.

    Returns:
        The note's id, title and body.
    """
    return asdict(notebook.get(note_id))


class CreateNote(ToolArguments):
    """What create_note takes."""

    title: str = Field(min_length=1, max_length=100, description="A short title, 1 to 100 characters.")
    body: str = Field(default="", max_length=10_000, description="The text of the note.")


@writes(
    rate_limit=RateLimit(max_calls=60, window_ms=60_000),
    examples=[
        Example(
            "Write down an errand",
            {"title": "Errand", "body": "Buy milk."},
            {"id": "note_2", "title": "Errand", "body": "Buy milk."},
        )
    ],
)
async def create_note(args: CreateNote, notebook: Notebook) -> Result[dict[str, str]]:
    """Write a new note.

    Use this when the user wants to note, remember or jot something down.

    Returns:
        The new note with its id.
    """
    note = notebook.add(args.title, args.body)
    return Result.ok(
        asdict(note),
        message=f"Noted: {note.title}",
        instruction=instructions.validate_with_user("the title"),
        hints=hints.for_created("note", note.id, note.title, then=[_open(note)]),
    )


@writes(
    permissions=["notes:delete"],
    idempotent=True,
    confirm=Confirm("DELETE_NOTE", ask="Delete note {note_id} for good?"),
    examples=[
        Example(
            "Throw the welcome note away",
            {"note_id": "note_1", "explicit_action": "DELETE_NOTE"},
            {"deleted": "note_1"},
        )
    ],
)
async def delete_note(
    note_id: Annotated[NoteId, Field(description="The id of the note, such as note_1.")], notebook: Notebook
) -> Result[dict[str, str]]:
    """Delete a note for good.

    Use this when the user asks to delete a certain note. It cannot be undone.

    Returns:
        The id of the deleted note.
    """
    note = notebook.get(note_id)
    del notebook.notes[note.id]
    return Result.ok({"deleted": note.id}, hints=hints.for_deleted("note", note.title))


@tool.generation(
    permissions=["notes:read"],
    tags=["notes"],
    idempotent=True,
    open_world=False,
    examples=[Example("A digest of all notes", {}, {"notes": 1, "digest": "Welcome: Try list_notes."})],
)
async def digest_notes(context: ToolContext, notebook: Notebook) -> Result[dict[str, Any]]:
    """Sum up all notes in one text.

    Use this when the user wants an overview of everything they have noted. It reports its progress.

    Returns:
        How many notes there are, and the digest.
    """
    lines: list[str] = []
    for number, note in enumerate(notebook.notes.values(), start=1):
        lines.append(f"{note.title}: {note.body}")
        await context.report_progress(number, len(notebook.notes), note.title)
        await asyncio.sleep(0)
    evidence = Evidence(samples=len(lines), samples_for_half=1, source="medium")
    made = hints.for_value(evidence=evidence, why="The digest holds the notes as they are written.")
    return Result.ok({"notes": len(lines), "digest": " ".join(lines)}, hints=made)


@reads(
    deprecated=Deprecation(since="2026-09-01", replacement="list_notes", removal_date="2027-03-01"),
    examples=[Example("Find by a word", {"words": "welcome"}, ["note_1"])],
)
def find_notes(
    words: Annotated[str, Field(max_length=100, description="Text to look for in all notes.")],
    notebook: Notebook,
) -> list[str]:
    """Find notes by a word.

    Use list_notes instead, which finds and pages.

    Returns:
        The ids of the notes that contain the text.
    """
    return [n.id for n in notebook.notes.values() if words.lower() in f"{n.title} {n.body}".lower()]


def _open(note: Note) -> SuggestedAction:
    return SuggestedAction(action="get_note", priority="low", data={"note_id": note.id}, category="exploration")


def _write() -> SuggestedAction:
    return SuggestedAction(action="create_note", priority="low", description="Write a first note.")


# A prompt: a person fills in its arguments, and the agent gets what it returns.
@prompt(permissions=["notes:read"])
async def review_notes(notebook: Notebook, words: str = "", tone: str = "plain") -> Result[str]:
    """Go through the notes and say what to do next.

    Args:
        words: Only notes that contain this text; all of them if it is omitted.
        tone: How to write, such as plain or cheerful.
    """
    found = [n for n in notebook.notes.values() if words.lower() in f"{n.title} {n.body}".lower()]
    if not found:
        raise NotFound(f"No note contains {words!r}. Omit the words to review all notes.")
    lines = "\n".join(f"- {note.title}: {note.body}" for note in found)
    return Result.ok(
        f"Review these notes in a {tone} tone:\n{lines}", instruction=instructions.validate_with_user("what comes next")
    )


# Resources that change while the server runs: the notes themselves.
NOTE_SCHEME = "note://"


async def list_note_resources(notebook: Notebook, cursor: str | None = None) -> ResourcePage:
    """A page of all notes."""
    notes = notebook.notes.values()
    return page_of([Resource(NOTE_SCHEME + note.id, note.title, mime_type="text/markdown") for note in notes], cursor)


async def read_note_resource(uri: str, notebook: Notebook) -> Content | None:
    """A note as Markdown, or None if it does not exist."""
    note = notebook.notes.get(uri.removeprefix(NOTE_SCHEME))
    return Content(f"# {note.title}\n\n{note.body}\n", "text/markdown") if note else None


NOTES = ResourceSource(
    NOTE_SCHEME,
    read=read_note_resource,
    list=list_note_resources,
    templates=[ResourceTemplate("note://{note_id}", "A note", "One note as Markdown.", "text/markdown")],
    permissions=["notes:read"],
)

TOOLS = [add, list_notes, get_note, create_note, delete_note, digest_notes, find_notes]


def build(settings: Settings) -> App:
    """The server: its tools, its policy, and the objects that they need."""
    app = App(
        "demo",
        strict=True,
        version="1.0.0",
        title="Notebook",
        instructions="A notebook. Call list_notes first to see what is there.",
        tools=TOOLS,
        prompts=[review_notes],
        resources=[NOTES],
        format="hints",
        settings=settings,
    )
    app.provide(Notebook, Notebook())
    return app


if __name__ == "__main__":
    run(build)
