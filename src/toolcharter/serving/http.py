"""Serves a site over HTTP until a signal: opens the apps, drains at the end, and reports to systemd."""

import asyncio
import gc
import logging
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from types import FrameType
from typing import Any

import uvicorn

from mcp_core.app import App
from mcp_core.foreign.terminal import print_text
from mcp_core.hosts.loop_watchdog import watching
from mcp_core.mcp_log import get_logger
from mcp_core.process.interrupt import INTERRUPTED, drain_notice, exit_after
from mcp_core.process.start_errors import InvalidSetting
from mcp_core.settings.model import Settings
from toolcharter.serving.connections import LimitedConnection, raise_file_limit
from toolcharter.serving.control import WorkerPlace, worker_place
from toolcharter.serving.listener import base_url, is_local, listen, tls_options
from toolcharter.serving.notify import notify, notify_reloading, watchdog_seconds
from toolcharter.serving.server import MakeConsole, Site, uvicorn_options
from toolcharter.serving.supervisor import Supervisor
from toolcharter.serving.terminal import terminal_text
from toolcharter.serving.worker import WorkerLink

logger = get_logger(__name__)

DRAIN_SECONDS = 8.0
"""How long running calls may go on after a signal to stop, by default. Docker kills a process after ten seconds."""
_ANSWER_SECONDS = 1.0
"""How long calls that are stopped then may take to answer."""
_EXIT_SECONDS = 4.0
"""How long a process may take to end after that, before it is ended by force."""
_IDLE_SECONDS = 2.0
"""How long a worker that is replaced waits for one more request on each connection."""
_POLL_SECONDS = 0.02
_CLOSE = (b"connection", b"close")
_STREAM_METHOD = (b"mcp-method", b"subscriptions/listen")
_STREAM_TYPE = (b"accept", b"text/event-stream")
"""The header of a browser for a stream of events of the console."""


def serve_http(
    apps: Sequence[App],
    settings: Settings,
    console: MakeConsole | None = None,
    changes: AsyncIterator[str] | None = None,
) -> None:
    """Serve until a signal stops the process: in this process, in several workers, or as one of them.

    With `changes`, such as of files, workers serve, which are replaced at each of them.
    """
    place = worker_place()
    if place is not None:
        _serve_as_worker(apps, settings, place, console)
        return
    _refuse_open_server(apps, settings)
    _refuse_unshared_workers(settings)
    tls_options(settings)
    with listen(settings) as listener:
        url = base_url(settings, listener)

        def announce() -> None:
            has_console = console is not None and not settings.no_console
            print_text(
                terminal_text(apps, url, settings.unix_socket, has_console=has_console), file=sys.stderr, flush=True
            )

        try:
            if settings.workers > 1 or changes is not None:
                interrupted = _serve_in_workers(settings, listener, announce, changes)
            else:
                interrupted = _serve_alone(apps, settings, listener, announce, console)
        finally:
            if settings.unix_socket is not None:
                settings.unix_socket.unlink(missing_ok=True)
    if interrupted:
        raise KeyboardInterrupt


Announce = Callable[[], None]
"""Prints the addresses, when everything is open."""


def _serve_alone(
    apps: Sequence[App], settings: Settings, listener: socket.socket, announce: Announce, console: MakeConsole | None
) -> bool:
    """Serve in this process; returns whether Ctrl+C ended it."""

    def on_open() -> None:
        announce()
        notify("READY=1")

    site = Site(apps, base_url(settings, listener), on_open, console=console)
    server = HttpServer(site, apps, settings)
    server.run(sockets=[listener])
    return server.interrupted


def _serve_in_workers(
    settings: Settings, listener: socket.socket, announce: Announce, changes: AsyncIterator[str] | None
) -> bool:
    """Serve in other processes; returns whether Ctrl+C ended it. The apps here are only shown, never opened."""
    supervisor = Supervisor(listener, settings.workers, drain_seconds(settings), announce, changes)
    code = asyncio.run(supervisor.run())
    if code:
        raise SystemExit(code)
    return supervisor.interrupted


def _serve_as_worker(apps: Sequence[App], settings: Settings, place: WorkerPlace, console: MakeConsole | None) -> None:
    link = WorkerLink(place, lambda: site.metrics())  # noqa: PLW0108 - the site is made with the link
    site = Site(apps, base_url(settings, place.listener), metrics=link.all_metrics, console=console)
    server = HttpServer(site, apps, settings, link)
    server.run(sockets=[place.listener])


def _tune_garbage_collection() -> None:
    """Look for garbage less often than Python does: a call leaves none, and to look would take a tenth of its time.

    What exists now stays until the end, and is left out.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def drain_seconds(settings: Settings) -> float:
    """How long running calls may go on after a signal to stop."""
    return DRAIN_SECONDS if settings.drain_seconds is None else settings.drain_seconds


class HttpServer(uvicorn.Server):
    """Opens the apps itself, as uvicorn would log why they cannot start, and exit with a code of its own.

    The first signal lets calls finish for a while; the second ends them at once. What is ended is answered.
    """

    interrupted = False

    def __init__(self, site: Site, apps: Sequence[App], settings: Settings, link: WorkerLink | None = None) -> None:
        """`link` leads to the supervisor, in a worker."""
        super().__init__(_config(site, settings))
        self._site, self._apps, self._link, self._stack = site, apps, link, AsyncExitStack()
        self._settings, self._drain_seconds = settings, drain_seconds(settings)
        self._retiring = self._signalled = False
        self._at_once = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    # --- signals ---------------------------------------------------------------------------------------

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handle signals. uvicorn would raise them again at the end, and the process would end with their code."""
        self._loop = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGTERM, signal.SIGINT)}
        if sys.platform != "win32":
            previous[signal.SIGHUP] = signal.getsignal(signal.SIGHUP)
            if self._link is not None:  # workers are replaced on SIGHUP; only their supervisor takes it
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            elif previous[signal.SIGHUP] is not signal.SIG_IGN:  # as it is after nohup
                signal.signal(signal.SIGHUP, self.handle_reload)
        try:
            yield
        finally:
            for sig, handler in previous.items():
                signal.signal(sig, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal. If a handler blocks the event loop, a thread ends the process later."""
        self._signalled, self.interrupted = True, self.interrupted or sig == signal.SIGINT
        if self.should_exit and self._loop is not None:
            self._loop.call_soon_threadsafe(self._at_once.set)
            exit_after(_ANSWER_SECONDS + _EXIT_SECONDS, 128 + sig)
        else:
            self.should_exit = True
            exit_after(self._drain_seconds + _ANSWER_SECONDS + _EXIT_SECONDS, 128 + sig)

    def handle_reload(self, sig: int, frame: FrameType | None) -> None:
        """Take SIGHUP."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._reload)

    def _reload(self) -> None:
        """Read the files of the apps and the certificate again. What is not valid is logged, and the old stays."""
        notify_reloading()
        for app in self._apps:
            app.reload()
        try:
            if self.config.ssl is not None and self._settings.tls_cert is not None:
                tls_options(self._settings)
                self.config.ssl.load_cert_chain(self._settings.tls_cert, self._settings.tls_key)
        except InvalidSetting as error:
            logger.error("%s The old certificate stays in use.", error)
        logger.info("Configuration files were read again.")
        notify("READY=1")

    # --- start and end ---------------------------------------------------------------------------------

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the apps, then listen."""
        self._stack.enter_context(watching(asyncio.get_running_loop()))
        await self._stack.enter_async_context(self._site.open())
        await super().startup(sockets)
        _tune_garbage_collection()
        raise_file_limit(self._settings.max_connections)
        if self._link is not None:
            self._site.phase = "starting"  # until all workers are open
            await self._link.open(serve=self._set_serving, retire=self._retire, stop=self._stop)

    def _set_serving(self) -> None:
        if not self.should_exit:
            self._site.phase = "serving"

    def _retire(self) -> None:
        self._retiring = self.should_exit = True

    def _stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, then close everything. The listener is open until then, so that new requests get an answer."""
        # uvicorn logs each call that it ends, with its stack.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        if self._retiring:
            await self._hand_over(sockets)
        else:
            notify("STOPPING=1")
        self._site.stop()
        self._close_after_responses()
        await self._drain()
        for listener in (*self.servers, *(sockets or ())):
            listener.close()
        await self._close_connections()
        if self._link is not None:
            await self._link.close()
        await self._stack.aclose()
        if self._signalled or self._link is not None:
            # Everything is answered and stored. Python would wait for threads that cannot be stopped.
            exit_after(_EXIT_SECONDS, INTERRUPTED if self.interrupted else 0)

    async def _hand_over(self, sockets: list[socket.socket] | None) -> None:
        """Leave new connections to the successor. Each open connection gets one more answer, and is closed with it.

        Nothing is refused. A connection without a request for a while is closed: clients expect that of an idle one.
        """
        for listener in (*self.servers, *(sockets or ())):
            listener.close()
        self._site.calls.closing = True
        self.server_state.default_headers = [*self.server_state.default_headers, _CLOSE]
        self._close_after_responses()
        await self._wait_until_closed(min(_IDLE_SECONDS, self._drain_seconds))
        for connection in self._connections():
            connection.shutdown()

    async def _wait_until_closed(self, seconds: float) -> None:
        """Wait until no connection is open."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.server_state.connections:  # noqa: ASYNC110 - uvicorn has no event for it
                    await asyncio.sleep(_POLL_SECONDS)

    def _close_after_responses(self) -> None:
        """Close each connection with its response, and streams, which never end, at once."""
        for connection in self._connections():
            if _is_stream(connection):
                connection.transport.close()
            elif connection.responding:
                connection.shutdown()

    async def _drain(self) -> None:
        for _ in range(2):
            await asyncio.sleep(0)  # so that calls that have arrived have begun: their tasks, then their first steps
        calls = {task for task in self.server_state.tasks if not task.done()}
        if running := self._site.calls.running:
            print_text(drain_notice(running, self._drain_seconds), end="", file=sys.stderr, flush=True)
        calls = await self._wait_for(calls, self._drain_seconds)
        if calls:
            for app in self._apps:
                app.stop_calls()
            calls = await _wait(calls, _ANSWER_SECONDS)
        for call in calls:
            call.cancel()
        await _wait(calls, _ANSWER_SECONDS)

    async def _wait_for(self, calls: set[asyncio.Task[None]], seconds: float) -> set[asyncio.Task[None]]:
        """Wait for calls until a second signal; returns those that still run."""
        at_once = asyncio.ensure_future(self._at_once.wait())
        everything = asyncio.ensure_future(_wait(calls, seconds))
        await asyncio.wait({at_once, everything}, return_when=asyncio.FIRST_COMPLETED)
        at_once.cancel()
        everything.cancel()
        return {call for call in calls if not call.done()}

    async def _close_connections(self) -> None:
        """Close what is idle, and wait a moment until the last responses are sent."""
        for connection in self._connections():
            connection.shutdown()
        await self._wait_until_closed(_ANSWER_SECONDS)
        for connection in self._connections():
            connection.transport.abort()

    def _connections(self) -> list[Any]:
        return list(self.server_state.connections)


def _is_stream(connection: LimitedConnection) -> bool:
    """Whether the client waits for notifications, not for the answer to a call."""
    scope = connection.scope_in_progress
    if scope is None:
        return False
    if scope["method"] == "GET":
        return scope["path"].endswith("/mcp") or _STREAM_TYPE in scope["headers"]
    return _STREAM_METHOD in scope["headers"]


async def _wait(tasks: Iterable[asyncio.Task[None]], seconds: float) -> set[asyncio.Task[None]]:
    """Wait for tasks; returns those that still run."""
    waited = set(tasks)
    return (await asyncio.wait(waited, timeout=seconds))[1] if waited else waited


def _config(site: Site, settings: Settings) -> uvicorn.Config:
    options = uvicorn_options(site) | tls_options(settings)
    if (seconds := watchdog_seconds()) is not None:

        async def feed_watchdog() -> None:
            notify("WATCHDOG=1")

        options |= {"callback_notify": feed_watchdog, "timeout_notify": seconds}
    return uvicorn.Config(site, lifespan="off", **options)


def _refuse_unshared_workers(settings: Settings) -> None:
    """Workers that share nothing would multiply each rate limit, and reject each other's confirmations."""
    if settings.workers > 1 and sys.platform == "win32":
        raise InvalidSetting("--workers is not available on Windows. Start several servers behind a proxy instead.")
    if settings.workers > 1 and settings.redis is None:
        raise InvalidSetting(
            f"--workers {settings.workers} needs --redis: without it, each worker would count rate limits on its own, "
            "and would not know the confirmations and sessions of the others.\n"
            "Start Redis and add --redis redis://127.0.0.1:6379/0, or serve with --workers 1."
        )


def _refuse_open_server(apps: Sequence[App], settings: Settings) -> None:
    """A server must not give everyone on the network every permission by accident."""
    if is_local(settings) or settings.grants is not None or all(app.verifier for app in apps):
        return
    raise InvalidSetting(
        f"Refusing to listen on {settings.host}: anyone who reaches it could call every tool.\n"
        "Give --tokens FILE to let in only callers with a token, or --grants to say what everyone may do."
    )
