"""The contract of the learning server: its lock, and the running server held against it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_core import Settings
from tests.mcp_noema.client_session import command
from toolcharter.contract.lock import Lock, parse_lock
from toolcharter.local import targets
from toolcharter.remote import client

FILE = Path(__file__).parents[2] / "contracts" / "mcp-noema.json"


@pytest.mark.requirement("VER-2")
def test_the_server_is_what_its_lock_says():
    app = targets.load("noema", Settings())
    assert Lock.from_tools(app.name, app.version, app.list_tools()).to_text() == FILE.read_text(encoding="utf-8")


async def nobody(question: Mapping[str, Any]) -> Mapping[str, Any]:
    raise AssertionError(question)


@pytest.mark.requirement("VER-2")
async def test_the_running_server_shows_a_client_what_its_lock_says(tmp_path):
    locked = parse_lock(json.loads(FILE.read_text(encoding="utf-8")), FILE.name).tools
    async with client.start(command(tmp_path), nobody) as server:
        assert {tool.name: tool for tool in await server.list_tools()} == locked
