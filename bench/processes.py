"""Start the measured servers, and end them whatever happens."""

import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bench.contenders import ROOT

QUIET = {"FASTMCP_LOG_LEVEL": "WARNING", "FASTMCP_CHECK_FOR_UPDATES": "off", "FASTMCP_SHOW_SERVER_BANNER": "false"}

PATIENCE = 60.0
"""Seconds until a server must have started."""


def environment(folder: Path) -> dict[str, str]:
    """Audit and log files go to a folder that is thrown away; nobody draws banners or looks for updates.

    What is measured is this checkout, whatever else is installed.
    """
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    # The permission of the measured tool is checked by its name; the tools of our servers are listed too.
    governed = {"TOOLCHARTER_AUDIT_FILE": str(folder / "audit.jsonl"), "TOOLCHARTER_GRANTS": "math:use,*"}
    return {**os.environ, **QUIET, **governed, "BENCH_FOLDER": str(folder), "PYTHONPATH": path}


@dataclass(frozen=True)
class Served:
    """A server that listens."""

    port: int
    pid: int


@contextmanager
def started(
    command: Sequence[str], folder: Path, *, env: Mapping[str, str] | None = None, stderr: IO[str] | int | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A process with pipes, ended whatever happens."""
    pipe, env = subprocess.PIPE, environment(folder) if env is None else env
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, text=True, env=env, cwd=ROOT)
    try:
        yield process
    finally:
        end(process)


@contextmanager
def limited(process: "subprocess.Popen[str]", seconds: float = PATIENCE) -> Iterator[None]:
    """Kill a process that does not answer in time, so that a read of its output ends."""
    guard = threading.Timer(seconds, process.kill)
    guard.start()
    try:
        yield
    finally:
        guard.cancel()


@contextmanager
def serving(peer: str, folder: Path, tools: int = 1, **variables: str) -> Iterator[Served]:
    """A server of bench/peers, with more environment variables."""
    command = [sys.executable, "-m", "bench.worker", peer, str(tools)]
    with started(command, folder, env=environment(folder) | variables) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        if not port:
            raise RuntimeError(f"{peer} with {tools} tools did not start")
        yield wait_for(Served(int(port), process.pid))


@contextmanager
def serving_command(command: Sequence[str], folder: Path, *, as_installed: bool = False) -> Iterator[Served]:
    """A command of ours over HTTP. Its port is in what it logs; `as_installed` is without the settings of a bench."""
    env = environment(folder)
    if as_installed:
        env = {name: value for name, value in env.items() if not name.startswith("TOOLCHARTER_")}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        log = Path(name) / "log"
        with log.open("w", encoding="utf-8") as file, started(command, folder, env=env, stderr=file) as process:
            yield wait_for(Served(listening_port(process, log), process.pid))


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def listening_port(process: "subprocess.Popen[str]", log: Path) -> int:
    """The port that a command of ours listens on, from what it logs."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/health", log.read_text(errors="replace")):
            return int(found[1])
        time.sleep(0.05)
    raise RuntimeError(f"The server did not start: {log.read_text(errors='replace')}")


def wait_for(served: Served) -> Served:
    """Wait until something accepts connections there."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", served.port), 1).close()
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
        else:
            return served


def end(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
