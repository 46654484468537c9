"""Compare what two servers, or a lock and a server, show of their tools, and say which changes break whom.

The exit code is 0 when nothing is breaking, 1 when something is, 2 when it could not run.
"""

import argparse
import asyncio
import os

from mcp_core.settings import add_options
from toolcharter.commands import CannotRun, connection, lock
from toolcharter.contract import report
from toolcharter.contract.lock import Lock

BREAKING = 1
FORMATS = {"json": report.as_json, "markdown": report.as_markdown}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("old", metavar="OLD", help=f"a lock file, {connection.SERVER.partition(', or a command')[0]}")
    parser.add_argument("new", nargs="?", metavar="NEW", help="the same, or a command that serves: -- COMMAND ...")
    parser.add_argument("--format", choices=sorted(FORMATS), help="default: a table, or plain lines in a pipe")
    parser.add_argument("--token", help="bearer token for a server at an address [TOOLCHARTER_TOKEN]")
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Compare and show."""
    if (options.new is None) == (not options.command):
        raise CannotRun("Which two? Give OLD and NEW, or OLD and a command: toolcharter diff OLD -- COMMAND ...")
    old, new = asyncio.run(_read(options))
    changes = lock.compared(old, new)
    if options.format:
        print(FORMATS[options.format](changes))
    else:
        lock.show(changes)
    return BREAKING if any(change.breaks for change in changes) else os.EX_OK


async def _read(options: argparse.Namespace) -> tuple[Lock, Lock]:
    return await lock.read(options.old, options), await lock.read(options.new, options)
