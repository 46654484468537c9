"""Where each client keeps its servers, and in which form, on each system."""

from pathlib import Path, PurePath

import pytest

from toolcharter.clients import editing
from toolcharter.clients.entry import ServerEntry, read_entry
from toolcharter.clients.known import CLIENTS, Places

HOME = Path("/home/ana")
LINUX = Places(HOME, HOME / ".config", Path("/work"))
MACOS = Places(HOME, HOME / "Library/Application Support", Path("/work"))
WINDOWS = Places(HOME, HOME / "AppData/Roaming", Path("/work"), windows=True)
STARTED = ServerEntry("todo", ("/opt/mcp-todo", "--user", "ana"), {"KEY": "1"}, description="A todo list.")
REMOTE = ServerEntry("todo", url="https://tools.example/mcp", token="t0ken", description="A todo list.")
FILES = {
    "claude-desktop": [
        ".config/Claude/claude_desktop_config.json",
        "Library/Application Support/Claude/claude_desktop_config.json",
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ],
    "claude-code": [".claude.json"] * 3,
    "cursor": [".cursor/mcp.json"] * 3,
    "vscode": [
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
    ],
    "windsurf": [".codeium/windsurf/mcp_config.json"] * 3,
    "zed": [".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"],
    "gemini": [".gemini/settings.json"] * 3,
    "codex": [".codex/config.toml"] * 3,
    "goose": [
        ".config/goose/config.yaml",
        ".config/goose/config.yaml",
        "AppData/Roaming/Block/goose/config/config.yaml",
    ],
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "zed": ".zed/settings.json",
    "gemini": ".gemini/settings.json",
    "codex": ".codex/config.toml",
}
COMMAND = {"command": "/opt/mcp-todo", "args": ["--user", "ana"], "env": {"KEY": "1"}}
SECRET = {"Authorization": "Bearer t0ken"}
URL = "https://tools.example/mcp"
GOOSE = {"name": "todo", "description": "A todo list.", "enabled": True, "timeout": 300}
FORMS = {
    "claude-desktop": (("mcpServers", COMMAND), None),
    "claude-code": (("mcpServers", {"type": "stdio", **COMMAND}), {"type": "http", "url": URL, "headers": SECRET}),
    "cursor": (("mcpServers", COMMAND), {"url": URL, "headers": SECRET}),
    "vscode": (("servers", {"type": "stdio", **COMMAND}), {"type": "http", "url": URL, "headers": SECRET}),
    "windsurf": (("mcpServers", COMMAND), {"serverUrl": URL, "headers": SECRET}),
    "zed": (("context_servers", COMMAND), {"url": URL, "headers": SECRET}),
    "gemini": (("mcpServers", COMMAND), {"httpUrl": URL, "headers": SECRET}),
    "codex": (("mcp_servers", COMMAND), {"url": URL, "http_headers": SECRET}),
    "goose": (
        (
            "extensions",
            {**GOOSE, "type": "stdio", "cmd": "/opt/mcp-todo", "args": ["--user", "ana"], "envs": {"KEY": "1"}},
        ),
        {**GOOSE, "type": "streamable_http", "uri": URL, "headers": SECRET},
    ),
}


@pytest.mark.requirement("PKG-2")
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_file_of_a_client_is_where_its_documents_say(client):
    paths = [client.path(places) for places in (LINUX, MACOS, WINDOWS)]
    assert [PurePath(path).relative_to(HOME).as_posix() for path in paths] == FILES[client.name]
    expected = PROJECT_FILES.get(client.name)
    assert client.path(LINUX, "project") == (Path("/work", expected) if expected else None)


@pytest.mark.requirement("PKG-2")
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_an_entry_has_the_form_of_its_client_and_can_be_read_again(client):
    (member, started), remote = FORMS[client.name]
    path = (member, "todo")
    assert client.member == member
    for entry, form in ((STARTED, started), (REMOTE, remote)):
        if form is None:
            assert not client.takes_addresses
            continue
        text = editing.put("", client.format, path, client.form(entry))
        written = editing.find(editing.read(text, client.format), path)
        assert written == form
        again = read_entry("todo", written)
        assert (again.command, again.environment, again.url, again.token) == (
            entry.command,
            entry.environment,
            entry.url,
            entry.token,
        )


def test_a_variable_moves_the_files_of_the_clients_that_know_one():
    places = LINUX._replace(variables={"CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d", "XDG_CONFIG_HOME": "/x"})
    moved = {client.name: str(client.path(places)) for client in CLIENTS}
    assert moved["codex"] == "/c/config.toml"
    assert moved["claude-code"] == "/d/.claude.json"
    assert moved["goose"] == "/x/goose/config.yaml"


def test_an_entry_that_is_switched_off_is_known_as_such():
    assert [
        read_entry("x", {"command": "a", **more}).is_enabled for more in ({}, {"disabled": True}, {"enabled": False})
    ] == [
        True,
        False,
        False,
    ]
