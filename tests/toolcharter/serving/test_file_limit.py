"""A process may open a file for each connection, as far as the system allows."""

import json
import resource
import socket
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import Log
from tests.toolcharter.serving.processes import GATE_SERVER, started
from toolcharter.serving.connections import raise_file_limit

UNLIMITED = resource.RLIM_INFINITY


@pytest.mark.requirement("OPS-8")
@pytest.mark.parametrize(
    ("limits", "set_to", "warned"),
    [
        ((1024, 4096), [(1256, 4096)], False),
        ((1024, UNLIMITED), [(1256, UNLIMITED)], False),
        ((1024, 1100), [(1100, 1100)], True),
        ((1024, 1024), [], True),
        ((20_000, 20_000), [], False),
        ((UNLIMITED, UNLIMITED), [], False),
    ],
)
def test_the_soft_limit_is_raised(
    monkeypatch: pytest.MonkeyPatch, log: Log, limits: tuple[int, int], set_to: list[tuple[int, int]], warned: bool
):
    changes: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: changes.append(both))
    raise_file_limit(1000)
    assert changes == set_to
    assert [level for level, words in log.messages if "ulimit" in words] == ["WARNING"] * warned


@pytest.mark.requirement("OPS-8")
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux can change the limit of another process")
def test_health_answers_when_connections_have_taken_all_files():
    with started(GATE_SERVER, "http", "--port", "0") as server, ExitStack() as stack:
        address = urlsplit(server.base_url())
        pid, place = server.process.pid, (address.hostname, address.port)
        assert read(place, "/health/live") == (200, {"status": "ok"})  # it has raised its own limit by now
        highest = max(int(file.name) for file in Path(f"/proc/{pid}/fd").iterdir())
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (highest + 20, 4096))
        for _ in range(40):
            stack.enter_context(socket.create_connection(place))
            assert read(place, "/health/live") == (200, {"status": "ok"})
        assert read(place, "/health/ready") == (200, {"status": "ok", "dependencies": []})


def read(place: tuple[str | None, int | None], path: str) -> tuple[int, Any]:
    """The status and the JSON at a path."""
    with closing(HTTPConnection(place[0] or "", place[1], timeout=30)) as http:
        http.request("GET", path)
        response = http.getresponse()
        return response.status, json.loads(response.read())
