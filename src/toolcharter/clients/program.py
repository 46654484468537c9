"""The command with which a client starts a server: one that is still there tomorrow."""

import os
import shutil
import sys
from pathlib import Path

from mcp_core.process.install_command import is_temporary
from toolcharter.packaging.launch import Launch


def command_of(launch: Launch) -> tuple[str, ...]:
    """The program of this environment by its absolute path, or uvx or pipx if they made it only for this run."""
    environment = Path(sys.prefix)
    if not is_temporary(environment):
        return launch.installed()
    once = launch.pipx(pinned=True) if "pipx" in environment.parts else None
    return _found(once or launch.uvx(pinned=True))


def _found(command: tuple[str, ...]) -> tuple[str, ...]:
    # uv sets this variable for what it runs: its own path.
    beside = shutil.which(command[0], path=str(Path(os.environ["UV"]).parent)) if "UV" in os.environ else None
    return (beside or shutil.which(command[0]) or command[0], *command[1:])
