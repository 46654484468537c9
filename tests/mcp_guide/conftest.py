from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _cached_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The index of a search goes where the test's other files are."""
    folder: Path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
