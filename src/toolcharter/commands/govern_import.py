"""Govern the servers that the files of clients name, and point the clients at the governor."""

import os
import re
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp_core.foreign.terminal import print_text
from toolcharter.clients.entry import ServerEntry
from toolcharter.clients.files import ClientFile
from toolcharter.clients.known import CLIENTS, Places
from toolcharter.commands import CannotRun
from toolcharter.govern.charter import UpstreamTable, read_or_new
from toolcharter.govern.client_files import FoundServer, find_servers, obstacle, point_at_governor, to_upstream

AddServer = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Adds a server to the charter, by its name and its table."""

FAILED = 1
"""The exit code if the file of a client cannot be read."""


async def import_servers(path: Path, add_server: AddServer, *, apply: bool) -> int:
    """Show the servers of all clients, and with `apply` govern them."""
    found, problems = find_servers(Places.here())
    for file, entry in found:
        what = " ".join(entry.command) or entry.url or ""
        print_text(f"{file.client.title}: {entry.name}   {what}   ({file.path})")
        if reason := obstacle(entry):
            print_text(f"  cannot be imported: {reason}")
    for problem in problems:
        print_text(f"{problem.rstrip('.')}. Its servers stay as they are. Correct the file, and import again.")
    if not found:
        print_text(f"No server was found in the files of {', '.join(client.title for client in CLIENTS)}.")
        print_text("Add one yourself: toolcharter govern add NAME -- COMMAND, or toolcharter govern add NAME URL")
    elif not apply:
        print_text(
            "Nothing was changed. To govern them, and point their clients here: toolcharter govern import --apply"
        )
    else:
        await _take_over(path, [one for one in found if obstacle(one.entry) is None], add_server)
    return FAILED if problems else os.EX_OK


async def _take_over(path: Path, found: Sequence[FoundServer], add_server: AddServer) -> None:
    """Govern these servers, and let their clients start the governor in their place."""
    governed: dict[ClientFile, list[str]] = {}
    for file, entry in found:
        name, table = server_name(entry.name), to_upstream(entry)
        known = read_or_new(path).upstream.get(name)
        if known is not None and not _is_same_server(known, table):
            print_text(f"{entry.name} of {file.client.title} stays as it is: {name} is another server here.")
            print_text(f"  To govern it, give it another name in {file.path}, and import again.")
            continue
        if known is None:
            try:
                await add_server(name, table)
            except CannotRun as error:
                print_text(f"{name} stays as it is. {error!s}")
                continue
        governed.setdefault(file, []).append(entry.name)
    program = shutil.which("toolcharter") or "toolcharter"
    governor = ServerEntry("governed", (program, "govern", "--charter", str(path)), description="Governed tools.")
    for file, names in governed.items():
        copy = point_at_governor(file, names, governor)
        print_text(f"{file.client.title} now starts the governor. The old file is kept as {copy}.")


def _is_same_server(known: UpstreamTable, table: Mapping[str, Any]) -> bool:
    """Whether the charter has this server, whatever else it says of it."""
    return (known.command, known.url) == (table.get("command"), table.get("url"))


def server_name(name: str) -> str:
    """The name of a client's server as one of the charter."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:32].strip("-") or "server"
