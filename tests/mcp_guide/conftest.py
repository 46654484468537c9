from pathlib import Path

import pytest

from mcp_guide.search import index as search


@pytest.fixture(autouse=True)
def _temporary_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Search indexes are written to a temporary folder."""
    folder: Path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))


@pytest.fixture(autouse=True)
def _patient_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search waits for a complete index, however busy the machine is."""
    monkeypatch.setattr(search, "WAIT", 60.0)
