"""A file to import, written by Anki."""

from pathlib import Path
from typing import Any


def write(path: Path, notes: int) -> None:
    """A deck as people share it: notes without schedules."""
    # Imported only here: it is large, and installed only for tests.
    from anki.collection import AddNoteRequest, Collection, DeckIdLimit, ExportAnkiPackageOptions  # noqa: PLC0415
    from anki.decks import DeckId  # noqa: PLC0415

    collection = Collection(str(path.with_suffix(".anki2")))
    try:
        deck = DeckId(collection.decks.id("Shared") or 1)
        basic = collection.models.by_name("Basic")
        assert basic is not None
        requests: list[Any] = []
        for number in range(notes):
            note = collection.new_note(basic)
            note.fields = [f"What is the word number {number}?", f"It is the <b>word</b> number {number}, &amp; so on."]
            note.tags = [f"lesson{number % 50}"]
            requests.append(AddNoteRequest(note, deck))
        collection.add_notes(requests)
        options = ExportAnkiPackageOptions(with_scheduling=False, with_media=False, legacy=False)
        collection.export_anki_package(out_path=str(path), options=options, limit=DeckIdLimit(deck))
    finally:
        collection.close()
