from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_noema.anki.package import DayCount
from tests.mcp_noema.anki import real_anki


class Made:
    """Files of one collection in every form, and what Anki says is in it."""

    def __init__(self, folder: Path) -> None:
        with real_anki.collection(folder / "made") as col:
            real_anki.learn(col)
            self.cards = real_anki.told_by_anki(col)
            self.log = real_anki.log_of(col)
            began = datetime.fromtimestamp(col.sched.day_cutoff - 86_400, UTC)
            self.today = DayCount(began.date(), UTC, began.hour)
            legacy = real_anki.export(col, folder / "anki21.apkg", legacy=True)
            self.files = {
                "anki2.apkg": real_anki.in_the_oldest_form(legacy, folder / "anki2.apkg"),
                "anki21.apkg": legacy,
                "anki21b.apkg": real_anki.export(col, folder / "anki21b.apkg", legacy=False),
                "anki21.colpkg": real_anki.export(col, folder / "anki21.colpkg", legacy=True),
                "anki21b.colpkg": real_anki.export(col, folder / "anki21b.colpkg", legacy=False),
            }
            self.unscheduled = real_anki.export(col, folder / "unscheduled.apkg", legacy=False, scheduling=False)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("anki"))
