"""The commands of the project, started through the fork server; with `--thorough`, as a user starts them."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

FOLDER = "TOOLCHARTER_TEST_COMMANDS"
"""The environment variable that tells the workers of a run where the commands are."""
os.environ.setdefault(FOLDER, str(Path(tempfile.gettempdir(), f"commands-{secrets.token_hex(4)}")))

INSTALLED = Path(sys.executable).parent
SERVER, STUB = (Path(__file__).with_name(name) for name in ("server.py", "stub.py"))


def command_path(name: str) -> str:
    """The path of a command of the project, or of `python` for a script.

    For tests that talk to a server. A test of the start itself starts what is installed.
    """
    return str(Path(os.environ[FOLDER], name))


@contextmanager
def commands(*, forked: bool) -> Iterator[None]:
    """Make the commands that `command_path` names, in this process and in those that it starts."""
    folder = Path(os.environ[FOLDER])
    folder.mkdir(mode=0o700)
    try:
        for name in ("python", *entry_points(group="console_scripts").names):
            # Without site-packages, Python starts in a third of the time.
            stub = f"#!{sys.executable} -IS\n{STUB.read_text(encoding='utf-8')}"
            (folder / name).write_text(stub if forked else f'#!/bin/sh\nexec "{INSTALLED / name}" "$@"\n')
            (folder / name).chmod(0o755)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "socket"))
            listener.listen(128)
            server = [sys.executable, SERVER, str(listener.fileno())]
            with subprocess.Popen(server, stdin=subprocess.PIPE, pass_fds=[listener.fileno()]):
                yield
    finally:
        shutil.rmtree(folder)
