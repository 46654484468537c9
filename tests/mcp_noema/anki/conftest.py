from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_noema.anki.package import CollectionCalendar
from tests.mcp_noema.anki import real_anki


class AnkiFiles:
    """Files of one collection in every form, and the cards and log that Anki finds in it."""

    def __init__(self, folder: Path) -> None:
        with real_anki.collection(folder / "made") as col:
            real_anki.fill(col)
            self.cards = real_anki.anki_cards(col)
            self.log = real_anki.revlog(col)
            began = datetime.fromtimestamp(col.sched.day_cutoff - 86_400, UTC)
            self.today = CollectionCalendar(began.date(), UTC, began.hour)
            legacy = real_anki.export(col, folder / "anki21.apkg", legacy=True)
            self.files = {
                "anki2.apkg": real_anki.as_anki2(legacy, folder / "anki2.apkg"),
                "anki21.apkg": legacy,
                "anki21b.apkg": real_anki.export(col, folder / "anki21b.apkg", legacy=False),
                "anki21.colpkg": real_anki.export(col, folder / "anki21.colpkg", legacy=True),
                "anki21b.colpkg": real_anki.export(col, folder / "anki21b.colpkg", legacy=False),
            }
            self.unscheduled = real_anki.export(col, folder / "unscheduled.apkg", legacy=False, scheduling=False)


@pytest.fixture(scope="session")
def anki_files(tmp_path_factory: pytest.TempPathFactory) -> AnkiFiles:
    return AnkiFiles(tmp_path_factory.mktemp("anki"))
