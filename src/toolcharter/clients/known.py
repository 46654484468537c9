"""The clients: where each keeps its servers, and in which form. The source of each is its own documentation.

Claude Desktop   modelcontextprotocol.io/docs/develop/connect-local-servers; it reaches addresses only as connectors:
                 support.claude.com/en/articles/11503834
Claude Code      code.claude.com/docs/en/mcp
Cursor           cursor.com/docs/mcp
VS Code          code.visualstudio.com/docs/agents/reference/mcp-configuration
Windsurf         docs.windsurf.com/windsurf/cascade/mcp
Zed              zed.dev/docs/ai/mcp
Gemini CLI       github.com/google-gemini/gemini-cli, docs/tools/mcp-server.md
Codex CLI        developers.openai.com/codex/mcp; a token in the file itself is an entry of http_headers
Goose            block.github.io/goose/docs/guides/config-files
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from toolcharter.clients.editing import Format
from toolcharter.clients.entry import ServerEntry

Scope = Literal["user", "project"]
GOOSE_SECONDS = 300
"""How long Goose waits for an answer, as its own settings have it."""


class Places(NamedTuple):
    """The folders in which programs keep their settings on this system."""

    home: Path
    settings: Path
    """The folder of desktop programs."""
    folder: Path
    """The project."""
    windows: bool = False
    variables: Mapping[str, str] = {}

    @classmethod
    def here(cls) -> Self:
        """Those of this user and this folder."""
        home = Path.home()
        variables, windows = os.environ, sys.platform == "win32"
        if sys.platform == "darwin":
            settings = home / "Library" / "Application Support"
        elif windows:
            settings = Path(variables.get("APPDATA", home / "AppData" / "Roaming"))
        else:
            settings = Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
        return cls(home, settings, Path.cwd(), windows, variables)

    @property
    def dot_config(self) -> Path:
        """The folder of programs that use ~/.config on macOS too."""
        return self.settings if self.windows else Path(self.variables.get("XDG_CONFIG_HOME") or self.home / ".config")


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client, the file that has its servers, and the form of an entry."""

    name: str
    title: str
    member: str
    """The member of the file that has the servers."""
    file: Callable[[Places], Path]
    form: Callable[[ServerEntry], dict[str, Any]]
    project_file: str | None = None
    """The file of a project, if the client has one."""
    format: Format = "json"
    home_trace: str | None = None
    """A file of the client in the home folder, if its file is there too."""
    takes_addresses: bool = True
    restart: str = "Restart it"
    """The step of its user after which it reads the file."""

    def path(self, places: Places, scope: Scope = "user") -> Path | None:
        """The file for a scope; None if the client has no such scope."""
        if scope == "user":
            return self.file(places)
        return places.folder / self.project_file if self.project_file else None

    def trace(self, places: Places) -> Path:
        """The trace of an installed client: the folder of its file, or its files in the home folder."""
        file = self.file(places)
        return places.home / self.home_trace if self.home_trace and not file.exists() else file.parent

    def is_installed(self, places: Places) -> bool:
        """Whether the client has left something of its own."""
        return self.trace(places).exists()


def _claude_code(entry: ServerEntry) -> dict[str, Any]:
    return {"type": "http", **entry.remote()} if entry.url else {"type": "stdio", **entry.started}


def _cursor(entry: ServerEntry) -> dict[str, Any]:
    return entry.remote() if entry.url else entry.started


def _windsurf(entry: ServerEntry) -> dict[str, Any]:
    return entry.remote("serverUrl") if entry.url else entry.started


def _gemini(entry: ServerEntry) -> dict[str, Any]:
    return entry.remote("httpUrl") if entry.url else entry.started


def _codex(entry: ServerEntry) -> dict[str, Any]:
    return entry.remote(headers="http_headers") if entry.url else entry.started


def _goose(entry: ServerEntry) -> dict[str, Any]:
    common = {"name": entry.name, "description": entry.description, "enabled": True, "timeout": GOOSE_SECONDS}
    if entry.url:
        return {**common, "type": "streamable_http", **entry.remote("uri")}
    started = entry.started
    return {
        **common,
        "type": "stdio",
        "cmd": started["command"],
        "args": started["args"],
        "envs": started.get("env", {}),
    }


CLIENTS: tuple[KnownClient, ...] = (
    KnownClient(
        "claude-desktop",
        "Claude Desktop",
        "mcpServers",
        lambda places: places.settings / "Claude" / "claude_desktop_config.json",
        _cursor,
        takes_addresses=False,
        restart="Quit and open it again",
    ),
    KnownClient(
        "claude-code",
        "Claude Code",
        "mcpServers",
        lambda places: Path(places.variables.get("CLAUDE_CONFIG_DIR") or places.home) / ".claude.json",
        _claude_code,
        project_file=".mcp.json",
        home_trace=".claude",
        restart="Start a new session",
    ),
    KnownClient(
        "cursor",
        "Cursor",
        "mcpServers",
        lambda places: places.home / ".cursor" / "mcp.json",
        _cursor,
        project_file=".cursor/mcp.json",
    ),
    KnownClient(
        "vscode",
        "VS Code",
        "servers",
        lambda places: places.settings / "Code" / "User" / "mcp.json",
        _claude_code,
        project_file=".vscode/mcp.json",
        restart="Run the command MCP: List Servers to start it",
    ),
    KnownClient(
        "windsurf",
        "Windsurf",
        "mcpServers",
        lambda places: places.home / ".codeium" / "windsurf" / "mcp_config.json",
        _windsurf,
    ),
    KnownClient(
        "zed",
        "Zed",
        "context_servers",
        lambda places: places.dot_config / ("Zed" if places.windows else "zed") / "settings.json",
        _cursor,
        project_file=".zed/settings.json",
        restart="It reads the file at once",
    ),
    KnownClient(
        "gemini",
        "Gemini CLI",
        "mcpServers",
        lambda places: places.home / ".gemini" / "settings.json",
        _gemini,
        project_file=".gemini/settings.json",
        restart="Start a new session",
    ),
    KnownClient(
        "codex",
        "Codex CLI",
        "mcp_servers",
        lambda places: Path(places.variables.get("CODEX_HOME") or places.home / ".codex") / "config.toml",
        _codex,
        project_file=".codex/config.toml",
        format="toml",
        restart="Start a new session",
    ),
    KnownClient(
        "goose",
        "Goose",
        "extensions",
        lambda places: (
            places.settings / "Block" / "goose" / "config" / "config.yaml"
            if places.windows
            else places.dot_config / "goose" / "config.yaml"
        ),
        _goose,
        format="yaml",
        restart="Start a new session",
    ),
)
