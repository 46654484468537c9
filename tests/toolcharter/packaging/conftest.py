import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toolcharter.packaging import somebody_else


@pytest.fixture
def install_weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs the server `weather` of somebody else."""
    folder = tmp_path / "site"

    def install(**options: str) -> None:
        folder.mkdir()
        somebody_else.install(folder, **options)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, "acme_weather", raising=False)

    return install
