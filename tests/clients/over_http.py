"""A server in a process of its own, on a free port of the loopback address."""

import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2

PATIENCE = 30.0


@contextmanager
def served(command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start a server's command over HTTP, and give its address once it answers."""
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*command, "http", "--port", "0"],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            env=environment or {},
        )
    try:
        yield f"{_address(process, log)}/mcp"
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + PATIENCE
    with httpx2.Client() as http:
        while True:
            printed = re.search(r"Health: (http://\S+)/health", log.read_text(encoding="utf-8"))
            if printed is not None and _is_up(http, printed[1]):
                return printed[1]
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server does not answer:\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.02)


def _is_up(http: httpx2.Client, base: str) -> bool:
    try:
        return http.get(f"{base}/health").status_code == httpx2.codes.OK
    except httpx2.ConnectError:
        return False
