"""Servers that speak MCP, for commands: started by a command, at an address, or as an object of an MCP library."""

import argparse
import shutil
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from toolcharter.commands import CannotRun, UsageError
from toolcharter.commands.interface import ServerConnection, is_address, token_of
from toolcharter.commands.questions import DECLINED, AnswersOnTerminal


@asynccontextmanager
async def open_remote(
    server: str, options: argparse.Namespace, loaded: Any = None, *, attended: bool
) -> AsyncGenerator[ServerConnection]:
    """Connect to a command, to an address, or to a server object of an MCP library."""
    # `from toolcharter import` would load the public names, and with them the framework.
    from toolcharter.remote import client  # noqa: PLC0415 - 900 ms, not for our own servers

    elicit = _decline if not attended else AnswersOnTerminal() if sys.stdin.isatty() else None
    limit: float | None = options.timeout
    timeouts = client.DEFAULT_TIMEOUTS if limit is None else client.Timeouts(limit, limit)
    if options.command:
        program: str = options.command[0]
        if shutil.which(program) is None:
            raise UsageError(f"The command {program!r} was not found.")
        remote = client.start(options.command, elicit, timeouts, follow_tasks=attended, show_log=attended)
    elif is_address(server):
        remote = client.connect(server, token_of(options), elicit, timeouts, follow_tasks=attended)
    else:
        remote = client.open_object(loaded, server, elicit, timeouts, follow_tasks=attended)
    try:
        async with remote as connection:
            yield connection
    except client.ServerUnreachable as error:
        raise CannotRun(str(error)) from None


async def _decline(params: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG001 - whatever is asked
    """Decline a question, where nobody is there to answer it."""
    return DECLINED
