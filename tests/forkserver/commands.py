"""The commands of the project, started through the fork server; with `--thorough`, as a user starts them."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory

VARIABLE = "TOOLCHARTER_TEST_COMMANDS"


def command_path(name: str) -> str:
    """The path of an installed command, or of `python` for a script.

    For tests that talk to a server. A test of the start itself starts what is installed.
    """
    return str(Path(os.environ.get(VARIABLE) or Path(sys.executable).parent) / name)


@contextmanager
def fork_server() -> Iterator[None]:
    """Start through the fork server what `command_path` names, in this process and in those that it starts."""
    here = Path(__file__).parent
    # Without site-packages, Python starts in a third of the time.
    stub = f"#!{sys.executable} -IS\n{(here / 'stub.py').read_text(encoding='utf-8')}"
    with TemporaryDirectory(prefix="forkserver-") as folder, socket.socket(socket.AF_UNIX) as listener:
        for name in ("python", *entry_points(group="console_scripts").names):
            file = Path(folder, name)
            file.write_text(stub, encoding="utf-8")
            file.chmod(0o755)
        listener.bind(f"{folder}/socket")
        listener.listen(128)
        arguments = [sys.executable, here / "server.py", str(listener.fileno())]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, pass_fds=[listener.fileno()]):
            os.environ[VARIABLE] = folder
            yield
            del os.environ[VARIABLE]
