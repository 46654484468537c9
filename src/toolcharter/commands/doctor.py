"""Show what is installed, which MCP clients were found, which servers they start, and whether each one answers.

Each server is started as its client starts it, asked for its tools, and ended. The exit code is 1 if something is
wrong; the fix is shown beside it.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp_core.foreign.terminal import escape_invisible, print_text
from mcp_core.mcp_log import redact_text
from mcp_core.process.interrupt import run_interruptible
from mcp_core.text.plurals import count
from toolcharter.clients.checkup import FileCheck, ServerCheck, check_files
from toolcharter.clients.files import ClientFile, existing_files
from toolcharter.clients.known import CLIENTS, Places
from toolcharter.local import targets

FAILED = 1
SECONDS = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    names = [client.name for client in CLIENTS]
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"only these: {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--timeout", type=float, default=SECONDS, metavar="SECONDS", help=f"time that each server has [{SECONDS:g}]"
    )


def run(options: argparse.Namespace) -> int:
    """Check everything, and print it."""
    known = {client.name for client in CLIENTS}
    if unknown := [name for name in options.clients if name not in known]:
        raise targets.UnknownTarget(f"{unknown[0]!r} is not a client. Clients: {', '.join(sorted(known))}.")
    places = Places.here()
    files = [file for file in existing_files(places) if not options.clients or file.client.name in options.clients]
    checks = run_interruptible(check_files(files, options.timeout))
    others = [] if options.clients else _not_configured(checks, places)
    if options.json:
        print_text(json.dumps(_result(checks, others), ensure_ascii=False, indent=2))
    else:
        _print(checks, others)
    return os.EX_OK if all(check.is_ok for check in checks) else FAILED


def _print(checks: Sequence[FileCheck], others: Sequence[str]) -> None:
    print_text(f"toolcharter {version('toolcharter')}, Python {platform.python_version()}, in {sys.prefix}")
    for name, missing in _servers().items():
        print_text(f"  {name:<10} {missing or 'installed'}")
    for check in checks:
        print_text(f"\n{check.file.client.title}   {check.file.path}")
        if check.problem:
            print_text(f"  wrong  {check.problem}")
        for server in check.servers:
            _print_server(server)
        if not check.problem and not check.servers:
            print_text("  no server")
    if others:
        print_text(f"\nWithout servers: {', '.join(others)}. To add one: toolcharter install {others[0]} SERVER")
    if not checks and not others:
        print_text("\nNo MCP client was found. Looked for: " + ", ".join(client.title for client in CLIENTS))
    failures = sum(one.status == "failed" for check in checks for one in check.servers)
    failures += sum(check.problem is not None for check in checks)
    print_text(f"\n{count(failures, 'problem')}." if failures else "\nNothing is wrong.")


def _print_server(server: ServerCheck) -> None:
    name = escape_invisible(server.entry.name)
    if server.status == "ok":
        tools = f"{count(server.tools, 'tool')}, {server.tokens:,} tokens"
        print_text(f"  ok     {name:<14} {tools}, {server.seconds:.2f} s")
    elif server.status == "off":
        print_text(f"  off    {name}")
    else:
        print_text(f"  wrong  {name:<14} {server.problem or ''}")
        for line in server.last_words:
            print_text(f"         {'':<14} | {line}")
        if server.fix:
            print_text(f"         {'':<14} Try: {redact_text(server.fix)}")


def _servers() -> dict[str, str | None]:
    """The installed servers, and what each lacks."""
    missing = {name: targets.missing_libraries(name) for name in targets.installed()}
    return {name: None if reason is None else str(reason) for name, reason in missing.items()}


def _not_configured(checks: Sequence[FileCheck], places: Places) -> list[str]:
    """The clients that are installed and have no servers."""
    busy = {check.file.client.name for check in checks if check.servers or check.problem}
    return [client.name for client in CLIENTS if client.name not in busy and client.is_installed(places)]


def _result(checks: Sequence[FileCheck], others: Sequence[str]) -> dict[str, Any]:
    return {
        "version": version("toolcharter"),
        "python": platform.python_version(),
        "environment": sys.prefix,
        "servers": [{"name": name, "problem": problem} for name, problem in _servers().items()],
        "clients": [_client(check) for check in checks],
        "withoutServers": list(others),
        "ok": all(check.is_ok for check in checks),
    }


def _client(check: FileCheck) -> dict[str, Any]:
    file: ClientFile = check.file
    return {
        "name": file.client.name,
        "file": str(Path(file.path)),
        "problem": check.problem,
        "servers": [_server(server) for server in check.servers],
    }


def _server(check: ServerCheck) -> dict[str, Any]:
    """Without the variables and the token, which are secrets."""
    how = (
        {"url": check.entry.url}
        if check.entry.url
        else {"command": [redact_text(word) for word in check.entry.command]}
    )
    figures = {"tools": check.tools, "tokens": check.tokens, "seconds": round(check.seconds, 3)}
    fix = None if check.fix is None else redact_text(check.fix)
    failure = {"problem": check.problem, "fix": fix, "lastWords": list(check.last_words)}
    more = {"ok": figures, "failed": failure, "off": {}}[check.status]
    return {"name": check.entry.name, **how, "status": check.status, **more}
