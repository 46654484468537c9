"""The governor over stdio in front of servers that others wrote. Only with `--thorough`: each takes seconds."""

import base64
import json
import os
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.behaviour.combinations import NO, YES, Person
from tests.forkserver.commands import command_path
from tests.thorough import VARIABLE
from tests.toolcharter.govern.registry_servers import server_command

pytestmark = [
    pytest.mark.skipif(VARIABLE not in os.environ, reason="installs servers from npm and PyPI: only with --thorough"),
    pytest.mark.timeout(600),  # the first run installs them
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that the servers work in, beside the charter."""
    made = tmp_path / "files"
    made.mkdir()
    return made


def charter(tmp_path: Path, name: str, *words: object, extra: str = "", env: str = "{}") -> Path:
    path = tmp_path / "charter.toml"
    command = json.dumps([*server_command(name), *map(str, words)])
    path.write_text(f"list_budget = 100000\n[upstream.{name}]\ncommand = {command}\nenv = {env}\n{extra}", "utf-8")
    return path


def govern(path: Path, *words: str) -> tuple[int, str]:
    command = [command_path("toolcharter"), "govern", *words, "--charter", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout


@asynccontextmanager
async def governed(path: Path, person: Person, mode: str = "2026-07-28") -> AsyncIterator[Client]:
    words = ["govern", "--charter", str(path), "--log-level", "ERROR"]
    channel = stdio_client(StdioServerParameters(command=command_path("toolcharter"), args=words))
    async with Client(channel, mode=mode, elicitation_callback=person) as client:
        yield client


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def new_repository(folder: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)


def content(result: types.CallToolResult) -> list[dict[str, Any]]:
    return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]


def text(result: types.CallToolResult) -> str:
    return content(result)[0]["text"]


@pytest.mark.requirement("GOV-2")
@pytest.mark.parametrize(
    ("name", "words", "tools"),
    [("everything", [], 14), ("files", ["."], 14), ("memory", [], 9), ("git", [], 12), ("time", [], 2)],
)
def test_a_server_that_did_not_change_is_not_quarantined_when_it_starts_again(
    tmp_path: Path, folder: Path, name: str, words: list[str], tools: int
):
    path = charter(tmp_path, name, *words, extra=f"folder = {json.dumps(str(folder))}\n")
    assert govern(path, "approve", name) == (0, f"{name}: {tools} tools approved as shown now.\n")
    lock = (tmp_path / "charter-locks" / f"{name}.json").read_bytes()
    for _ in range(2):
        code, out = govern(path, "review")
        # Some offer prompts and resources as well.
        assert (code, re.split(r"[,\n]", out)[0]) == (0, f"{name}: {tools} tools served")
    assert (tmp_path / "charter-locks" / f"{name}.json").read_bytes() == lock


@pytest.mark.requirement("GOV-1", "GOV-4")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_answers_of_every_kind_arrive_as_they_were_sent(tmp_path: Path, mode: str):
    path = charter(tmp_path, "everything")
    govern(path, "approve", "everything")
    reports: list[tuple[float, float | None]] = []

    async def report(done: float, total: float | None, _: str | None) -> None:
        reports.append((done, total))

    async with governed(path, Person(), mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "everything_simulate-research-query" not in listed
        assert listed["everything_get-sum"].annotations == types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
        assert text(await client.call_tool("everything_echo", {"message": "é 😀 \\ \n"})) == "Echo: é 😀 \\ \n"
        image = content(await client.call_tool("everything_get-tiny-image", {}))[1]
        assert (image["type"], image["mimeType"]) == ("image", "image/png")
        assert base64.b64decode(image["data"]).startswith(b"\x89PNG")
        annotated = content(
            await client.call_tool("everything_get-annotated-message", {"messageType": "error", "includeImage": True})
        )
        assert annotated[0]["annotations"] == {"audience": ["user", "assistant"], "priority": 1.0}
        weather = await client.call_tool("everything_get-structured-content", {"location": "Chicago"})
        assert weather.structured_content == json.loads(text(weather))
        links = content(await client.call_tool("everything_get-resource-links", {"count": 2}))
        assert [block["type"] for block in links] == ["text", "resource_link", "resource_link"]
        arguments = {"resourceType": "Blob", "resourceId": 1}
        blob = content(await client.call_tool("everything_get-resource-reference", arguments))[1]
        assert blob["resource"]["uri"] == "demo://resource/dynamic/blob/1"
        await client.call_tool(
            "everything_trigger-long-running-operation", {"duration": 0.3, "steps": 3}, progress_callback=report
        )
        refused = await client.call_tool("everything_get-sum", {"a": "x", "b": 2})
        assert json.loads(text(refused))["error_type"] == "ValidationError"
        environment = json.loads(text(await client.call_tool("everything_get-env", {})))
    assert reports == [(1, 3), (2, 3), (3, 3)]
    assert not {name for name in environment if name.startswith("TOOLCHARTER_TEST")}


@pytest.mark.requirement("GOV-3")
async def test_a_file_is_written_only_where_the_charter_allows_it(tmp_path: Path, folder: Path):
    (folder / "work").mkdir()
    policy = f'[tools."files:*"]\narguments.path = {{ folder = {json.dumps(str(folder / "work"))} }}\n'
    path = charter(tmp_path, "files", folder, extra=f'{policy}[tools."files:write_file"]\nconsent = "never"\n')
    govern(path, "approve", "files")
    async with governed(path, Person(NO)) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "pattern" in listed["files_write_file"].input_schema["properties"]["path"]
        assert "path" not in listed["files_move_file"].input_schema["properties"]
        for refused in ("work/../secret", "secret", "work/a/../../secret", "worked"):
            result = await client.call_tool("files_write_file", {"path": f"{folder}/{refused}", "content": "x"})
            assert json.loads(text(result))["error_type"] == "ValidationError"
        written = await client.call_tool("files_write_file", {"path": f"{folder}/work/a", "content": "\ufeffx"})
        assert written.structured_content == {"content": text(written)}
        # A byte order mark gives no orders to anybody.
        assert content(await client.call_tool("files_read_text_file", {"path": f"{folder}/work/a"})) == [
            {"type": "text", "text": "\ufeffx"}
        ]
        missing = await client.call_tool("files_read_text_file", {"path": f"{folder}/work/none"})
        assert (missing.is_error, text(missing)[:7]) == (True, "ENOENT:")
        # It says that it destroys something, and the person says no.
        moved = await client.call_tool(
            "files_move_file", {"source": f"{folder}/work/a", "destination": f"{folder}/work/b"}
        )
        assert moved.is_error
    assert files_in(folder) == ["work/a"]


@pytest.mark.requirement("GOV-1")
async def test_what_deletes_asks_the_person_first(tmp_path: Path, folder: Path):
    file = json.dumps(str(folder / "memory.json"))
    path = charter(tmp_path, "memory", env=f"{{ MEMORY_FILE_PATH = {file} }}")
    govern(path, "approve", "memory")
    person = Person(NO)
    async with governed(path, person) as client:
        entity = {"name": "Ann", "entityType": "person", "observations": ["reads"]}
        created = await client.call_tool("memory_create_entities", {"entities": [entity]})
        assert created.structured_content == {"entities": [entity]}
        assert person.questions == []
        assert (await client.call_tool("memory_delete_entities", {"entityNames": ["Ann"]})).is_error
        graph = await client.call_tool("memory_read_graph", {})
        assert graph.structured_content == {"entities": [entity], "relations": []}
        person.answer = YES
        assert not (await client.call_tool("memory_delete_entities", {"entityNames": ["Ann"]})).is_error
        graph = await client.call_tool("memory_read_graph", {})
        assert graph.structured_content == {"entities": [], "relations": []}
    assert len(person.questions) == 2
    assert '(memory_delete_entities with {"entityNames":["Ann"]})' in person.questions[0]


@pytest.mark.requirement("GOV-3")
async def test_an_argument_that_the_charter_fixes_keeps_git_in_one_repository(tmp_path: Path, folder: Path):
    new_repository(folder)
    (folder / "new.txt").write_text("x\n", encoding="utf-8")
    policy = f'[tools."git:*"]\narguments.repo_path = {{ value = {json.dumps(str(folder))} }}\n'
    path = charter(tmp_path, "git", extra=policy)
    govern(path, "approve", "git")
    person = Person(NO)
    async with governed(path, person) as client:
        assert not any("repo_path" in tool.input_schema["properties"] for tool in (await client.list_tools()).tools)
        assert "new.txt" in text(await client.call_tool("git_git_status", {}))
        elsewhere = await client.call_tool("git_git_status", {"repo_path": "/"})
        assert json.loads(text(elsewhere))["error_type"] == "ValidationError"
        assert text(await client.call_tool("git_git_add", {"files": ["new.txt"]})) == "Files staged successfully"
        assert (await client.call_tool("git_git_reset", {})).is_error
        assert "+x" in text(await client.call_tool("git_git_diff_staged", {}))
        failed = await client.call_tool("git_git_log", {})
        assert (failed.is_error, "does not exist" in text(failed)) == (True, True)
    assert len(person.questions) == 1


@pytest.mark.requirement("GOV-2")
async def test_another_time_zone_waits_for_approval(tmp_path: Path):
    """mcp-server-time writes the local time zone into its descriptions."""
    path = charter(tmp_path, "time", "--local-timezone", "Europe/Rome")
    govern(path, "approve", "time")
    async with governed(path, Person()) as client:
        told = await client.call_tool("time_get_current_time", {"timezone": "Asia/Tokyo"})
        assert told.structured_content is not None
        assert told.structured_content["datetime"].endswith("+09:00")
        assert (await client.call_tool("time_get_current_time", {"timezone": "Nowhere"})).is_error
    charter(tmp_path, "time", "--local-timezone", "Asia/Tokyo")
    code, out = govern(path, "review")
    assert (code, out.splitlines()[0]) == (1, "time: 0 tools served, 2 quarantined")
    assert "parameter description changed" in out
