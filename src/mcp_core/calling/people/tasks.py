"""Calls that outlive their request: the client has a task, asks for its status, answers its questions, cancels it.

A call becomes a task while it runs: at once, or when it has taken a while. The task is stored before the client gets
it. The process that runs the call keeps its newest state, and stores what changed; other processes read the store, and
announce what is for that process: a cancellation, an answer. If that process ends, it no longer renews the task, and
everyone else finds that the outcome is not known.
"""

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from mcp_core.calling.people import outcomes
from mcp_core.calling.records import Request
from mcp_core.calling.threads import StillRuns
from mcp_core.errors import Busy, ToolError, Unavailable
from mcp_core.mcp_log import get_logger
from mcp_core.state.interface import State, StateUnavailable
from mcp_core.tasks.record import Status, TaskRecord, TaskStore

logger = get_logger(__name__)

MAX_RUNNING, MAX_RUNNING_EACH = 1000, 20
"""How many tasks may run at a process, in all and of one caller."""
MAX_KEPT_EACH = 200
"""How many tasks of one caller are kept, with those that have ended."""
RENEW_SECONDS = 5.0
"""How often a process stores the progress of its tasks, and that it still runs them."""
ALIVE_SECONDS = 20.0
"""After so long without that, the process is taken to have ended."""
MAX_MESSAGE_LENGTH = 500
_PROGRESS_SECONDS = 1.0
"""How often clients that listen are notified of progress, at most."""
_KIND = "task"

LOST = "The server was restarted while this ran: its outcome is unknown. Check what was done before calling it again."
STILL_RUNS = "Cancelled, but it cannot be stopped and still runs: its outcome is unknown."
STOPPED = "The server was stopped while this ran: its outcome is unknown. Check what was done before calling it again."


class TaskLimits(NamedTuple):
    """How long tasks may run, and how long they are kept, in seconds."""

    run: float
    keep: float


class AskingCall(Protocol):
    """A call that runs here, and may ask the person."""

    request: Request
    reported: tuple[float, float | None, str | None] | None
    """The last report of progress."""

    @property
    def questions(self) -> Mapping[str, Mapping[str, Any]]:
        """The questions that wait for an answer, by name."""
        ...

    def answer(self, responses: Mapping[str, Any]) -> None:
        """Give answers of the person."""
        ...


class RunningTask:
    """A task that runs here."""

    def __init__(self, record: TaskRecord, call: AskingCall, tasks: "Tasks") -> None:
        self.record, self.call, self._tasks = record, call, tasks
        self.handler: asyncio.Future[Any] | None = None
        self._reported = 0.0

    def change(self, status: Status, message: str | None = None, **fields: Any) -> None:
        """Note a new status."""
        record = self.record._replace(status=status, updated=self._tasks.clock(), **fields)
        self.record = record if message is None else record._replace(message=message[:MAX_MESSAGE_LENGTH])

    def asks(self) -> None:
        """Note that the questions to the person are other ones now."""
        if self.record.is_over:
            return
        questions = dict(self.call.questions)
        self.change("input_required" if questions else "working", questions=questions or None)
        self._tasks.has_changed(self)

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Note progress. It is stored with the next renewal."""
        if self.record.is_over:
            return
        self.change(self.record.status, message or _amount(done, total), progress=(done, total))
        now = self._tasks.clock()
        if now - self._reported >= _PROGRESS_SECONDS:
            self._reported = now
            self._tasks.changed(self.record.id)

    def end(self, handler: "asyncio.Future[Any]") -> None:
        """Note how the handler ended."""
        if self.record.is_over:
            return
        try:
            error = handler.exception()
        except asyncio.CancelledError as cancelled:
            self.change("cancelled", STILL_RUNS if isinstance(cancelled, StillRuns) else "Cancelled.", questions=None)
        else:
            outcome = outcomes.to_text(handler.result() if error is None else error)
            status: Status = "completed" if error is None else "failed"
            self.change(status, None if error is None else str(error), questions=None, outcome=outcome)
        self._tasks.has_changed(self)


class Tasks:
    """The tasks of one app."""

    def __init__(
        self,
        state: State,
        open_store: Callable[[], Awaitable[TaskStore]],
        limits: TaskLimits,
        changed: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`changed` is called with the id of a task, wherever it runs, when its status is another one."""
        self._state, self._open_store, self.limits, self.changed, self.clock = state, open_store, limits, changed, clock
        self._owner = secrets.token_urlsafe(12)
        self._store: TaskStore | None = None
        self._lock = asyncio.Lock()
        self._is_listening = False
        self._running: dict[str, RunningTask] = {}
        """Those that run here, and those that have ended and are not yet stored."""
        self._saving: set[asyncio.Task[None]] = set()
        """The tasks that store changes, or open the store."""
        self._renewing: asyncio.Task[None] | None = None

    # --- the process that runs a task ------------------------------------------------------------------

    def prepare(self) -> None:
        """Open the store, while a call that may become a task begins."""
        if self._store is None and not self._lock.locked():
            opening = asyncio.ensure_future(self._try_to_open())
            self._saving.add(opening)
            opening.add_done_callback(self._saving.discard)

    async def _try_to_open(self) -> None:
        with suppress(Exception):  # whoever needs the store tries again, and reports it
            await self._opened()

    async def create(self, call: AskingCall) -> RunningTask:
        """A new task for a call, which is stored. Raises Busy or Unavailable."""
        request, now = call.request, self.clock()
        binding = bind(request)
        own = sum(one.record.binding == binding for one in self._running.values())
        if len(self._running) >= MAX_RUNNING or own >= MAX_RUNNING_EACH:
            raise Busy("Too many tasks run.", instruction=_WAIT)
        number = secrets.token_urlsafe(24)
        record = TaskRecord(
            number, binding, request.tool, now, now, now + self.limits.keep, self._owner, now + ALIVE_SECONDS
        )
        task = self._running[number] = RunningTask(record, call, self)
        try:
            await self._listen()
            if not await (await self._opened()).create(record, MAX_KEPT_EACH):
                raise Busy("Too many tasks of yours are kept.", instruction=_WAIT)
        except BaseException as error:
            del self._running[number]
            if isinstance(error, ToolError) or not isinstance(error, Exception):
                raise
            logger.error("A task of %s cannot be stored: %s", request.tool, error)
            raise Unavailable("The task cannot be stored right now. Nothing was done.") from error
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.ensure_future(self._renew())
        return task

    def follow(self, task: RunningTask, handler: "asyncio.Future[Any]") -> None:
        """Note how the call ends, whenever that is."""
        task.handler = handler
        if task.call.reported is not None:
            task.report(*task.call.reported)
        if task.call.questions:
            task.asks()
        handler.add_done_callback(task.end)

    def drop(self, task: RunningTask) -> None:
        """Forget a task whose id its client never got."""
        task.change("cancelled", "Cancelled.")
        self._save_soon(task)

    def has_changed(self, task: RunningTask) -> None:
        """Store a change, and notify who listens."""
        self.changed(task.record.id)
        self._save_soon(task)

    def _save_soon(self, task: RunningTask) -> None:
        saving = asyncio.ensure_future(self._save([task]))
        self._saving.add(saving)
        saving.add_done_callback(self._saving.discard)

    async def _save(self, tasks: Sequence[RunningTask]) -> None:
        """Store the records of tasks. One that is over and was stored is forgotten here."""
        until = self.clock() + ALIVE_SECONDS
        for task in tasks:
            task.record = task.record._replace(alive_until=until)
        records = [task.record for task in tasks]
        try:
            await (await self._opened()).save(records)
        except (ToolError, StateUnavailable) as error:
            logger.warning("The state of %d tasks cannot be stored now: %s", len(tasks), error)
            return
        for record in records:
            if record.is_over:
                self._running.pop(record.id, None)
        with suppress(StateUnavailable):
            for record in records:
                await self._announce(record.id, "changed")

    async def _renew(self) -> None:
        """Store from time to time what runs here, also what could not be stored before."""
        while self._running:
            await asyncio.sleep(RENEW_SECONDS)
            if self._running:
                await self._save(list(self._running.values()))

    async def _opened(self) -> TaskStore:
        if self._store is None:
            async with self._lock:
                self._store = self._store or await self._open_store()
        return self._store

    async def close(self) -> None:
        """Stop what runs here, and note that it was stopped."""
        if self._renewing is not None:
            self._renewing.cancel()
        running = [task for task in self._running.values() if not task.record.is_over]
        for task in running:
            task.change("failed", STOPPED, questions=None)
            if task.handler is not None:
                task.handler.cancel()
        await asyncio.gather(*(task.handler for task in running if task.handler is not None), return_exceptions=True)
        if self._running:
            await self._save(list(self._running.values()))
        await asyncio.gather(*self._saving, return_exceptions=True)
        if self._store is not None:
            await self._store.close()

    # --- what clients ask ------------------------------------------------------------------------------

    async def find(self, task_id: str, request: Request) -> TaskRecord | None:
        """A task of whoever sends a request. None if it does not exist, has expired, or belongs to somebody else."""
        here = self._running.get(task_id)
        record = here.record if here is not None else await (await self._opened()).find(task_id)
        if record is None or not secrets.compare_digest(record.binding, bind(request)):
            return None
        if here is None and not record.is_over and record.alive_until < self.clock():
            return record._replace(status="failed", message=LOST, updated=record.alive_until, questions=None)
        return record

    async def answer(self, record: TaskRecord, responses: Mapping[str, Any]) -> None:
        """Give answers to the questions of a task."""
        if responses and not self._take(record.id, "answer", responses):
            await self._announce(record.id, "answer", dict(responses))

    async def cancel(self, record: TaskRecord) -> None:
        """Cancel a task, wherever it runs."""
        if not record.is_over and not self._take(record.id, "cancel"):
            await self._announce(record.id, "cancel")

    # --- other processes -------------------------------------------------------------------------------

    async def listen(self) -> None:
        """Receive changes of tasks that run elsewhere from now on."""
        with suppress(StateUnavailable):
            await self._listen()

    async def _listen(self) -> None:
        if not self._is_listening:
            self._is_listening = True
            try:
                await self._state.listen(self._receive)
            except StateUnavailable:
                self._is_listening = False
                raise

    async def _announce(self, task_id: str, verb: str, body: Any = None) -> None:
        await self._state.announce(json.dumps([_KIND, task_id, verb, [self._owner, body]]))

    def _receive(self, text: str) -> None:
        kind, *rest = json.loads(text)
        if kind != _KIND:
            return
        task_id, verb, (sender, body) = rest
        if sender != self._owner:
            self._take(task_id, verb, body)

    def _take(self, task_id: str, verb: str, body: Any = None) -> bool:
        """Act on what was said about a task. False if it does not run here."""
        if verb == "changed":
            self.changed(task_id)
            return True
        task = self._running.get(task_id)
        if task is None or task.record.is_over:
            return task is not None
        if verb == "answer":
            task.call.answer(body)
            task.asks()
        elif task.handler is not None:
            task.handler.cancel()
        return True


_WAIT = "Wait until one of them has ended or expired, or cancel one. Then call this tool again."


def bind(request: Request) -> str:
    """A digest of a caller, and of the headers that may be their credentials for another system."""
    parts = [request.caller.key, sorted(request.headers.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _amount(done: float, total: float | None) -> str:
    return f"{done:g}" if total is None else f"{done:g} of {total:g}"
