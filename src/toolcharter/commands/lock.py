"""Write what a server shows of its tools to a lock file, contracts/NAME.json, or check that it still shows the same.

Without SERVER, this is done for the servers of the project in this folder, and for installed servers that have a lock
here. The exit code is 1 if a server differs from its lock (--check) or would break it.
"""

import argparse
import os
import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from mcp_core.foreign.terminal import print_text
from mcp_core.process.interrupt import run_interruptible
from mcp_core.text.plurals import count
from toolcharter.commands import CannotRun, UsageError, connection
from toolcharter.commands.json_file import read_json
from toolcharter.contract import report
from toolcharter.contract.changes import Change
from toolcharter.contract.lock import InvalidLock, Lock, is_lock, parse_lock
from toolcharter.contract.tool_diff import diff_tools
from toolcharter.output.terminal import TerminalConsole

FOLDER = Path("contracts")
DIFFERS = 1
SECURITY_FINDING = "security-finding"
"""The kind of change that a security rule has found."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    connection.add_arguments(parser)
    parser.usage = (parser.usage or "").replace(" SERVER", " [SERVER]")
    parser.add_argument("--output", metavar="FILE", type=Path, help="the lock file; default: contracts/NAME.json")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the server differs from its lock")
    parser.add_argument(
        "--unreleased",
        action="store_true",
        help="nobody uses these tools yet: the file says so, and they may change until `toolcharter package`",
    )
    parser.add_argument(
        "--relock", action="store_true", help="write the file even if that breaks the contract, or it was edited"
    )
    connection.add_settings(parser, is_for_calls=False)


def run(options: argparse.Namespace) -> int:
    """Lock one server, or all installed ones if none is named."""
    if options.server or options.command:
        return run_interruptible(_run(options, options.server))
    if options.output:
        raise UsageError("--output is a file for one server. Name the server, or leave out --output.")
    servers = _project_servers()
    if not servers:
        raise UsageError(
            f"No server was given, this project registers none, and {FOLDER}/ has no lock of an installed one. "
            "Name a server: toolcharter lock SERVER."
        )
    codes = [run_interruptible(_run(options, name)) for name in servers]
    if options.check:
        for file in sorted({*FOLDER.glob("*.json")} - {_lock_file(name) for name in servers}):
            print_text(f"{file} was not checked. Name its server: toolcharter lock SERVER --check.", file=sys.stderr)
    return max(codes)


def _project_servers() -> list[str]:
    """The installed servers that belong to the project in this folder, or have a lock here."""
    from toolcharter.local import targets  # noqa: PLC0415 - 250 ms, the framework, which files do not need

    project = _project_name()
    return sorted(
        name
        for name, entry in targets.known().items()
        if _lock_file(name).exists() or (entry.dist is not None and _normalized(entry.dist.name) == project)
    )


def _project_name() -> str | None:
    try:
        return _normalized(tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["name"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _normalized(name: str) -> str:
    """The name of a distribution in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _lock_file(name: str) -> Path:
    """The lock file of an installed server."""
    return FOLDER / f"mcp-{name}.json"


async def _run(options: argparse.Namespace, server: str | None) -> int:
    lock = await read(server, options)
    file: Path = options.output or _default_file(server, lock.server)
    if not options.check:
        return _write(file, replace(lock, is_released=not options.unreleased), relock=options.relock)
    words = [server or "", f"--output {file}" if options.output else "", "" if server else "-- COMMAND"]
    return _check(file, lock, " ".join(["toolcharter lock", *filter(None, words)]))


async def read(server: str | None, options: argparse.Namespace) -> Lock:
    """Read a lock file, or make the lock of a server. None means the command after `--`."""
    if server is not None and server.endswith(".json"):
        content = read_json(Path(server))
        if is_lock(content):
            return _parse(content, server)
    server_options = argparse.Namespace(**{**vars(options), "server": server})
    server_options.command = options.command if server is None else None
    async with connection.connect(server_options, list_only=True) as opened:
        return Lock.from_tools(*opened.identity, await opened.list_tools())


def _parse(content: object, name: str) -> Lock:
    try:
        return parse_lock(content, name)
    except InvalidLock as error:
        raise CannotRun(str(error)) from None


def compare(old: Lock, new: Lock) -> list[Change]:
    """All changes from one lock to the other, as of today, and what security rules find in them."""
    changes = diff_tools(old.tools.values(), new.tools.values(), datetime.now(UTC).date())
    changed = [name for name, tool in new.tools.items() if tool != old.tools.get(name)]
    return [*changes, *_security_findings(old, new, changed)] if changed else changes


def _security_findings(old: Lock, new: Lock, changed: Sequence[str]) -> list[Change]:
    """The security errors in the new and changed tools that the old ones do not have."""
    from toolcharter.verify.engine import run_rules, server_from_tools  # noqa: PLC0415 - 30 ms, only after a change
    from toolcharter.verify.rules import static_rules  # noqa: PLC0415 - 130 ms with all rules

    rules = [rule for rule in static_rules() if rule.family == "security" and rule.severity == "error"]
    before, after = (
        run_rules(server_from_tools([lock.tools[name] for name in changed if name in lock.tools]), rules)
        for lock in (old, new)
    )
    return [
        Change(SECURITY_FINDING, one.tool or "", f"$.{one.path}", f"{one.rule} {one.name}: {one.message}")
        for one in after
        if one not in before
    ]


def mark_released(folder: Path) -> list[Path]:
    """Say in the locks of a project that its tools are used from now on. Returns the files that did not say so."""
    files = [file for file in sorted((folder / FOLDER).glob("*.json")) if is_lock(read_json(file))]
    locks = {file: parse_lock(read_json(file), str(file)) for file in files}
    for file, lock in locks.items():
        if not lock.is_released:
            file.write_text(replace(lock, is_released=True).to_text(), encoding="utf-8")
    return [file for file, lock in locks.items() if not lock.is_released]


def print_changes(changes: list[Change]) -> None:
    """Print a table on a terminal, plain lines in a pipe."""
    if sys.stdout.isatty():
        report.print_table(changes, TerminalConsole())
    else:
        print_text(report.to_text(changes))


def _default_file(target: str | None, server: str) -> Path:
    from toolcharter.local import targets  # noqa: PLC0415 - 250 ms, not with --output

    if target in targets.known():
        return _lock_file(target)
    return FOLDER / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', server).strip('-.') or 'server'}.json"


def _check(file: Path, lock: Lock, command: str) -> int:
    if not file.exists():
        raise CannotRun(f"{file} does not exist. Write it with `{command}`.")
    old = _parse(read_json(file), str(file))
    if old.digests() == lock.digests():
        print_text(f"{file}: {count(len(lock.tools), 'tool')}, as locked.")
        return os.EX_OK
    changes = compare(old, lock)
    print_changes(changes)
    if not changes:
        print_text("The schemas are written differently, but mean the same.")
    if any(_breaks(old, change) for change in changes):
        command = command.replace("toolcharter lock", "toolcharter lock --relock", 1)
    print_text(f"{file} is out of date. If the change is intended, run `{command}` and commit the file.")
    return DIFFERS


def _breaks(old: Lock, change: Change) -> bool:
    """Whether a change breaks a lock. In one that was never released, only a security finding does."""
    return change.is_breaking and (old.is_released or change.kind == SECURITY_FINDING)


def _write(file: Path, lock: Lock, *, relock: bool) -> int:
    changes: list[Change] = []
    if file.exists() and not relock:
        old = _parse(read_json(file), str(file))
        lock = replace(lock, is_released=old.is_released and lock.is_released)
        changes = compare(old, lock)
        if any(_breaks(old, change) for change in changes):
            print_changes(changes)
            print_text(
                f"{file} was not written, because the change would break its contract. --relock writes it anyway."
            )
            return DIFFERS
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(lock.to_text(), encoding="utf-8")
    print_text(f"wrote {file}: {count(len(lock.tools), 'tool')}. {report.summary(changes) if changes else ''}".rstrip())
    return os.EX_OK
