"""The supervisor, with workers that misbehave."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.toolcharter.serving.processes import PATIENCE, until
from toolcharter.serving import supervisor as supervising
from toolcharter.serving.supervisor import Supervisor

WORKER = """
import os, socket, sys, time
number, _, channel = map(int, os.environ["_TOOLCHARTER_WORKER"].split())
counter = sys.argv[1]
with open(counter, "a") as starts:
    starts.write("x")
attempt = os.path.getsize(counter)
link = socket.socket(fileno=channel)
file = link.makefile("rw")
def send(text):
    file.write(text + "\\n")
    file.flush()
"""
HANGS_AT_FIRST = (
    WORKER
    + """
send('{"open": true}')
if attempt == 1:
    time.sleep(600)
for line in file:
    if "alive" in line:
        send('{"alive": true}')
"""
)
OPENS_ONCE = (
    WORKER
    + """
if attempt > 1:
    sys.exit(3)
send('{"open": true}')
for line in file:
    pass
"""
)

OPENS_ALWAYS = (
    WORKER
    + """
send('{"open": true}')
for line in file:
    pass
"""
)


class Supervised:
    """A supervisor in this process, whose workers run a script."""

    def __init__(self, folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts = folder / "starts"
        program = folder / "worker.py"
        program.write_text(script)
        monkeypatch.setattr(sys, "orig_argv", [sys.executable, str(program), str(self.starts)])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.is_open = asyncio.Event()
        self.supervisor = Supervisor(self.listener, 1, 0.0, self.is_open.set)

    async def __aenter__(self) -> "Supervised":
        self.running = asyncio.ensure_future(self.supervisor.run())
        async with asyncio.timeout(PATIENCE):
            await self.is_open.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        assert await self.running == 0
        self.listener.close()
        loop = asyncio.get_running_loop()
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.remove_signal_handler(sig)

    def count_starts(self) -> int:
        return self.starts.stat().st_size


async def test_a_worker_that_hangs_is_killed_and_started_again(tmp_path: Path, monkeypatch, caplog):
    monkeypatch.setattr(supervising, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(supervising, "HUNG_SECONDS", 1.0)
    async with Supervised(tmp_path, HANGS_AT_FIRST, monkeypatch) as supervised:
        await until(lambda: supervised.count_starts() == 2)
        worker = supervised.supervisor._workers[1]
        await until(lambda: supervised.supervisor._workers[1].is_open)
    assert "hangs, and is killed" in caplog.text
    assert "was ended by signal 9. Starting another." in caplog.text
    assert worker.process.pid


async def test_a_rolling_restart_stops_if_the_new_worker_does_not_open_and_the_old_one_stays(
    tmp_path: Path, monkeypatch, caplog
):
    async with Supervised(tmp_path, OPENS_ONCE, monkeypatch) as supervised:
        old = supervised.supervisor._workers[1]
        os.kill(os.getpid(), signal.SIGHUP)
        await until(lambda: "did not open" in caplog.text)
        stayed = supervised.supervisor._workers[1] is old and old.is_open
    assert stayed
    assert "The rolling restart has stopped: the new worker 1 did not open." in caplog.text


async def test_a_worker_that_dies_again_and_again_is_started_less_and_less_often(tmp_path: Path, monkeypatch):
    delays: list[float] = []
    async with Supervised(tmp_path, OPENS_ONCE, monkeypatch) as supervised:
        worker = supervised.supervisor._workers[1]
        delays = [supervised.supervisor._restart_delay(worker) for _ in range(11)]
        worker.started_at -= supervising.STABLE_SECONDS
        after_a_long_life = supervised.supervisor._restart_delay(worker)
    assert delays == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0])
    assert after_a_long_life == 0.1


async def test_a_worker_that_cannot_be_started_is_tried_again(tmp_path: Path, monkeypatch, caplog):
    python = sys.executable
    async with Supervised(tmp_path, OPENS_ALWAYS, monkeypatch) as supervised:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python-that-is-being-upgraded"))
        supervised.supervisor._workers[1].process.kill()
        await until(lambda: "Worker 1 cannot be started" in caplog.text)
        monkeypatch.setattr(sys, "executable", python)
        await until(lambda: supervised.supervisor._workers[1].is_open)
    assert supervised.count_starts() == 2
