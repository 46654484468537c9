"""The installed uvicorn has the members that we use of its protocol classes."""

import asyncio
import inspect
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from toolcharter.serving import uvicorn_connection
from toolcharter.serving.uvicorn_connection import OVERRIDDEN, H11Members, HttpToolsMembers, UvicornConnection


@pytest.mark.parametrize(("theirs", "ours"), [(HttpToolsProtocol, HttpToolsMembers), (H11Protocol, H11Members)])
async def test_the_installed_uvicorn_has_the_members_that_are_used(theirs: type, ours: type):
    state = ServerState()
    connection = theirs(uvicorn.Config(Mock(), log_config=None, ws="none"), state, {}, asyncio.get_running_loop())
    connection.connection_made(Mock(spec=asyncio.Transport, get_extra_info=lambda *_: None))
    used = {*UvicornConnection.__annotations__, *ours.__annotations__, *OVERRIDDEN, "_unset_keepalive_if_required"}
    assert {name for name in used if not hasattr(connection, name)} == set()
    assert {"write_paused", "drain", "pause_reading", "resume_reading"} <= set(dir(connection.flow))
    assert {"default_headers", "total_requests", "tasks", "connections"} <= set(vars(state))


@pytest.mark.parametrize("protocol", [HttpToolsProtocol, H11Protocol])
def test_the_installed_uvicorn_has_the_members_of_a_request_that_are_used(protocol: type):
    cycle = inspect.getmodule(protocol).RequestResponseCycle
    source = inspect.getsource(cycle.__init__)
    names = ("scope", "disconnected", "message_event", "response_started", "response_complete")
    assert [name for name in names if f"self.{name}" not in source] == []


def test_one_file_names_the_private_members():
    folder = Path(inspect.getfile(uvicorn_connection)).parent
    named = re.compile(r"_unset_keepalive_if_required|\.(message_event|response_complete|cycle|pipeline|their_state)\b")
    found = {path.name for path in folder.glob("*.py") if named.search(path.read_text(encoding="utf-8"))}
    assert found == {"uvicorn_connection.py"}
