"""The demo as clients start it, or find it: a command for stdio, an address for HTTP. The fast lane is the default."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

DEMO = str(Path(__file__).parents[2] / "examples" / "demo.py")
TOOLS = ["add", "list_notes", "get_note", "create_note", "delete_note", "digest_notes", "find_notes"]
PATIENCE = 30.0


@contextmanager
def demo_over_http(log: Path) -> Iterator[str]:
    """Start the demo on a free port of the loopback address, and give its address once it answers."""
    with log.open("wb") as errors:
        command = [sys.executable, DEMO, "http", "--port", "0"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env={})
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
                raise RuntimeError(f"the demo does not answer:\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.02)


def _is_up(http: httpx2.Client, base: str) -> bool:
    try:
        return http.get(f"{base}/health").status_code == httpx2.codes.OK
    except httpx2.ConnectError:
        return False


def data_of(text: str) -> Any:
    """What a tool of the demo returned, out of the one block of JSON text that every answer is."""
    return json.loads(text)["data"]
