"""Compare the tools of two servers, or of a lock file and a server, and find the changes that break users.

The exit code is 1 if a change breaks users.
"""

import argparse
import os

from mcp_core.foreign.terminal import print_data
from mcp_core.process.interrupt import run_interruptible
from toolcharter.commands import UsageError, connection, lock
from toolcharter.contract import report
from toolcharter.contract.lock import Lock

BREAKING = 1
FORMATS = {"json": report.to_json, "markdown": report.to_markdown}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s [options] OLD NEW\n       %(prog)s [options] OLD -- COMMAND ..."
    parser.add_argument("old", metavar="OLD", help=f"a lock file, {connection.SERVER.partition(', or a command')[0]}")
    parser.add_argument("new", nargs="?", metavar="NEW", help="the same, or a command that serves: -- COMMAND ...")
    parser.add_argument("--format", choices=sorted(FORMATS), help="default: a table, or plain lines in a pipe")
    connection.add_remote_options(parser)
    connection.add_settings(parser, is_for_calls=False)


def run(options: argparse.Namespace) -> int:
    """Compare, and print the changes."""
    if (options.new is None) == (not options.command):
        raise UsageError("Give OLD and NEW, or OLD and a command: toolcharter diff OLD -- COMMAND ...")
    old, new = run_interruptible(_read_both(options))
    changes = lock.compare(old, new)
    if options.format:
        print_data(FORMATS[options.format](changes) + "\n")
    else:
        lock.print_changes(changes)
    return BREAKING if any(change.is_breaking for change in changes) else os.EX_OK


async def _read_both(options: argparse.Namespace) -> tuple[Lock, Lock]:
    return await lock.read(options.old, options), await lock.read(options.new, options)
