"""Start one server over HTTP, and start it anew when its files change.

All files of Python in the folder of the server's file and below are watched. While a changed file cannot be loaded, the
server that ran before goes on; the error is printed. Calls in progress have a moment to finish.
"""

import argparse
import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from toolcharter.commands import UsageError, server_command
from toolcharter.local import targets

POLL_SECONDS = 0.1
MAX_FILES = 5_000
"""Files that are watched at most."""
_DRAIN = "TOOLCHARTER_DRAIN_SECONDS"
_DRAIN_SECONDS = "0.3"

Files = Mapping[str, tuple[int, int]]
"""The time of the last change and the size, by path."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. Everything after the file is for the server."""
    server_command.add_arguments(parser, "FILE", "file.py, or file.py:object")


def run(options: argparse.Namespace) -> int:
    """Serve until a signal."""
    if options.server in targets.known() or not targets.is_file(options.server):
        raise UsageError(f"{options.server!r} is not a file of Python. Write: toolcharter dev hello.py")
    os.environ.setdefault(_DRAIN, _DRAIN_SECONDS)
    folder = Path(options.server.partition(".py")[0]).absolute().parent
    return server_command.start("http", options, changes(folder))


async def changes(folder: Path, poll_seconds: float = POLL_SECONDS) -> AsyncIterator[str]:
    """The path of a file that has changed, each time that files have changed and are written completely."""
    served = read_files(folder)
    while True:
        await asyncio.sleep(poll_seconds)
        now = read_files(folder)
        if now == served:
            continue
        while (later := await _read_after(folder, poll_seconds)) != now:
            now = later
        changed = [path for path in now.keys() | served.keys() if now.get(path) != served.get(path)]
        served = now
        if changed:  # not where a change was undone meanwhile
            yield min(changed).removeprefix(f"{folder}/")


async def _read_after(folder: Path, seconds: float) -> Files:
    await asyncio.sleep(seconds)
    return read_files(folder)


def read_files(folder: Path) -> Files:
    """The files of Python in a folder and below, without hidden folders and virtual environments."""
    files: dict[str, tuple[int, int]] = {}
    for path in _python_files(folder):
        try:
            status = Path(path).stat()
        except FileNotFoundError:  # removed meanwhile
            continue
        files[path] = (status.st_mtime_ns, status.st_size)
        if len(files) >= MAX_FILES:
            break
    return files


def _python_files(folder: Path) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        yield from (f"{place}/{name}" for name in names if name.endswith(".py"))
