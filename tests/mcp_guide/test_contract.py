"""The contract of the guide: its lock, and the running server held against it."""

from pathlib import Path

import pytest

from mcp_core import Settings
from toolcharter.contract.lock import Lock
from toolcharter.local import targets

FILE = Path(__file__).parents[2] / "contracts" / "mcp-guide.json"


@pytest.mark.requirement("VER-2")
def test_the_server_is_what_its_lock_says():
    app = targets.load("guide", Settings())
    assert Lock.from_tools(app.name, app.version, app.list_tools()).to_text() == FILE.read_text(encoding="utf-8")
