"""Every host, transport and protocol era, and real clients connected to them.

Servers are shared by all tests, so a test makes up its own keys and counts from what it finds. A client in memory
and one over HTTP are made for each test; one over stdio is the server's only one, and is held for the whole session
by a task of its own, because a client must be left by the task that entered it.
"""

import asyncio
import json
import re
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal, TextIO

import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server

from mcp_core import Settings
from mcp_core.hosts.sdk.server import build_server
from tests.behaviour import served
from tests.behaviour.served_on_fastmcp import on_fastmcp
from tests.forkserver.commands import command_path

Host = Literal["native", "sdk", "fastmcp"]
HOSTS: tuple[Host, ...] = ("native", "sdk", "fastmcp")
"""The native host answers ordinary requests itself; as `sdk` it leaves all of them to the SDK."""
Transport = Literal["memory", "stdio", "http"]
Era = Literal["2026-07-28", "2025-11-25"]

NEW: Era = "2026-07-28"
OLD: Era = "2025-11-25"

SCRIPT = str(Path(served.__file__))
ENVIRONMENT = {"PYTHONPATH": str(Path(SCRIPT).parents[2])}
"""So that the script can import its neighbours. Nothing else: a setting of the developer's is none of the tests'."""
CLIENT = types.Implementation(name="behaviour-suite", version="9.8.7")
USERS: Mapping[str, tuple[str, ...]] = {
    "ann": ("*",),
    "bob": ("*",),
    "reader": ("math:use", "notes:read"),
    "outsider": (),
}

YES = types.ElicitResult(action="accept", content={"confirm": True})
NO = types.ElicitResult(action="decline")
Connect = Callable[..., AbstractAsyncContextManager[Client]]


@dataclass(frozen=True)
class Combination:
    host: Host
    transport: Transport
    era: Era

    @property
    def mode(self) -> str:
        return "legacy" if self.era == OLD else self.era


def over(
    *,
    host: tuple[Host, ...] = HOSTS,
    transport: tuple[Transport, ...] = ("memory", "stdio", "http"),
    era: tuple[Era, ...] = (NEW, OLD),
) -> pytest.MarkDecorator:
    """Run a test over these combinations only."""
    return pytest.mark.parametrize("combination", params(host, transport, era), indirect=True)


def params(
    host: tuple[Host, ...] = HOSTS,
    transport: tuple[Transport, ...] = ("memory", "stdio", "http"),
    era: tuple[Era, ...] = (NEW, OLD),
) -> list[Any]:
    return [
        pytest.param(Combination(h, t, e), id=f"{h}-{t}-{e}")
        for h, t, e in product(host, transport, era)
        # In memory there is no wire to be fast on: the native host is the SDK's server there.
        if (h, t) != ("sdk", "memory")
    ]


def token(user: str) -> str:
    return f"token-of-{user}"


@dataclass
class Person:
    """Answers what the server asks, and remembers the questions."""

    answer: types.ElicitResult | list[types.ElicitResult] | None = None
    """The same each time, or one after the other."""
    questions: list[str] = field(default_factory=list)

    async def __call__(self, _: Any, asked: types.ElicitRequestParams) -> types.ElicitResult:
        self.questions.append(asked.message)
        assert self.answer is not None, "this test did not expect a question"
        return self.answer.pop(0) if isinstance(self.answer, list) else self.answer


@dataclass
class HttpServer:
    process: subprocess.Popen[bytes]
    log: Path
    url: str = ""

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(60)


class HeldClient:
    """A client entered and left by one task, while others use it."""

    def __init__(self, make: Callable[[Person], Client]) -> None:
        self.person = Person()
        self._leave = asyncio.Event()
        self._entered: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(make))

    async def _hold(self, make: Callable[[Person], Client]) -> None:
        try:
            async with make(self.person) as client:
                self._entered.set_result(client)
                await self._leave.wait()
        except Exception as error:
            if self._entered.done():
                raise
            self._entered.set_exception(error)

    async def client(self) -> Client:
        return await asyncio.shield(self._entered)

    async def close(self) -> None:
        self._leave.set()
        await self._task


class Pool:
    """The servers of a session, started when first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._memory: dict[Any, Server[Any]] = {}
        self._http: dict[Any, HttpServer] = {}
        self._held: dict[Any, HeldClient] = {}
        self._logs: list[TextIO] = []
        self.tokens = folder / "tokens.json"
        self.tokens.write_text(json.dumps({token(u): {"user": u, "grants": g} for u, g in USERS.items()}))

    @asynccontextmanager
    async def connect(
        self,
        to: Combination,
        *,
        user: str | None = None,
        person: Person | None = None,
        can_ask: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Client]:
        """A connected client. Without a `user` nobody has a name, and everything is allowed."""
        if to.transport == "stdio":
            held = self._hold(to, user, can_ask=can_ask)
            client = await held.client()
            held.person.answer, held.person.questions = (person or Person()).answer, (person or Person()).questions
            yield client
            return
        options = {"mode": to.mode, "client_info": CLIENT}
        if can_ask:
            options["elicitation_callback"] = person or Person()
        if to.transport == "memory":
            key = (to, user)
            if key not in self._memory:
                self._memory[key] = in_memory(to.host, user)
            async with Client(self._memory[key], **options) as client:
                yield client
            return
        server = self.server(to, tokens=user is not None)
        given = {**(headers or {}), **({"Authorization": f"Bearer {token(user)}"} if user else {})}
        http = http_client(given)
        async with http, Client(streamable_http_client(server.url, http_client=http), **options) as client:
            yield client

    def _hold(self, to: Combination, user: str | None, *, can_ask: bool) -> HeldClient:
        key = (to, user, can_ask)
        if key not in self._held:
            arguments = [SCRIPT, *served_by(to.host, "stdio"), "--log-level", "TRACE"]
            if user is not None:
                arguments += ["--user", user, "--grants", ",".join(USERS[user])]
            log = self.stdio_log(to, user, can_ask=can_ask).open("w")
            self._logs.append(log)
            parameters = StdioServerParameters(command=command_path("python"), args=arguments, env=ENVIRONMENT)
            self._held[key] = HeldClient(
                lambda person: Client(
                    stdio_client(parameters, errlog=log),
                    mode=to.mode,
                    client_info=CLIENT,
                    elicitation_callback=person if can_ask else None,
                )
            )
        return self._held[key]

    def stdio_log(self, to: Combination, user: str | None = None, *, can_ask: bool = True) -> Path:
        return self._folder / f"stdio-{to.host}-{to.era}-{user}-{can_ask}.log"

    def server(self, to: Combination, *, tokens: bool = False) -> HttpServer:
        """The HTTP server of a combination. Each era has its own, so that one's counts are not the other's."""
        key = (to.host, to.era, tokens)
        if key not in self._http:
            options = ["--tokens", str(self.tokens)] if tokens else []
            log = self._folder / f"http-{to.host}-{to.era}-{tokens}.log"
            self._http[key] = start_http(to.host, log, *options)
        return self._http[key]

    async def close(self) -> None:
        for server in self._http.values():
            server.process.terminate()
        await asyncio.gather(*(held.close() for held in self._held.values()))
        for server in self._http.values():
            server.stop()
        for log in self._logs:
            log.close()


def http_client(headers: Mapping[str, str] | None = None) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers=headers, timeout=60)


def served_by(host: Host, transport: Transport) -> list[str]:
    """The arguments of the script."""
    return ["native", transport, "--fast-path", "off"] if host == "sdk" else [host, transport]


def in_memory(host: Host, user: str | None = None) -> Server[Any]:
    app = served.build(Settings(user=user, grants=None if user is None else USERS[user]))
    return build_server(app) if host == "native" else on_fastmcp(app)._mcp_server


def start_http(host: Host, log: Path, *options: str) -> HttpServer:
    """Start a server on a free port, and wait until it answers."""
    command = [
        command_path("python"),
        SCRIPT,
        *served_by(host, "http"),
        "--port",
        "0",
        "--log-level",
        "TRACE",
        *options,
    ]
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=ENVIRONMENT)
    server = HttpServer(process, log)
    try:
        with httpx2.Client() as http:
            while not _answers(server, http):
                assert process.poll() is None, f"the server has ended:\n{log.read_text()}"
                time.sleep(0.02)
    except BaseException:
        server.stop()
        raise
    return server


def _answers(server: HttpServer, http: httpx2.Client) -> bool:
    printed = re.search(r"Health: (http://\S+)/health", server.log.read_text())
    if printed is None:
        return False
    server.url = f"{printed[1]}/mcp"
    try:
        return http.get(f"{printed[1]}/health").status_code == httpx2.codes.OK
    except httpx2.ConnectError:
        return False


def answer_of(result: types.CallToolResult) -> dict[str, Any]:
    """The one block of JSON text that every answer of the demo is."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return json.loads(block.text)


async def data_of(client: Client, name: str, /, **arguments: Any) -> Any:
    """The data of a call that succeeds."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    return answer_of(result)["data"]


async def error_of(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    """The error of a call that fails."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result
    answer = answer_of(result)
    assert answer["data"] is None
    return answer["error"]


async def all_resources(client: Client) -> list[str]:
    """The URIs of every page of the list."""
    found, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor, cache_mode="bypass")
        found += [str(resource.uri) for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            return found
