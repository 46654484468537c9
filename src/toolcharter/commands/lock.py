"""Write down what a server shows of its tools, in contracts/NAME.json, or check that it still shows the same.

The exit code is 1 when the server differs from its lock (--check), or would break it; 2 when it could not run.
"""

import argparse
import asyncio
import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from toolcharter import targets
from toolcharter.commands import CannotRun, connection
from toolcharter.contract import report
from toolcharter.contract.changes import Change
from toolcharter.contract.diff import diff
from toolcharter.contract.lock import BadLock, Lock, is_lock, read_lock

FOLDER = Path("contracts")
DIFFERS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    connection.add_arguments(parser)
    parser.add_argument("--output", metavar="FILE", type=Path, help="the lock file; default: contracts/NAME.json")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when the server differs from its lock"
    )
    parser.add_argument(
        "--relock",
        action="store_true",
        help="write the file even if that breaks what was promised, or it was changed by hand",
    )


def run(options: argparse.Namespace) -> int:
    """Lock one server; all that are installed where none is named."""
    if options.server or options.command:
        return asyncio.run(_run(options, options.server))
    if options.output:
        raise CannotRun("One file is for one server: name the server, or leave out --output.")
    codes = [asyncio.run(_run(options, name)) for name in sorted(targets.known())]
    return max(codes, default=os.EX_OK)


async def _run(options: argparse.Namespace, server: str | None) -> int:
    lock = await read(server, options)
    file: Path = options.output or FOLDER / f"{_file_name(server, lock.server)}.json"
    if not options.check:
        return _write(file, lock, relock=options.relock)
    words = [server or "", f"--output {file}" if options.output else "", "" if server else "-- COMMAND"]
    return _check(file, lock, " ".join(["`toolcharter lock", *filter(None, words)]) + "`")


async def read(server: str | None, options: argparse.Namespace) -> Lock:
    """The lock of a target, or in a lock file. No server means the command after `--`."""
    if server is not None and server.endswith(".json"):
        content = read_json(Path(server))
        if is_lock(content):
            return locked(content, server)
    asked = argparse.Namespace(**{**vars(options), "server": server})
    asked.command = options.command if server is None else None
    async with connection.connect(asked, only_listed=True) as opened:
        return Lock.of(*opened.identity, await opened.list_tools())


def read_json(file: Path) -> object:
    """The content of a JSON file."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CannotRun(f"{file}: {error}") from None


def locked(content: object, name: str) -> Lock:
    """The lock in a file's content."""
    try:
        return read_lock(content, name)
    except BadLock as error:
        raise CannotRun(str(error)) from None


def compared(old: Lock, new: Lock) -> list[Change]:
    """All changes from one lock to the other, as of today."""
    return diff(old.tools.values(), new.tools.values(), datetime.now(UTC).date())


def show(changes: list[Change]) -> None:
    """For a person at a terminal, or as plain lines in a pipe."""
    if sys.stdout.isatty():
        report.show(changes, Console())
    else:
        print(report.as_plain(changes))


def _file_name(target: str | None, server: str) -> str:
    if target in targets.known():
        return f"mcp-{target}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", server).strip("-.") or "server"


def _check(file: Path, lock: Lock, how: str) -> int:
    if not file.exists():
        raise CannotRun(f"There is no {file}. Write it with {how}.")
    old = locked(read_json(file), str(file))
    if old.digests() == lock.digests():
        print(f"{file}: {len(lock.tools)} tools, as locked.")
        return os.EX_OK
    changes = compared(old, lock)
    show(changes)
    if not changes:
        print("The schemas are written differently, and mean the same.")
    print(f"{file} is out of date. When the change is meant, run {how} and commit what it writes.")
    return DIFFERS


def _write(file: Path, lock: Lock, *, relock: bool) -> int:
    changes: list[Change] = []
    if file.exists() and not relock:
        changes = compared(locked(read_json(file), str(file)), lock)
        if any(change.breaks for change in changes):
            show(changes)
            print(
                f"{file} is left as it is: what it promised would be broken. With --relock it is written all the same."
            )
            return DIFFERS
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(lock.to_text(), encoding="utf-8")
    print(f"wrote {file}: {len(lock.tools)} tools. {report.summary(changes) if changes else ''}".rstrip())
    return os.EX_OK
