"""Servers that others wrote, installed once from npm and PyPI into a folder of the user's cache."""

import fcntl
import functools
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

NPM = tuple(f"@modelcontextprotocol/server-{name}@2026.8.31" for name in ("everything", "filesystem", "memory"))
PYPI = ("mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19")
_INSTALL_SECONDS = 180
_SERVERS = {
    "everything": ("npm", "mcp-server-everything"),
    "files": ("npm", "mcp-server-filesystem"),
    "memory": ("npm", "mcp-server-memory"),
    "git": ("pypi", "mcp-server-git"),
    "time": ("pypi", "mcp-server-time"),
}


def server_command(name: str) -> list[str]:
    """The command of a server. Skips the test where it cannot be installed."""
    registry, command = _SERVERS[name]
    folder, problem = _npm() if registry == "npm" else _pypi()
    if problem is not None:
        pytest.skip(f"{command} cannot be installed: {problem}")
    return [str(folder / command)]


@functools.cache
def _npm() -> tuple[Path, str | None]:
    folder = _folder(NPM)
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return folder, "Node.js is not installed"
    options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1", "--prefix", str(folder)]
    options += ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000"]
    return folder / "node_modules" / ".bin", _install(folder, [[npm, "install", *options, *NPM]])


@functools.cache
def _pypi() -> tuple[Path, str | None]:
    folder = _folder(PYPI)
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return folder / "venv" / "bin", _install(
        folder, [[sys.executable, "-m", "venv", str(folder / "venv")], [*pip, *PYPI]]
    )


def _folder(packages: tuple[str, ...]) -> Path:
    """A folder for exactly these versions and this Python."""
    key = hashlib.sha256(json.dumps([*packages, sys.version]).encode()).hexdigest()[:12]
    return platformdirs.user_cache_path("toolcharter") / "test-servers" / key


def _install(folder: Path, commands: list[list[str]]) -> str | None:
    """Run these commands unless that was done before, by one process at a time. Returns what went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / "installed").exists():
            return None
        for command in commands:
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL_SECONDS, cwd=folder)
            except subprocess.TimeoutExpired:
                return f"{Path(command[0]).name} did not end within {_INSTALL_SECONDS} seconds"
            except subprocess.CalledProcessError as error:
                lines = error.stderr.decode("utf-8", "replace").splitlines()
                reason = next((line for line in lines if "error" in line.lower()), "no message")
                return f"{Path(command[0]).name} failed: {reason[:200]}"
        (folder / "installed").touch()
    return None
