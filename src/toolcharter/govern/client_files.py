"""The configuration files of MCP clients: which servers they start.

Where the files are, and their form, is from the documentation of each client: modelcontextprotocol.io (Claude Desktop),
code.claude.com/docs (Claude Code), cursor.com/docs (Cursor) and code.visualstudio.com/docs (VS Code).
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from mcp_core.start_errors import CannotStart
from toolcharter.govern.upstream.transport import as_object


class ClientFile(NamedTuple):
    """A file in which a client has its servers."""

    client: str
    path: Path
    member: str
    """The member of the file that has the servers."""


class FoundServer(NamedTuple):
    """A server in the file of a client."""

    client: ClientFile
    name: str
    entry: Mapping[str, Any]


def known_files(home: Path, folder: Path) -> list[ClientFile]:
    """The files that clients read, for this user and this folder, on this system."""
    if sys.platform == "darwin":
        data = home / "Library" / "Application Support"
    elif os.name == "nt":
        data = Path(os.environ.get("APPDATA", home / "AppData" / "Roaming"))
    else:
        data = home / ".config"
    return [
        ClientFile("Claude Desktop", data / "Claude" / "claude_desktop_config.json", "mcpServers"),
        ClientFile("Claude Code", home / ".claude.json", "mcpServers"),
        ClientFile("Claude Code", folder / ".mcp.json", "mcpServers"),
        ClientFile("Cursor", home / ".cursor" / "mcp.json", "mcpServers"),
        ClientFile("Cursor", folder / ".cursor" / "mcp.json", "mcpServers"),
        ClientFile("VS Code", data / "Code" / "User" / "mcp.json", "servers"),
        ClientFile("VS Code", folder / ".vscode" / "mcp.json", "servers"),
    ]


def find_servers(files: list[ClientFile]) -> Iterator[FoundServer]:
    """The servers in these files. A file that does not exist has none. Raises CannotStart for one that is not JSON."""
    for file in files:
        if file.path.is_file():
            for name, entry in as_object(read_json(file.path).get(file.member)).items():
                yield FoundServer(file, name, as_object(entry))


def to_upstream(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """The entry of a client as a table of the charter; None for what is not a server that can be governed."""
    command, url = entry.get("command"), entry.get("url")
    if isinstance(command, str):
        arguments = entry.get("args")
        words = [command, *map(str, cast(list[Any], arguments) if isinstance(arguments, list) else [])]
        environment = {name: str(value) for name, value in as_object(entry.get("env")).items()}
        return {"command": words, **({"env": environment} if environment else {})}
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return {"url": url}
    return None


def is_governor(entry: Mapping[str, Any]) -> bool:
    """Whether a client starts us already."""
    words = to_upstream(entry) or {}
    return "govern" in words.get("command", ()) and any("toolcharter" in word for word in words.get("command", ()))


def point_at_governor(file: ClientFile, names: list[str], entry: Mapping[str, Any]) -> Path:
    """Replace these servers of a client by the governor. Returns the copy of the old file."""
    content = read_json(file.path)
    servers = {name: one for name, one in as_object(content.get(file.member)).items() if name not in names}
    content[file.member] = {**servers, "governed": dict(entry)}
    copy = file.path.with_name(f"{file.path.name}.{datetime.now(UTC):%Y%m%d-%H%M%S}.bak")
    shutil.copy2(file.path, copy)
    new = file.path.with_name(f"{file.path.name}.new")
    new.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    shutil.copymode(file.path, new)
    new.replace(file.path)
    return copy


def read_json(path: Path) -> dict[str, Any]:
    """A file of JSON. Raises CannotStart where it is not."""
    try:
        return as_object(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise CannotStart(f"{path} cannot be read as JSON: {error}. Comments in it are not supported.") from None
