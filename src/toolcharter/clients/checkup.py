"""Whether the servers of clients work: each is started or reached as its client does it, and asked for its tools."""

import asyncio
import shlex
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mcp_core.process.start_errors import CannotStart
from toolcharter.clients.entry import ServerEntry
from toolcharter.clients.files import ClientFile
from toolcharter.local import targets
from toolcharter.packaging.launch import launch_of
from toolcharter.remote import client
from toolcharter.verify.model import Tool

AT_ONCE = 4
"""How many servers are started at the same time."""
MAX_WORDS = 5
"""Lines of a server's log that are shown."""
_INSTALLERS: Mapping[str, str] = {
    "uv": "install uv: https://docs.astral.sh/uv/getting-started/installation/",
    "pipx": "install pipx: https://pipx.pypa.io/",
    "node": "install Node.js: https://nodejs.org/",
    "docker": "install Docker: https://docs.docker.com/get-started/get-docker/",
}
_INSTALLED_WITH: Mapping[str, str] = {"uvx": "uv", "npx": "node", "npm": "node"}
"""Programs that start others, by the name of what brings them."""
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
    """The command that helps, where the problem does not name one itself."""
    last_words: Sequence[str] = ()
    """The end of the server's log, where it cannot run."""


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
        start, words = time.perf_counter(), list[str]()
        try:
            tools, problems = await asyncio.wait_for(_ask(entry, limit, words), limit)
        except (client.ServerUnreachable, TimeoutError) as error:
            problem = str(error).removeprefix(f"{' '.join(entry.command)}: ")
            problem = problem or f"It did not answer within {limit:g} s."
            # The message of a server of ours has what to do.
            fix = None if "cannot start" in problem else _trial(entry)
            new = [line for line in words if line not in problem][-MAX_WORDS:]
            return ServerCheck(entry, "failed", problem=problem, fix=fix, last_words=new)
        seconds = time.perf_counter() - start
    if problems:
        problem = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        return ServerCheck(entry, "failed", problem=problem)
    return ServerCheck(entry, "ok", len(tools), sum(tool.tokens for tool in tools), seconds)


async def _ask(entry: ServerEntry, limit: float, last_words: list[str]) -> tuple[list[Tool], Mapping[str, str]]:
    """The tools of a server, and the problems that it finds itself when it is ready."""
    timeouts = client.Timeouts(limit, limit)
    if entry.url:
        remote = client.connect(entry.url, entry.token, _decline, timeouts)
    else:
        remote = client.start(entry.command, _decline, timeouts, variables=entry.environment, last_words=last_words)
    async with remote as server:
        tools = [Tool(listed) for listed in await server.list_tools()]
        return tools, await server.health()


async def _decline(params: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG001 - nobody is there to answer it
    return {"action": "decline"}


def _which(program: str) -> str | None:
    return shutil.which(str(Path(program).expanduser()))


def _replacement(file: ClientFile, entry: ServerEntry) -> str:
    """The command that writes a program that exists, or takes the server out."""
    program = Path(entry.command[0]).stem.lower()
    if (installer := _INSTALLERS.get(_INSTALLED_WITH.get(program, program))) is not None:
        return installer
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
    """The command that shows the messages of a server that is started."""
    if entry.url:
        return f"toolcharter tools {entry.url}"
    if (missing := _missing(entry)) is not None:
        return str(missing).partition(": ")[2].rstrip(".")
    return f"toolcharter tools -- {shlex.join(entry.command)}"


def _missing(entry: ServerEntry) -> CannotStart | None:
    return targets.missing_libraries(entry.name) if entry.name in targets.known() else None
