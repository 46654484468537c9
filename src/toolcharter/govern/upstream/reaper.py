"""Ends the processes of upstreams after the governor has ended. Run as a script; imports nothing of this project."""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

_END_SECONDS = 2.0
_POLL_SECONDS = 0.02


def main(mark: str) -> None:
    """Read `+GROUP` and `-GROUP` until the input ends, then end all groups that are left."""
    groups: set[int] = set()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for line in sys.stdin:
        (groups.add if line.startswith("+") else groups.discard)(int(line[1:]))
    for number in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + _END_SECONDS
        _send(number, groups, _marked(mark))
        while groups or _marked(mark):
            groups = {group for group in groups if _exists(group)}
            if time.monotonic() > end:
                break
            time.sleep(_POLL_SECONDS)
        else:
            return


def _send(number: int, groups: set[int], processes: set[int]) -> None:
    for group in groups:
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, number)


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _marked(mark: str) -> set[int]:
    """Processes with our variable in their environment; empty where the system does not show it."""
    found: set[int] = set()
    wanted = f"TOOLCHARTER_GOVERNOR={mark}".encode()
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if wanted in file.read_bytes().split(b"\0"):
                found.add(int(file.parent.name))
    return found


if __name__ == "__main__":
    main(sys.argv[1])
