"""Processes of upstreams: none of them is left behind, however the governor ends.

Each upstream runs in a process group of its own. A small second process, the reaper, knows these groups; when the pipe
to it closes, because we end or are killed, it ends them. Children that left their group are found by a variable in
their environment, where the system shows it.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

MARK = "TOOLCHARTER_GOVERNOR"
"""The environment variable that all processes of one governor share."""

_REAPER = Path(__file__).with_name("reaper.py")


class ProcessGroups:
    """The process groups that one governor has started."""

    def __init__(self) -> None:
        self._mark = secrets.token_hex(8)
        self._reaper: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment of each process that we start."""
        return {MARK: self._mark}

    def add(self, process_id: int) -> None:
        """Let the reaper end this group if we no longer can."""
        self._tell_reaper(f"+{process_id}")

    def remove(self, process_id: int) -> None:
        """End what is left of a group, and let the reaper forget it."""
        send_signal(process_id, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        self._tell_reaper(f"-{process_id}")

    def close(self) -> None:
        """End the reaper, and with it what is left."""
        if self._reaper is not None and self._reaper.stdin is not None:
            self._reaper.stdin.close()
            self._reaper.wait()
            self._reaper = None

    def _tell_reaper(self, line: str) -> None:
        """Send a line to the reaper, which is started with the first one."""
        if os.name != "posix":
            return
        if self._reaper is None:
            self._reaper = subprocess.Popen(  # noqa: S603 - our own file
                [sys.executable, "-I", "-S", str(_REAPER), self._mark],
                stdin=subprocess.PIPE,
                start_new_session=True,
                env={},
            )
        if self._reaper.stdin is not None:
            with contextlib.suppress(OSError):
                self._reaper.stdin.write(line.encode() + b"\n")
                self._reaper.stdin.flush()


async def wait_for_exit(process: asyncio.subprocess.Process) -> int:
    """Wait until a process has ended, and return its exit code.

    `process.wait()` also waits for its pipes, which a child that it left behind may hold open.
    """
    if not hasattr(os, "pidfd_open") or process.returncode is not None:
        return await process.wait() if process.returncode is None else process.returncode
    loop = asyncio.get_running_loop()
    try:
        file = os.pidfd_open(process.pid)
    except OSError:  # it has just ended
        return await process.wait()
    ended: asyncio.Future[None] = loop.create_future()
    loop.add_reader(file, lambda: ended.done() or ended.set_result(None))
    try:
        await ended
    finally:
        loop.remove_reader(file)
        os.close(file)
    while process.returncode is None:  # noqa: ASYNC110 - the event loop is about to read it, without an event
        await asyncio.sleep(0.001)
    return process.returncode


def send_signal(process_id: int, number: int) -> None:
    """Send a signal to a process and its children."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process_id, number)
        else:
            os.kill(process_id, number)
