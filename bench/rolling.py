"""Three servers behind nginx, with PostgreSQL and Redis, restarted one after the other while calls go on.

`python -m bench --only rolling` restarts each of them twice. Every call must be answered, and each task exist once.
nginx has the configuration in deploy/, with a third server.
"""

import asyncio
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import sqlalchemy as sa

from bench.contenders import ROOT
from bench.postgres import postgres
from bench.server_load import redis_server
from mcp_core.db import address, open_database
from mcp_todo.store import tasks
from tests.forkserver.commands import INSTALLED
from tests.toolcharter.serving.processes import Process, call, started, until
from tests.toolcharter.serving.test_listener import write_certificate

KIND = "rolling"
SERVERS, ROUNDS, CALLERS = 3, 2, 16
CALLS_BETWEEN = 200
"""Calls before a server is stopped, and before it is started again."""
HOST = "mcp.example.com"


@dataclass
class Rolled:
    """The answers to all calls."""

    seconds: float = 0.0
    restarts: int = 0
    stored: int = 0
    """Tasks in the database at the end."""
    answered: int = 0
    failed: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not self.failed and self.stored == self.answered

    def page(self) -> str:
        return (
            f"{self.restarts} restarts of {SERVERS} servers behind nginx: {self.answered:,} calls in "
            f"{self.seconds:.0f} s, {len(self.failed)} failed, {self.stored:,} tasks stored."
        )


def measure(folder: Path, log: Callable[[str], None]) -> Rolled:
    if shutil.which("nginx") is None:
        raise SystemExit("rolling needs nginx: apt-get install nginx")
    return asyncio.run(_roll(folder, log))


async def _roll(folder: Path, log: Callable[[str], None]) -> Rolled:
    rolled, front, stop = Rolled(), folder / "front.sock", asyncio.Event()
    with ExitStack() as stack:
        database = stack.enter_context(postgres(folder))
        redis, _ = stack.enter_context(redis_server(folder))
        servers = [stack.enter_context(_serving(number, folder, database, redis)) for number in range(1, SERVERS + 1)]
        stack.enter_context(_nginx(folder, front))
        await until(front.exists)
        transport = httpx2.AsyncHTTPTransport(uds=str(front), verify=False)
        async with httpx2.AsyncClient(transport=transport, base_url=f"https://{HOST}", timeout=60) as http:
            callers = [asyncio.create_task(_call(http, number, rolled, stop)) for number in range(CALLERS)]
            began = time.monotonic()
            for number in [number for _ in range(ROUNDS) for number in range(SERVERS)]:
                await _more(rolled)
                await _stop(servers[number])
                await _more(rolled)
                serving = _serving(number + 1, folder, database, redis)
                servers[number] = await asyncio.to_thread(stack.enter_context, serving)
                rolled.restarts += 1
                log(f"{rolled.restarts} restarts, {rolled.answered:,} calls, {len(rolled.failed)} failed")
            await _more(rolled)
            stop.set()
            await asyncio.gather(*callers)
            rolled.seconds = time.monotonic() - began
        async with open_database(address(database, "todo")) as opened:
            rolled.stored = await opened.read(_count)
    return rolled


async def _more(rolled: Rolled) -> None:
    before = rolled.answered
    await until(lambda: rolled.answered >= before + CALLS_BETWEEN)


async def _stop(server: Process) -> None:
    server.process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(server.wait)


async def _call(http: httpx2.AsyncClient, number: int, rolled: Rolled, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            answer = await call(http, number, "add_task", user_id=f"user{number}", title="A task")
            is_ok = answer.status_code == httpx2.codes.OK and not answer.json()["result"]["isError"]
        except httpx2.HTTPError as error:
            rolled.failed.append(repr(error))
            continue
        if is_ok:
            rolled.answered += 1
        else:
            rolled.failed.append(answer.text)


def _count(connection: sa.Connection) -> int:
    return connection.execute(sa.select(sa.func.count()).select_from(tasks)).scalar_one()


@contextmanager
def _serving(number: int, folder: Path, database: str, redis: str) -> Iterator[Process]:
    command = [str(INSTALLED / "mcp-todo"), "http", "--db", database, "--redis", redis, "--no-console"]
    command += ["--unix-socket", str(folder / f"todo-{number}.sock"), "--trusted-proxies", "unix"]
    with started(*command, "--allow-hosts", HOST, program=True) as server:
        server.read_until("Stop: Ctrl")
        yield server


@contextmanager
def _nginx(folder: Path, front: Path) -> Iterator[None]:
    write_certificate(folder)
    text = (ROOT / "deploy" / "nginx" / "toolcharter.conf").read_text(encoding="utf-8")
    second = "    server unix:/run/toolcharter/todo-2.sock max_fails=0;\n"
    text = text.replace(second, second + second.replace("todo-2", "todo-3")).replace("/run/toolcharter", str(folder))
    text = text.replace("listen [::]:443 ssl;", "").replace("listen 443 ssl;", f"listen unix:{front} ssl;")
    text = re.sub(r"/etc/ssl/certs/\S+;", f"{folder}/cert.pem;", text)
    text = re.sub(r"/etc/ssl/private/\S+;", f"{folder}/key.pem;", text)
    (folder / "site.conf").write_text(text, encoding="utf-8")
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;\n"
        f"events {{}}\nhttp {{ access_log off; include {folder}/site.conf;\n{paths}}}\n",
        encoding="utf-8",
    )
    with subprocess.Popen(["nginx", "-e", str(folder / "nginx.log"), "-c", str(folder / "nginx.conf")]) as process:
        try:
            yield
        finally:
            process.terminate()
