"""Serves an app to one client over stdin and stdout, until the input ends or a signal comes."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from types import FrameType

from mcp_core.app import App
from mcp_core.foreign.terminal import print_text
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.fast_path.opening import Opening, open_in_background
from mcp_core.hosts.fast_path.pipe import Output, claim_stdio, is_pipe, open_lines, open_output
from mcp_core.hosts.fast_path.stdio_connection import StdioConnection
from mcp_core.hosts.loop_watchdog import watching
from mcp_core.process.interrupt import drain_notice, exit_after
from mcp_core.process.start_errors import CannotStart, DeclarationError

_EXIT_SECONDS = 4.0
"""How long a process may take to end after its calls have ended, before it is ended by force."""
_WATCH_PAUSE_SECONDS = 0.5
"""A process for one client is idle most of the time, and need not be woken often."""


class StopSignals:
    """The first SIGTERM lets calls finish, the second ends them."""

    def __init__(self) -> None:
        self.first, self.second = asyncio.Event(), asyncio.Event()
        self.seconds_left = _EXIT_SECONDS
        """How long the process may take to end after the first signal."""

    def receive(self) -> None:
        """Take a signal."""
        (self.second if self.first.is_set() else self.first).set()


def _handle_stop_signals(signals: StopSignals) -> None:
    """Take SIGTERM also while a handler holds the event loop: the process is ended by force then."""

    def stop(sig: int, _: FrameType | None) -> None:
        exit_after(signals.seconds_left, 128 + sig)

    # The event loop is woken for a handler of its own only; Python's runs at once.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, signals.receive)
    signal.signal(signal.SIGTERM, stop)


async def serve_stdio(app: App) -> None:
    """Serve over stdin and stdout until the input ends, the client closes the output, or SIGTERM."""
    failure = StartFailure()
    try:
        await _serve_app(app, failure)
    except (CannotStart, DeclarationError) as error:
        if not failure.is_reported:
            raise
        raise SystemExit(getattr(error, "exit_code", 1)) from None


class StartFailure:
    """Whether stderr has the reason why the app cannot be opened."""

    is_reported = False


async def _serve_app(app: App, failure: StartFailure) -> None:
    source, sink = claim_stdio()
    has_client = is_pipe(source)
    signals = StopSignals()
    # A thread that reads a terminal cannot be woken, so there SIGTERM ends the process.
    if sys.platform != "win32" and has_client:
        _handle_stop_signals(signals)
    lines, output = await open_lines(source), await open_output(sink)
    async with open_in_background(app) as opening:
        connection = StdioConnection(FastPath(app, opening), output.write, output.drain)
        signals.seconds_left = connection.drain_seconds + _EXIT_SECONDS
        serving = asyncio.ensure_future(_serve(connection, lines, output, signals))
        output_closed = asyncio.ensure_future(output.wait_closed())
        failed = asyncio.ensure_future(_report_failure(opening, failure, has_client=has_client))
        try:
            with watching(asyncio.get_running_loop(), _WATCH_PAUSE_SECONDS):
                await asyncio.wait({serving, output_closed, failed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (serving, output_closed, failed):
                task.cancel()
            await asyncio.gather(serving, output_closed, failed, return_exceptions=True)
            await connection.close()
        if not serving.cancelled():
            serving.result()


async def _report_failure(opening: Opening, failure: StartFailure, *, has_client: bool) -> None:
    """Return if the app cannot be opened. A client gets the reason in answer to its requests, until it leaves."""
    await opening.failed.wait()
    if has_client:
        print_text(opening.reason, file=sys.stderr, flush=True)
        failure.is_reported = True
        await asyncio.Event().wait()


async def _serve(
    connection: StdioConnection, lines: AsyncIterator[bytes], output: Output, signals: StopSignals
) -> None:
    reading = asyncio.ensure_future(_read(connection, lines, output))
    stopped = asyncio.ensure_future(signals.first.wait())
    try:
        with suppress(ConnectionError):  # the client has closed the output
            await asyncio.wait({reading, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            connection.refuse_requests()
            if signals.first.is_set() and connection.running:
                print_text(
                    drain_notice(connection.running, connection.drain_seconds), end="", file=sys.stderr, flush=True
                )
            await connection.finish(signals.second)
            await output.drain()
            output.close()
            await output.wait_closed()  # returns when the client has read everything
    finally:
        reading.cancel()
        stopped.cancel()
        await asyncio.gather(reading, stopped, return_exceptions=True)


async def _read(connection: StdioConnection, lines: AsyncIterator[bytes], output: Output) -> None:
    async for line in lines:
        await connection.receive(line)
        await output.drain()
