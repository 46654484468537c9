"""Several worker processes on one listener: started, restarted when they die, replaced one by one on SIGHUP.

All workers accept from the same listener, which the supervisor keeps open: a worker that dies or is replaced takes no
connection with it that is still waiting. docs/adr/0024 has the measurements behind this.
"""

import asyncio
import os
import signal
import socket
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from typing import Any

from mcp_core.foreign.terminal import print_text
from mcp_core.logs.telemetry import HTTP_SERVER, WORKER_RESTARTS, WORKERS, Sample, prometheus_sample
from mcp_core.mcp_log import get_logger
from toolcharter.serving.control import VARIABLE, Channel
from toolcharter.serving.notify import notify, notify_reloading, watchdog_seconds
from toolcharter.serving.worker_metrics import WorkerMetrics

logger = get_logger(__name__)

OPEN_SECONDS = 60.0
"""How long the new worker of a rolling restart may take to open."""
METRICS_SECONDS = 1.0
"""How long workers may take to send their metrics. If one is late, its previous metrics are used."""
KILL_SECONDS = 10.0
"""How much longer than the drain a worker may take to end, before it is killed."""
CHECK_SECONDS, HUNG_SECONDS = 2.0, 12.0
"""How often workers are asked whether they are alive, and after how long without an answer one is killed."""
FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS = 0.1, 30.0
"""In seconds: how long the supervisor waits before it starts a worker again. Each death in a row doubles it."""
STABLE_SECONDS = 30.0
"""After a worker has run for this long, its deaths are counted from zero again."""
_FOR_SYSTEMD = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")


class _Worker:
    """A worker process and its state."""

    def __init__(self, number: int, process: Process, channel: Channel) -> None:
        self.number, self.process, self.channel = number, process, channel
        self.is_open, self.is_ending = False, False
        self.opened, self.ended = asyncio.Event(), asyncio.Event()
        self.started_at = self.alive_at = self.opened_at = time.monotonic()
        self.metrics = ""
        self.metrics_came = asyncio.Event()

    def signal(self, sig: signal.Signals) -> None:
        """Send a signal that ends it. It is not started again then."""
        self.is_ending = True
        with suppress(ProcessLookupError):
            self.process.send_signal(sig)


class Supervisor:
    """Keeps a number of workers running until a signal."""

    def __init__(
        self,
        listener: socket.socket,
        workers: int,
        drain_seconds: float,
        on_open: Callable[[], None],
        changes: AsyncIterator[str] | None = None,
    ) -> None:
        """`on_open` is called when all workers are open for the first time. `changes` are reasons to replace them."""
        self._changes = changes
        self._listener, self._count, self._drain_seconds, self._on_open = listener, workers, drain_seconds, on_open
        self._workers: dict[int, _Worker] = {}
        self._retiring: _Worker | None = None
        self._deaths: dict[int, int] = dict.fromkeys(range(1, workers + 1), 0)
        self._restarts = 0
        self._serving = False
        self._failed_with: int | None = None
        self._metrics = WorkerMetrics()
        self._stop, self._at_once, self._reload = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.interrupted = False

    async def run(self) -> int:
        """Serve until a signal; returns the exit code."""
        loop = asyncio.get_running_loop()
        for sig in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(sig, self._take_signal, sig)
        loop.add_signal_handler(signal.SIGHUP, self._reload.set)
        if await self._start_all():
            self._serving = True
            for worker in self._workers.values():
                worker.channel.send(serve=True)
            self._on_open()
            notify("READY=1")
            self._run_task(self._reload_on_signal())
            if self._changes is not None:
                self._run_task(self._reload_on_changes(self._changes))
            self._run_task(self._check_workers())
            self._run_task(self._feed_watchdog())
        await self._stop.wait()
        notify("STOPPING=1")
        await self._end_all()
        for task in self._tasks:
            task.cancel()
        return self._failed_with or 0

    def _take_signal(self, sig: signal.Signals) -> None:
        self.interrupted = self.interrupted or sig == signal.SIGINT
        (self._at_once if self._stop.is_set() else self._stop).set()

    def _run_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- start -----------------------------------------------------------------------------------------

    async def _start_all(self) -> bool:
        """Start all workers, the first one alone: it migrates the databases. Returns whether all are open."""
        first = self._workers[1] = await self._start(1)
        if not await self._wait_until_open(first):
            return False
        for number in range(2, self._count + 1):
            self._workers[number] = await self._start(number)
        return all([await self._wait_until_open(worker) for worker in tuple(self._workers.values())])

    async def _start(self, number: int) -> _Worker:
        """Start a worker: this program once more, which finds its place in the environment."""
        ours, theirs = socket.socketpair()
        descriptors = (self._listener.fileno(), theirs.fileno())
        environment = {name: value for name, value in os.environ.items() if name not in _FOR_SYSTEMD}
        environment[VARIABLE] = f"{number} {descriptors[0]} {descriptors[1]}"
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *sys.orig_argv[1:],
                env=environment,
                stdin=DEVNULL,
                pass_fds=descriptors,
                process_group=0,  # Ctrl+C at a terminal is for the supervisor alone
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        worker = _Worker(number, process, await Channel.open(ours))
        self._run_task(self._listen_to(worker))
        self._run_task(self._watch(worker))
        return worker

    async def _wait_until_open(self, worker: _Worker, seconds: float | None = None) -> bool:
        events = {asyncio.ensure_future(event.wait()) for event in (worker.opened, worker.ended, self._stop)}
        await asyncio.wait(events, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for event in events:
            event.cancel()
        return worker.is_open and not self._stop.is_set()

    # --- while it runs ---------------------------------------------------------------------------------

    async def _listen_to(self, worker: _Worker) -> None:
        async for message in worker.channel.messages():
            worker.alive_at = time.monotonic()
            if "open" in message:
                worker.is_open, worker.opened_at = True, time.monotonic()
                worker.opened.set()
                if self._serving:
                    worker.channel.send(serve=True)
            elif "metrics" in message:
                worker.metrics = message["metrics"]
                worker.metrics_came.set()
            elif "all" in message:
                self._run_task(self._send_metrics(worker, message["all"]))

    async def _watch(self, worker: _Worker) -> None:
        """Wait for the end of a worker, and start another if that was not expected."""
        code = await worker.process.wait()
        worker.is_open = False
        worker.ended.set()
        worker.channel.close()
        self._metrics.end(worker.metrics)
        if worker.is_ending or self._stop.is_set():
            return
        if not self._serving:
            self._failed_with = code or 1
            self._stop.set()
            return
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        logger.error("Worker %d (process %d) %s. Starting another.", worker.number, worker.process.pid, how)
        self._restarts += 1
        await self._restart(worker)

    async def _restart(self, dead: _Worker) -> None:
        """Start another worker in the place of one that died. If that fails, try again."""
        number = dead.number
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), self._restart_delay(dead))
            if self._stop.is_set() or self._workers[number] is not dead:
                return
            try:
                self._workers[number] = await self._start(number)
            except OSError as error:
                logger.error("Worker %d cannot be started: %s. Trying again.", number, error)
            else:
                return

    def _restart_delay(self, worker: _Worker) -> float:
        if time.monotonic() - worker.started_at >= STABLE_SECONDS:
            self._deaths[worker.number] = 0
        deaths = self._deaths[worker.number]
        self._deaths[worker.number] += 1
        return min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2**deaths)

    async def _reload_on_signal(self) -> None:
        while True:
            await self._reload.wait()
            self._reload.clear()
            notify_reloading()
            problem = await self._replace_all()
            if problem is None:
                logger.info("All %d workers were replaced.", self._count)
            else:
                logger.error("The rolling restart has stopped: %s.", problem)
            notify("READY=1")

    async def _reload_on_changes(self, changes: AsyncIterator[str]) -> None:
        async for change in changes:
            start = time.monotonic()
            problem = await self._replace_all()
            seconds = max(worker.opened_at for worker in self._workers.values()) - start
            done = "The server before it goes on" if problem else f"Reloaded in {seconds:.1f} s"
            print_text(f"{change} has changed. {done}.", file=sys.stderr, flush=True)

    async def _replace_all(self) -> str | None:
        """Replace the workers one by one; returns why that stopped. Each one ends only after its successor is open."""
        for number in range(1, self._count + 1):
            try:
                worker = await self._start(number)
            except OSError as error:
                return f"worker {number} cannot be started: {error}"
            worker.is_ending = True  # until it has taken its place, it is not started again
            if not await self._wait_until_open(worker, OPEN_SECONDS):
                worker.signal(signal.SIGKILL)
                return f"the new worker {number} did not open"
            worker.is_ending = False
            old, self._workers[number] = self._workers[number], worker
            self._retiring = old
            old.is_ending = True
            old.channel.send(retire=True)
            await self._wait_for_end([old], self._drain_seconds + KILL_SECONDS)
        return None

    async def _check_workers(self) -> None:
        """Kill workers that hang: a handler that blocks the event loop blocks all connections of its worker."""
        while True:
            now = time.monotonic()
            for worker in self._workers.values():
                if worker.is_open and now - worker.alive_at > HUNG_SECONDS:
                    logger.error("Worker %d (process %d) hangs, and is killed.", worker.number, worker.process.pid)
                    worker.process.kill()
                elif worker.is_open:
                    worker.channel.send(alive=True)
            await asyncio.sleep(CHECK_SECONDS)

    async def _feed_watchdog(self) -> None:
        seconds = watchdog_seconds()
        while seconds is not None:
            notify("WATCHDOG=1")
            await asyncio.sleep(seconds)

    # --- metrics ---------------------------------------------------------------------------------------

    async def _send_metrics(self, worker: _Worker, request: int) -> None:
        """Send a worker the metrics of all workers."""
        running = [one for one in self._workers.values() if one.is_open]
        for one in running:
            one.metrics_came.clear()
            one.channel.send(metrics=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(METRICS_SECONDS):
                for one in running:
                    await one.metrics_came.wait()
        texts = {one.number: one.metrics for one in self._workers.values() if not one.ended.is_set()}
        worker.channel.send(all=request, text=self._metrics.combine(texts) + self._own_metrics())

    def _own_metrics(self) -> str:
        is_open = sum(worker.is_open for worker in self._workers.values())
        samples = (Sample(WORKERS, (), is_open), Sample(WORKER_RESTARTS, (), self._restarts))
        return "".join(prometheus_sample(HTTP_SERVER, sample) for sample in samples)

    # --- end -------------------------------------------------------------------------------------------

    async def _end_all(self) -> None:
        """Let the workers drain, or end them at once after a second signal; kill what does not end."""
        workers = list(self._workers.values())
        for worker in workers:
            worker.signal(signal.SIGTERM)
        if self._retiring is not None:  # it drains already
            workers.append(self._retiring)
        at_once = asyncio.ensure_future(self._at_once.wait())
        ended = asyncio.ensure_future(self._wait_for_end(workers, self._drain_seconds + KILL_SECONDS))
        await asyncio.wait({at_once, ended}, return_when=asyncio.FIRST_COMPLETED)
        at_once.cancel()
        if not ended.done():
            ended.cancel()
            for worker in workers:
                worker.signal(signal.SIGTERM)
            await self._wait_for_end(workers, KILL_SECONDS)

    async def _wait_for_end(self, workers: list[_Worker], seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for worker in workers:
                    await worker.ended.wait()
        for worker in workers:
            if not worker.ended.is_set():
                logger.error("Worker %d (process %d) does not end, and is killed.", worker.number, worker.process.pid)
                worker.signal(signal.SIGKILL)
                await worker.ended.wait()
