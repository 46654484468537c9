"""Govern the MCP servers of other people: policies, confirmations, limits, pins and a log for every tool behind them.

toolcharter govern add NAME -- COMMAND   govern a server that a command starts, and approve its tools
toolcharter govern add NAME URL          govern a server at an address
toolcharter govern import [--apply]      govern the servers of Claude, Cursor and VS Code, and point them here
toolcharter govern status                what is governed, and what waits for a decision
toolcharter govern review [NAME]         what changed since it was approved
toolcharter govern approve NAME [TOOL]   accept what the server shows now
toolcharter govern deny NAME:TOOL        hide a tool, and refuse its calls
toolcharter govern remove NAME           no longer govern a server
toolcharter govern [stdio | http]        serve all of them to a client
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import platformdirs

from mcp_core import mcp_log
from mcp_core.errors import Unavailable
from mcp_core.interrupt import run_interruptible
from mcp_core.otlp import set_up_export
from mcp_core.plurals import count
from mcp_core.settings import add_options, from_options
from toolcharter.commands import CannotRun, UsageError
from toolcharter.contract import report
from toolcharter.govern import charter_file
from toolcharter.govern.charter import Charter
from toolcharter.govern.client_files import (
    ClientFile,
    FoundServer,
    find_servers,
    is_governor,
    known_files,
    point_at_governor,
    to_upstream,
)
from toolcharter.govern.governor import Governor
from toolcharter.govern.pins import Comparison, Quarantine, lock_file, security_findings
from toolcharter.targets import is_address
from toolcharter.terminal import escape_lines

VARIABLE = "TOOLCHARTER_CHARTER"
WAITING = 1
"""The exit code of `review` if something waits for a decision."""
_SERVE = ("stdio", "http")
_ACTIONS = (*_SERVE, "add", "import", "status", "review", "approve", "deny", "remove")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = "%(prog)s [ACTION] [NAME] [options]"
    parser.add_argument("action", nargs="?", default="stdio", metavar="ACTION", help="see above; default: stdio")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a server, an address or tools, as the action takes")
    parser.add_argument(
        "--charter",
        type=Path,
        metavar="FILE",
        default=os.environ.get(VARIABLE),
        help=f"the file of servers and policies; default: charter.toml in your configuration folder [{VARIABLE}]",
    )
    parser.add_argument("--apply", action="store_true", help="with import: add what was found, and change the clients")
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Do what the action says."""
    if options.action not in _ACTIONS:
        raise UsageError(f"{options.action!r} is not an action. Actions: {', '.join(_ACTIONS)}.")
    path = (options.charter or platformdirs.user_config_path("toolcharter") / "charter.toml").absolute()
    if options.action == "add":
        return run_interruptible(_add(path, options))
    if options.action == "import":
        return run_interruptible(_import(path, options))
    charter = charter_file.read_or_new(path)
    if options.action in _SERVE:
        return _serve(path, charter, options)
    if options.action == "deny":
        return _deny(path, charter, options.names)
    if options.action == "remove":
        return _remove(path, charter, options.names)
    names: list[str] = options.names
    chosen = names[:1] or list(charter.upstream)
    for name in chosen:
        _require(charter, name, path)
    governor = _governor(path, charter, options)
    if options.action == "approve":
        if not names:
            raise UsageError("Name the server: toolcharter govern approve NAME [TOOL ...].")
        return run_interruptible(_approve(governor, names[0], names[1:]))
    return run_interruptible(_show(governor, path, chosen, in_full=options.action == "review"))


def _governor(path: Path, charter: Charter, options: argparse.Namespace) -> Governor:
    settings = from_options(options)
    # The other actions print what a server logs.
    level = settings.log_level if options.action in _SERVE else "ERROR"
    mcp_log.configure(level, file=settings.log_file, as_json=settings.log_json)
    if options.action in _SERVE:
        set_up_export(settings.otlp, "toolcharter")
    return Governor(path, charter, settings, version("toolcharter"))


def _require(charter: Charter, name: str, path: Path) -> None:
    if name not in charter.upstream:
        known = ", ".join(charter.upstream) or "none"
        raise CannotRun(f"{path} has no server {name!r}. Governed: {known}. Add one: toolcharter govern add NAME.")


def _serve(path: Path, charter: Charter, options: argparse.Namespace) -> int:
    if not charter.upstream:
        raise CannotRun(f"{path} has no server. Add one: toolcharter govern add NAME -- COMMAND.")
    governor = _governor(path, charter, options)
    if options.action == "stdio":
        from mcp_core.run import run_stdio  # noqa: PLC0415 - only this action needs it

        run_stdio(governor.all_tools, from_options(options), "toolcharter govern", sys.argv[2:])
    else:
        from mcp_core.hosts.site.serving import serve_http  # noqa: PLC0415 - 65 ms that stdio does not need

        serve_http([governor.all_tools, *governor.apps.values()], from_options(options))
    return os.EX_OK


async def _add(path: Path, options: argparse.Namespace) -> int:
    if not options.names:
        raise UsageError("Name the server: toolcharter govern add NAME -- COMMAND, or toolcharter govern add NAME URL.")
    name, *rest = options.names
    if options.command:
        fields = {"command": list(options.command)}
    elif len(rest) == 1 and is_address(rest[0]):
        fields = {"url": rest[0]}
    else:
        raise UsageError("Give the command that starts the server after --, or its address.")
    await _add_server(path, name, fields, options)
    print("Point your client at: toolcharter govern")
    return os.EX_OK


async def _add_server(path: Path, name: str, fields: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Add a server to the charter, and approve the tools in which no security rule finds anything."""
    charter_file.add_upstream(path, name, fields)
    governor = _governor(path, charter_file.read_or_new(path), options)
    try:
        shown = await governor.look(name)
    except Unavailable as error:
        charter_file.remove_upstream(path, name)
        raise CannotRun(f"{error} Nothing was added.") from None
    finally:
        await governor.close()
    suspicious = security_findings(shown)
    approved = governor.approve(name, shown, [tool.name for tool in shown if tool.name not in suspicious] or [""])
    print(f"{name} is governed: {count(len(approved), 'tool')} approved. {path}")
    for tool, findings in suspicious.items():
        print(f"  {tool} waits for your decision: {findings[0].rule} {escape_lines(findings[0].message)}")
    if suspicious:
        print(f"Look at them: toolcharter govern review {name}")


async def _import(path: Path, options: argparse.Namespace) -> int:
    files = known_files(Path.home(), Path.cwd())
    found = [one for one in find_servers(files) if not is_governor(one.entry)]
    for one in found:
        table = to_upstream(one.entry)
        what = " ".join(table.get("command", ())) or table.get("url") if table else "cannot be governed"
        print(f"{one.client.client}: {escape_lines(one.name)}   {escape_lines(str(what))}   ({one.client.path})")
    if not found:
        print("No server was found in the files of Claude Desktop, Claude Code, Cursor and VS Code.")
    elif not options.apply:
        print("Nothing was changed. To govern them, and point their clients here: toolcharter govern import --apply")
    else:
        await _take_over(path, found, options)
    return os.EX_OK


async def _take_over(path: Path, found: Sequence[FoundServer], options: argparse.Namespace) -> None:
    """Govern these servers, and let their clients start the governor in their place."""
    governed: dict[ClientFile, list[str]] = {}
    for one in found:
        name, table = server_name(one.name), to_upstream(one.entry)
        if table is None:
            continue
        if name not in charter_file.read_or_new(path).upstream:
            try:
                await _add_server(path, name, table, options)
            except CannotRun as error:
                print(f"{name} stays as it is. {escape_lines(str(error))}")
                continue
        governed.setdefault(one.client, []).append(one.name)
    entry = {"command": shutil.which("toolcharter") or "toolcharter", "args": ["govern", "--charter", str(path)]}
    for file, names in governed.items():
        copy = point_at_governor(file, names, entry)
        print(f"{file.client} now starts the governor. The old file is kept as {copy}.")


def server_name(name: str) -> str:
    """The name of a client's server as one of the charter."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:32].strip("-") or "server"


async def _approve(governor: Governor, name: str, tools: Sequence[str]) -> int:
    try:
        shown = await governor.look(name)
    except Unavailable as error:
        raise CannotRun(str(error)) from None
    finally:
        await governor.close()
    if unknown := set(tools) - {tool.name for tool in shown}:
        raise CannotRun(f"{name} does not list {', '.join(sorted(unknown))}. Nothing was approved.")
    approved = governor.approve(name, shown, tools)
    print(f"{name}: {count(len(approved), 'tool')} approved as shown now.")
    return os.EX_OK


async def _show(governor: Governor, path: Path, names: Sequence[str], *, in_full: bool) -> int:
    waiting = 0
    try:
        for name in names:
            try:
                await governor.look(name)
            except Unavailable as error:
                print(f"{name}: not available. {escape_lines(str(error))}")
                continue
            comparison = governor.comparisons[name]
            waiting += len(comparison.quarantined)
            print(_summary(name, comparison, has_pins=lock_file(path, name).exists()))
            for tool, quarantine in comparison.quarantined.items():
                print(_details(tool, quarantine, in_full=in_full))
    finally:
        await governor.close()
    if not names:
        print(f"No server is governed. Add one: toolcharter govern add NAME -- COMMAND. {path}")
    if waiting and in_full:
        print("Approve: toolcharter govern approve NAME [TOOL]. Hide: toolcharter govern deny NAME:TOOL.")
    return WAITING if waiting and in_full else os.EX_OK


def _summary(name: str, comparison: Comparison, *, has_pins: bool) -> str:
    parts = [f"{count(len(comparison.approved), 'tool')} served"]
    if comparison.quarantined:
        parts.append(f"{len(comparison.quarantined)} quarantined")
    if comparison.missing:
        parts.append(f"{len(comparison.missing)} no longer listed: {', '.join(sorted(comparison.missing))}")
    if not has_pins:
        parts.append("nothing approved yet")
    return f"{name}: {', '.join(parts)}"


def _details(tool: str, quarantine: Quarantine, *, in_full: bool) -> str:
    lines = [f"  {tool}: {escape_lines(quarantine.reason)}"]
    if in_full:
        lines += [f"    {line}" for line in report.to_text(list(quarantine.changes)).splitlines()]
        lines += [f"    {one.rule} {one.name}: {escape_lines(one.message)}" for one in quarantine.findings]
    return "\n".join(lines)


def _deny(path: Path, charter: Charter, patterns: Sequence[str]) -> int:
    if not patterns:
        raise UsageError('Name the tools: toolcharter govern deny NAME:TOOL. "NAME:delete_*" denies several.')
    for pattern in patterns:
        _require(charter, pattern.partition(":")[0], path)
    charter_file.deny_tools(path, patterns)
    print(f"Denied: {', '.join(patterns)}.")
    return os.EX_OK


def _remove(path: Path, charter: Charter, names: Sequence[str]) -> int:
    if not names:
        raise UsageError("Name the server: toolcharter govern remove NAME.")
    for name in names:
        _require(charter, name, path)
        charter_file.remove_upstream(path, name)
        lock_file(path, name).unlink(missing_ok=True)
    print(f"No longer governed: {', '.join(names)}.")
    return os.EX_OK
