"""Whether the servers of clients work: each is started or reached as its client does it, and asked for its tools."""

import asyncio
import shlex
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcp_core.process.start_errors import CannotStart
from toolcharter.clients.entry import ServerEntry
from toolcharter.clients.files import ClientFile
from toolcharter.local import targets
from toolcharter.packaging.launch import launch_of
from toolcharter.remote import client
from toolcharter.verify.model import Tool

AT_ONCE = 4
"""How many servers are started at the same time."""
Status = Literal["ok", "off", "failed"]


@dataclass(frozen=True, slots=True)
class ServerCheck:
    """A server of a client, and what it answered."""

    entry: ServerEntry
    status: Status
    tools: int = 0
    tokens: int = 0
    seconds: float = 0.0
    problem: str | None = None
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class FileCheck:
    """A file of a client, and the servers in it."""

    file: ClientFile
    servers: Sequence[ServerCheck] = ()
    problem: str | None = None

    @property
    def is_ok(self) -> bool:
        """Whether nothing has to be fixed."""
        return self.problem is None and all(one.status != "failed" for one in self.servers)


async def check_files(files: Iterable[ClientFile], limit: float) -> list[FileCheck]:
    """Check all servers in these files, a few at a time."""
    places = asyncio.Semaphore(AT_ONCE)
    return list(await asyncio.gather(*(_check_file(file, limit, places) for file in files)))


async def _check_file(file: ClientFile, limit: float, places: asyncio.Semaphore) -> FileCheck:
    try:
        entries = file.read()
    except CannotStart as error:
        return FileCheck(file, problem=str(error))
    return FileCheck(file, await asyncio.gather(*(_check(file, entry, limit, places) for entry in entries)))


async def _check(file: ClientFile, entry: ServerEntry, limit: float, places: asyncio.Semaphore) -> ServerCheck:
    if not entry.is_enabled or not (entry.command or entry.url):
        return ServerCheck(entry, "off")
    if entry.command and _which(entry.command[0]) is None:
        problem = f"The program {entry.command[0]} was not found."
        return ServerCheck(entry, "failed", problem=problem, fix=_replacement(file, entry))
    async with places:
        start = time.perf_counter()
        try:
            tools = await asyncio.wait_for(_list_tools(entry, limit), limit)
        except (client.ServerUnreachable, TimeoutError) as error:
            problem = str(error) or f"It did not answer within {limit:g} s."
            return ServerCheck(entry, "failed", problem=problem, fix=_trial(entry))
        seconds = time.perf_counter() - start
    return ServerCheck(entry, "ok", len(tools), sum(tool.tokens for tool in tools), seconds)


async def _list_tools(entry: ServerEntry, limit: float) -> list[Tool]:
    timeouts = client.Timeouts(limit, limit)
    if entry.url:
        remote = client.connect(entry.url, entry.token, _decline, timeouts)
    else:
        remote = client.start(entry.command, _decline, timeouts, variables=entry.environment)
    async with remote as server:
        return [Tool(listed) for listed in await server.list_tools()]


async def _decline(question: str) -> bool:  # noqa: ARG001 - nobody is there to answer it
    return False


def _which(program: str) -> str | None:
    return shutil.which(str(Path(program).expanduser()))


def _replacement(file: ClientFile, entry: ServerEntry) -> str:
    """The command that writes a program that exists, or takes the server out."""
    install = f"toolcharter install {file.client.name} {entry.name}"
    if entry.name in targets.known() and targets.missing_libraries(entry.name) is None:
        return f"{install} {shlex.join(_options(entry))}".rstrip()
    return f"{install} --remove"


def _options(entry: ServerEntry) -> tuple[str, ...]:
    """The options in an entry that starts the program of the server itself."""
    program, *words = launch_of(entry.name).installed()
    is_own = Path(entry.command[0]).name == Path(program).name and not words
    return entry.command[1:] if is_own else ()


def _trial(entry: ServerEntry) -> str:
    """The command that shows what a server says when it is started."""
    if entry.url:
        return f"toolcharter tools {entry.url}"
    if (missing := _missing(entry)) is not None:
        return str(missing).partition(": ")[2].rstrip(".")
    return f"toolcharter tools -- {shlex.join(entry.command)}"


def _missing(entry: ServerEntry) -> CannotStart | None:
    return targets.missing_libraries(entry.name) if entry.name in targets.known() else None
