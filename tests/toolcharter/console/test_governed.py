"""The page of governed servers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import httpx2
import pytest

from mcp_core import Settings
from mcp_core.declare.listed import ListedTool
from mcp_core.hosts.site.server import Site
from toolcharter import targets
from toolcharter.console import Console
from toolcharter.govern.charter import read_charter
from toolcharter.govern.governor import Governor
from toolcharter.govern.pins import Comparison, Quarantine

BASE = "http://127.0.0.1:8000"
CHARTER = """
[upstream.files]
command = ["never-started"]

[tools."files:write_file"]
permissions = ["files:write"]
consent = "required"
rate_limit = "5/minute"
arguments.path = { folder = "/work" }

[tools."files:move_file"]
deny = true
"""


def listed(name: str) -> ListedTool:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return ListedTool(name, name, f"Does {name} with a file.", schema)


@pytest.fixture
def charter(tmp_path: Path) -> Path:
    path = tmp_path / "charter.toml"
    path.write_text(CHARTER)
    return path


@asynccontextmanager
async def visited(path: Path, settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    governor = Governor(path, read_charter(path), settings, "1.0.0")
    governor.comparisons["files"] = Comparison(
        approved={name: listed(name) for name in ("read_file", "write_file", "move_file")},
        quarantined={"delete_file": Quarantine("its description changed to <script>alert(1)</script>")},
        missing=frozenset({"old_file"}),
    )
    governor._serve_tools("files")
    site = Site([governor.all_tools, *governor.apps.values()], BASE, console=partial(Console, governor=governor))
    async with site.open(), httpx2.AsyncClient(transport=httpx2.ASGITransport(site), base_url=BASE) as http:
        yield http


async def test_it_shows_what_waits_for_a_decision_and_the_policy_of_each_tool(charter: Path):
    async with visited(charter, Settings()) as http:
        page = (await http.get("/console/governed")).text
        first = (await http.get("/")).text
    assert 'href="/console/governed">Governed</a>' in first
    assert "<code>delete_file</code> its description changed to &lt;script&gt;" in page
    assert "toolcharter govern approve files TOOL" in page
    assert "No longer listed: old_file." in page
    assert "the person confirms each call; needs files:write; 5 calls in 60 s; narrowed: path" in page
    assert "Denied: move_file." in page


async def test_a_caller_with_few_rights_sees_neither_decisions_nor_tools_of_others(charter: Path, tmp_path: Path):
    tokens = tmp_path / "tokens.json"
    tokens.write_text('{"t": {"user": "ben", "grants": ["other:read"]}}')
    async with visited(charter, Settings(tokens=tokens)) as http:
        page = (await http.get("/console/governed", headers={"Authorization": "Bearer t"})).text
    assert "read_file" in page
    assert [word for word in ("delete_file", "old_file", "write_file", "move_file", "quarantine") if word in page] == []


async def test_a_site_without_a_governor_has_no_such_page():
    site = Site([targets.load("demo", Settings())], BASE, console=Console)
    async with site.open(), httpx2.AsyncClient(transport=httpx2.ASGITransport(site), base_url=BASE) as http:
        assert (await http.get("/console/governed")).status_code == 404
        assert "Governed" not in (await http.get("/")).text
