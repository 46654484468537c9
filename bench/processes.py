"""Start the measured servers, and end them whatever happens."""

import os
import re
import socket
import subprocess
import time
from pathlib import Path

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


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def listening_port(process: subprocess.Popen[str], log: Path) -> int:
    """The port that a command of ours listens on, from what it logs."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/health", log.read_text(errors="replace")):
            return int(found[1])
        time.sleep(0.05)
    raise RuntimeError(f"The server did not start: {log.read_text(errors='replace')}")


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
