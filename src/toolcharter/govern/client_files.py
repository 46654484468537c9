"""Servers in the files of MCP clients, as upstreams of a charter."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp_core.process.start_errors import CannotStart
from toolcharter.clients import files
from toolcharter.clients.entry import ServerEntry
from toolcharter.clients.files import ClientFile
from toolcharter.clients.known import Places

_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")


class FoundServer(NamedTuple):
    """A server in the file of a client."""

    file: ClientFile
    entry: ServerEntry


def find_servers(places: Places) -> tuple[list[FoundServer], list[str]]:
    """The servers in the files of clients, without the governor itself, and what is wrong with broken files."""
    found, problems = list[FoundServer](), list[str]()
    for file in files.existing_files(places):
        try:
            found += [FoundServer(file, entry) for entry in file.read() if not is_governor(entry)]
        except CannotStart as error:
            problems.append(f"{file.client.title}: {error}")
    return found, problems


def obstacle(entry: ServerEntry) -> str | None:
    """Why a server of a client cannot be governed without a person; None if it can."""
    words = [*entry.command, *entry.environment.values(), entry.url or ""]
    if not entry.is_enabled:
        return "it is switched off in this client."
    if not entry.command and entry.url is None:
        return "it has neither a command nor an address with http:// or https://."
    if placeholder := next((found[0] for word in words if (found := _PLACEHOLDER.search(word))), None):
        return f"only this client knows what {placeholder} stands for. Add it with toolcharter govern add."
    if entry.token is not None and not entry.command:
        how = f"toolcharter govern add NAME {entry.url} --secret Authorization=file:PATH"
        return f'it has a token. Write "Bearer TOKEN" to a file that only you can read: {how}'
    return None


def to_upstream(entry: ServerEntry) -> dict[str, Any]:
    """A server as a table of the charter."""
    if entry.command:
        environment = {"env": dict(entry.environment)} if entry.environment else {}
        return {"command": list(entry.command), **environment}
    return {"url": entry.url}


def is_governor(entry: ServerEntry) -> bool:
    """Whether a client starts us already."""
    return "govern" in entry.command and any("toolcharter" in word for word in entry.command)


def point_at_governor(file: ClientFile, names: Sequence[str], governor: ServerEntry) -> Path | None:
    """Replace these servers of a client by the governor. Returns the copy of the old file."""

    def edit(text: str) -> str:
        for name in names:
            text = file.take_out(text, name)
        return file.put(text, governor)

    return files.change(file.path, edit)
