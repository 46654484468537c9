"""What systemd is told: readiness, the end, and signs of life."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest

from tests.toolcharter.serving.processes import GATE_SERVER, PATIENCE, started
from toolcharter.serving.notify import notify, watchdog_seconds


async def test_a_server_says_when_it_is_ready_alive_and_stopping(tmp_path: Path):
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(path))
        systemd.settimeout(PATIENCE)
        environment = {**os.environ, "NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "2000000"}
        with started(GATE_SERVER, "http", "--port", "0", env=environment) as server:
            said = [await asyncio.to_thread(systemd.recv, 100) for _ in range(3)]
            server.process.send_signal(signal.SIGTERM)
            while said[-1] != b"STOPPING=1":
                said.append(await asyncio.to_thread(systemd.recv, 100))
            code = await asyncio.to_thread(server.wait)
    assert set(said[:3]) == {b"READY=1", b"WATCHDOG=1"}
    assert code == 0


def test_without_systemd_nothing_is_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    monkeypatch.delenv("WATCHDOG_USEC", raising=False)
    notify("READY=1")
    assert watchdog_seconds() is None


def test_a_socket_that_is_gone_does_not_end_the_server(monkeypatch: pytest.MonkeyPatch, caplog):
    monkeypatch.setenv("NOTIFY_SOCKET", "@toolcharter-nobody-listens")
    notify("READY=1")
    assert "systemd cannot be notified" in caplog.text


def test_the_watchdog_of_another_process_is_not_ours(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WATCHDOG_USEC", "3000000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert watchdog_seconds() is None
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    assert watchdog_seconds() == 1.5
