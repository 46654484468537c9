"""The command that adds an extra to the environment of this process, ready to be copied into a terminal.

A bare `pip install` would often change another environment than that of pipx, of uv, or of a folder `.venv`.
"""

import json
import os
import shlex
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_CACHE = "CACHEDIR.TAG"
"""The file that marks a folder of things that can be deleted, such as the environments of uvx."""


class SourceFolder(NamedTuple):
    """A folder that a distribution was installed from, such as a clone of its repository."""

    path: Path
    is_editable: bool


def install_command(extra: str, name: str = "toolcharter") -> str:
    """The command that installs this extra of a distribution, or starts this command with it."""
    folder = source_folder(name)
    if is_temporary(Path(sys.prefix)):
        command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
        return f"{run_once(f'{folder.path if folder else name}[{extra}]')}{command}"
    editable = "--editable " if folder and folder.is_editable else ""
    return f"{installer()} {editable}'{folder.path if folder else name}[{extra}]'"


def source_folder(name: str = "toolcharter") -> SourceFolder | None:
    """The folder that a distribution was installed from; None if it came from a package index."""
    origin = json.loads(distribution(name).read_text("direct_url.json") or "{}")  # PEP 610
    if "dir_info" not in origin:
        return None
    return SourceFolder(Path(unquote(urlsplit(str(origin["url"])).path)), bool(origin["dir_info"].get("editable")))


def is_temporary(environment: Path) -> bool:
    """Whether uvx or `pipx run` made an environment only for this run."""
    return any((folder / _CACHE).is_file() for folder in environment.parents)


def run_once(requirement: str) -> str:
    """The words before a command that uvx, or `pipx run`, starts in an environment made only for it."""
    words = "pipx run --spec" if "pipx" in Path(sys.prefix).parts else "uvx --from"
    return f"{words} '{requirement}' "


def installer() -> str:
    """The words before what is to be installed in the environment of this process."""
    environment = Path(sys.prefix)
    pip = environment / ("Scripts/pip.exe" if os.name == "nt" else "bin/pip")
    if is_temporary(environment):
        return "uvx --with"
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx runpip {environment.name} install"
    if _is_current(environment):
        return "pip install"
    if pip.is_file():
        return f"{shlex.quote(_short(pip))} install"
    folder = shlex.quote(str(environment))
    return f"uv pip install --python {folder}" if shutil.which("uv") else f"pip --python {folder} install"


def _is_current(environment: Path) -> bool:
    """Whether `pip` alone means this environment: one that the shell has activated, or no virtual one at all."""
    return sys.prefix == sys.base_prefix or os.environ.get("VIRTUAL_ENV") == str(environment)


def _short(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
