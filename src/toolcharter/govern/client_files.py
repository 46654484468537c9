"""Servers in the files of MCP clients, as upstreams of a charter."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolcharter.clients import files
from toolcharter.clients.entry import ServerEntry
from toolcharter.clients.files import ClientFile
from toolcharter.clients.known import Places


class FoundServer(NamedTuple):
    """A server in the file of a client."""

    file: ClientFile
    entry: ServerEntry


def find_servers(places: Places) -> Iterator[FoundServer]:
    """The servers in the files of clients, without the governor itself. Raises CannotStart for a broken file."""
    for file in files.existing_files(places):
        for entry in file.read():
            if not is_governor(entry):
                yield FoundServer(file, entry)


def to_upstream(entry: ServerEntry) -> dict[str, Any] | None:
    """A server as a table of the charter; None for what is not a server that can be governed."""
    if entry.command:
        environment = {"env": dict(entry.environment)} if entry.environment else {}
        return {"command": list(entry.command), **environment}
    return {"url": entry.url} if entry.url else None


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
