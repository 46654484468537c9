from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _temporary_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Search indexes are written to a temporary folder."""
    folder: Path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
