"""The server as a whole: what an agent sees of it, its size, and which commands it offers."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_atl.app import COMMANDS, build
from mcp_atl.command import command_of
from mcp_atl.settings import AtlSettings
from mcp_core import Request
from mcp_core.errors import UnknownTool
from mcp_core.process.start_errors import InvalidSetting
from mcp_core.settings.model import settings_type
from tests.mcp_atl.server import serve
from toolcharter.local.app_verification import verify_app
from toolcharter.serving.run import Program, greeting

MAX_BYTES = 18_000
MAX_BYTES_READ_ONLY = 9_000
"""Of the names, descriptions and input schemas, which are in every request of an agent."""

READING = ["health_check", "help", "user_info", "search_users", "search", "get", "list", "history", "report"]
WRITING = [
    *("create", "update", "comment", "transition", "link", "worklog", "move", "delete"),
    "setup_atlassian_credentials",
]


def listed(**settings: Any) -> list[dict[str, Any]]:
    """What a model reads of the tools."""
    tools = build(AtlSettings(sandbox=True, **settings)).list_tools()
    return [{"name": one.name, "description": one.description, "inputSchema": one.input_schema} for one in tools]


def names(**settings: Any) -> list[str]:
    return [tool["name"] for tool in listed(**settings)]


def size(tools: list[dict[str, Any]]) -> int:
    return len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.requirement("ATL-1")
@pytest.mark.parametrize("tool", listed(), ids=lambda tool: tool["name"])
def test_every_tool_has_the_same_four_parameters(tool: dict[str, Any]):
    schema = tool["inputSchema"]
    assert list(schema["properties"]) == ["product", "subject", "parameters", "response_fields"]
    assert schema["additionalProperties"] is False
    product = schema["properties"]["product"]
    assert (product["enum"], product["default"]) == (["atlassian", "jira", "confluence"], "atlassian")
    assert [schema["properties"][name]["type"] for name in schema["properties"]] == [
        *("string", "string", "object", "array")
    ]
    assert set(schema.get("required", [])) <= {"parameters"}
    assert "anyOf" not in json.dumps(schema)
    assert "null" not in json.dumps(schema)


@pytest.mark.requirement("NAM-7")
def test_the_command_is_the_name_of_the_tool_without_its_prefix():
    commands = [command_of(function).name for function in COMMANDS]
    assert [command for command in commands if command in READING + WRITING] == READING + WRITING
    assert names() == [f"atl_{command}" for command in commands]
    assert names(tool_prefix="team") == [f"team_{command}" for command in commands]


@pytest.mark.requirement("NAM-7")
async def test_help_knows_a_command_by_both_names():
    async with serve() as server:
        assert await server.ok("help", "atl_user_info") == await server.ok("help", "user_info")
        assert list((await server.ok("help"))["commands"]) == [name.removeprefix("atl_") for name in names()]


@pytest.mark.requirement("NAM-7")
async def test_help_knows_a_command_by_the_name_that_another_prefix_makes():
    async with build(AtlSettings(sandbox=True, tool_prefix="team")) as app:
        explained = [
            json.loads((await app.call("team_help", {"subject": name})).text)["value"]["command"]
            for name in ("team_user_info", "user_info")
        ]
    assert explained == ["user_info", "user_info"]


def test_the_list_of_all_commands_is_small():
    assert size(listed()) <= MAX_BYTES


def test_the_list_of_the_reading_commands_is_small():
    assert size(listed(read_only=True)) <= MAX_BYTES_READ_ONLY


@pytest.mark.requirement("ATL-11")
async def test_read_only_mode_hides_and_refuses_every_write():
    hidden = set(names()) - set(names(read_only=True))
    assert hidden >= {f"atl_{command}" for command in WRITING}
    async with serve(read_only=True) as server:
        before = len(server.sandbox.requests)
        for name in sorted(hidden):
            with pytest.raises(UnknownTool):
                await server.app.call(name, {"subject": "APP-1", "parameters": {}})
        assert len(server.sandbox.requests) == before
        assert (await server.ok("health_check"))["read_only"] is True


@pytest.mark.requirement("ATL-11")
async def test_long_work_reports_its_progress():
    steps: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        steps.append((done, total, message))

    arguments = {"subject": "APP-3, APP-4", "parameters": {"kind": "time_in_status"}}
    async with serve() as server:
        await server.app.answer(Request("atl_report", arguments, server.app.local_caller, progress=progress))
    assert steps == [(1, 2, "issues read"), (2, 2, "issues read")]


def test_only_the_named_commands_are_offered():
    assert names(commands=("search", "get", "comment")) == ["atl_search", "atl_get", "atl_comment"]
    assert names(commands=("search", "comment"), read_only=True) == ["atl_search"]


def test_a_command_that_does_not_exist_cannot_be_offered():
    with pytest.raises(InvalidSetting, match=r"--commands: 'serch' is not a command\. Commands: health_check, help, "):
        build(AtlSettings(sandbox=True, commands=("get", "serch")))


async def test_projects_and_spaces_are_keys_in_any_case():
    async with serve(projects=("app",), spaces=("eng",)) as server:
        assert await server.ok("get", "APP-1", response_fields=["key"]) == {"key": "APP-1"}
        assert await server.ok("get", "page:ENG/Engineering", response_fields=["title"]) == {"title": "Engineering"}
        assert "'FERRY' is not open to this server. Open projects: APP." in await server.refused(
            "PermissionError", "get", "FERRY-1"
        )


def test_the_settings_of_the_server_are_options_of_its_command():
    assert settings_type(build) is AtlSettings


async def test_help_shows_only_what_is_offered():
    async with serve(commands=("help", "search")) as server:
        assert list((await server.ok("help"))["commands"]) == ["help", "search"]
        assert await server.refused("ValidationError", "help", "create") == (
            "subject: 'create' is not a command. Commands: help, search."
        )


def test_only_delete_needs_consent():
    tools = {tool["name"]: tool["inputSchema"]["properties"]["parameters"] for tool in listed()}
    literals = {name: schema["properties"] for name, schema in tools.items() if "properties" in schema}
    assert {name: schema["explicit_action"]["enum"] for name, schema in literals.items()} == {"atl_delete": ["DELETE"]}


def test_no_rule_has_a_finding():
    outcome = verify_app(build(AtlSettings(sandbox=True)), Path(__file__).parents[2], "atl")
    assert [(finding.rule.id, finding.tool, finding.message) for finding in outcome.findings] == []


def test_a_person_in_a_terminal_is_told_that_the_sandbox_is_served(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    for variable in ("ATLASSIAN_URL", "JIRA_URL", "CONFLUENCE_URL"):
        monkeypatch.delenv(variable, raising=False)
    told = "It serves the sandbox, because no site is set up. To set up yours: mcp-atl login, or set ATLASSIAN_URL."
    assert greeting(build(AtlSettings()), Program("mcp-atl")).splitlines()[1] == told
    monkeypatch.setenv("ATLASSIAN_URL", "https://acme.atlassian.net")
    assert "sandbox" not in greeting(build(AtlSettings()), Program("mcp-atl"))
