"""Questions that a handler asks the person while it runs: `await context.ask(Form, ...)`.

A client with sessions is asked on its connection, and the call waits. A client without sessions gets the question as
the answer to its call; the handler waits here, and goes on when the client calls again with the person's answer, at
this process or another. What the client keeps meanwhile is a seal that is bound to caller, method, tool and arguments,
expires, and is used once.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeVar, cast

from mcp_core.calling.people import seal
from mcp_core.calling.people.held_elsewhere import HeldElsewhere
from mcp_core.calling.people.tasks import RunningTask, Tasks
from mcp_core.calling.records import Question, Request
from mcp_core.context import Elicit, ReportProgress
from mcp_core.declare.spec import TaskPolicy
from mcp_core.errors import Busy, ConsentRequired, ElicitationUnsupported, ForgedReply, Unavailable
from mcp_core.state.interface import State, StateUnavailable
from mcp_core.tasks.record import TaskRecord

ANSWER_SECONDS = 600.0
"""How long a person has to answer."""
MAX_HELD = 1000
MAX_HELD_EACH = 20
"""How many handlers may wait for answers, in all and of one caller."""
TASK_AFTER_SECONDS = 0.5
"""When a call becomes a task, if its tool leaves that to the server. What ends before is answered at once."""

T = TypeVar("T")
Run = Callable[[Request], Awaitable[T]]


def asker(request: Request, tool: str) -> Elicit:
    """The function with which the handler of a tool asks the person behind a request."""

    async def ask(params: Mapping[str, Any]) -> Mapping[str, Any]:
        mode = str(params.get("mode", "form"))
        if request.elicit is None or mode not in request.modes:
            problem = f"{tool!r} has a question to the user, and this client cannot "
            problem += "open an address for them." if mode == "url" else "ask them."
            advice = " Use a client that supports elicitation."
            if request.must_declare:
                raise ElicitationUnsupported(problem + advice, mode=mode)
            raise ConsentRequired(problem + advice)
        try:
            async with asyncio.timeout(ANSWER_SECONDS if request.task is None else request.task.answer_seconds):
                return await request.elicit(params if request.must_declare else _on_the_wire(params))
        except TimeoutError:
            raise ConsentRequired(f"The user has not answered the question of {tool!r}.") from None

    return ask


class _Held:
    """A call that runs on while its client has only a question of it, or a task."""

    def __init__(
        self, request: Request, binding: str, asking: "_Asking", tasks: Tasks | None, policy: TaskPolicy
    ) -> None:
        self.request, self.caller, self.progress, self._asking = request, request.caller.key, request.progress, asking
        self.binding, self.is_marked = binding, False
        self.tasks, self._policy = tasks, policy
        """The tasks that it may become one of."""
        self.task: RunningTask | None = None
        self.becomes_task = False
        """Whether the task is being stored."""
        self.reported: tuple[float, float | None, str | None] | None = None
        """The last report of progress."""
        self.has_started = asyncio.Event()
        """Set when it is a task before its handler begins."""
        self.pending: dict[str, tuple[Mapping[str, Any], asyncio.Future[Mapping[str, Any]]]] = {}
        self.has_asked = asyncio.Event()
        self._count = 0
        self._used: set[str] = set()

    async def ask(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self._asking.add(self)
        self._count += 1
        key, answer = self._key(params.get("name")), asyncio.get_running_loop().create_future()
        self.pending[key] = (params, answer)
        self.has_asked.set()
        if self.task is not None:
            self.task.asks()
        try:
            return await answer
        finally:
            self.pending.pop(key, None)
            if not self.pending:
                self._asking.remove(self)

    def _key(self, name: str | None) -> str:
        """The name of a question: its own, or a number. Each name is used once."""
        if name is None or name in self._used:
            name = f"{name or 'question'}-{self._count}"
        self._used.add(name)
        return name

    @property
    def questions(self) -> Mapping[str, Mapping[str, Any]]:
        """The questions that wait for an answer, by name."""
        return {key: _on_the_wire(params, without=_OWN_AND_IDS) for key, (params, _) in self.pending.items()}

    async def report(self, done: float, total: float | None, message: str | None) -> None:
        """Report to the request that waits now; it is another one after each question."""
        self.reported = (done, total, message)
        if self.task is not None:
            self.task.report(done, total, message)
        elif self.progress is not None:
            await self.progress(done, total, message)

    def answer(self, responses: Mapping[str, Any]) -> None:
        for key in responses.keys() & self.pending.keys():
            _, waiting = self.pending.pop(key)
            if not waiting.done():
                waiting.set_result(responses[key])
        if not self.pending:
            self.has_asked.clear()

    # --- as a task -------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Become a task before the handler begins, if the tool always is one. Raises Busy or Unavailable."""
        if self.tasks is not None and self._policy == "always" and self.task is None:
            self.task = await self.tasks.create(self)
            self.has_started.set()

    @property
    def extra_seconds(self) -> float:
        """How much longer it may take than its tool says."""
        return self.tasks.limits.run if self.tasks is not None and (self.task or self.becomes_task) else 0.0

    @property
    def answer_seconds(self) -> float:
        """How long a person has to answer."""
        return ANSWER_SECONDS if self.task is None or self.tasks is None else self.tasks.limits.keep

    @property
    def patience(self) -> float | None:
        """How long its client waits before it gets a task."""
        return TASK_AFTER_SECONDS if self.tasks is not None and self._policy == "auto" else None


class _Asking:
    """The calls that have asked and have no answer yet. A call is one of them before its client has the question."""

    def __init__(self) -> None:
        self._calls: set[_Held] = set()

    def add(self, call: _Held) -> None:
        """Add a call. Raises Busy if there are too many, in all or of its caller."""
        others = self._calls - {call}
        if len(others) >= MAX_HELD or sum(one.caller == call.caller for one in others) >= MAX_HELD_EACH:
            raise Busy("Too many calls wait for answers of users.")
        self._calls.add(call)

    def remove(self, call: _Held) -> None:
        self._calls.discard(call)


class HeldCalls:
    """The calls of one app that wait for an answer of a person, by the nonce of their seal."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[_Held, asyncio.Task[Any]]] = {}
        self._asking = _Asking()
        self._elsewhere = HeldElsewhere(self._go_on)
        self._state: State | None = None

    async def run(
        self,
        request: Request,
        run: Run[T],
        state: State,
        method: str,
        *,
        tasks: Tasks | None = None,
        policy: TaskPolicy = "never",
    ) -> T | Question | TaskRecord:
        """Begin a call, which may ask, or become one of the tasks: its answer, its first question, or the task."""
        try:
            await state.seal_key()
        except StateUnavailable:
            return await run(request._replace(modes=frozenset()))  # nobody can be asked now
        self._state = state
        held = _Held(request, _binding(request, method), self._asking, tasks, policy)
        task = held if tasks is not None else None
        handler = asyncio.ensure_future(run(request._replace(elicit=held.ask, progress=held.report, task=task)))
        return await self._next(held, handler)

    async def resume(self, request: Request, state: State, method: str, *, confirmed: bool = False) -> Any:
        """Go on with the call that a reply belongs to, in whichever process it waits. None without a reply.

        None also if it may be the reply to a confirmation, for a tool that is `confirmed`. Raises ForgedReply if it
        is about another call, or the call does not wait any more.
        """
        if request.reply is None:
            return None
        opened = seal.open_seal(await state.seal_key(), _binding(request, method), request.reply.state, time.time())
        if isinstance(opened, str) and confirmed:
            return None
        if isinstance(opened, str):
            raise _not_waiting(request)
        responses = request.reply.responses
        is_first = await self._take_mark(opened.nonce, state)
        if is_first and (going_on := self._go_on(opened.nonce, responses, request.progress)):
            return await going_on
        if not is_first:
            raise _not_waiting(request)
        return await self._elsewhere.pass_on(state, opened.nonce, responses, request.progress)

    async def _take_mark(self, nonce: str, state: State) -> bool:
        """Whether this is the first answer to a question. Without the store, only this process can know."""
        held, _ = self._held.get(nonce, (None, None))
        if held is not None and not held.is_marked:
            return True
        try:
            return await state.take_mark(_mark(nonce))
        except StateUnavailable:
            return held is not None

    async def close(self) -> None:
        """End the calls that wait."""
        await self._elsewhere.close()
        tasks = [task for _, task in self._held.values()]
        self._held.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _go_on(
        self, nonce: str, responses: Mapping[str, Any], progress: ReportProgress | None
    ) -> Coroutine[Any, Any, Any] | None:
        """Give the answers to a call that is held here. None if it is not."""
        found = self._held.pop(nonce, None)
        if found is None:
            return None
        held, task = found
        held.progress = progress
        held.answer(responses)
        return self._next(held, task)

    async def _next(self, held: _Held, task: "asyncio.Task[T]") -> T | Question | TaskRecord:
        asked = asyncio.ensure_future(held.has_asked.wait())
        started = asyncio.ensure_future(held.has_started.wait())
        preparing = None
        if held.tasks is not None and held.patience:
            preparing = task.get_loop().call_later(held.patience / 4, held.tasks.prepare)
        try:
            await asyncio.wait({task, asked, started}, timeout=held.patience, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and not asked.done() and held.task is None and held.tasks is not None:
                held.task = await self._become_task(held, held.tasks)
                if held.task is None:
                    await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
            if held.task is not None and held.tasks is not None and (held.has_started.is_set() or not task.done()):
                held.tasks.follow(held.task, task)
                return held.task.record
            if task.done():
                if held.task is not None and held.tasks is not None:
                    held.tasks.drop(held.task)
                return task.result()
            return await self._hold(held, task)
        except BaseException:
            task.cancel()
            raise
        finally:
            asked.cancel()
            started.cancel()
            if preparing is not None:
                preparing.cancel()

    async def _become_task(self, held: _Held, tasks: Tasks) -> RunningTask | None:
        """A task for a call that takes long. None if it cannot be one: its client then waits for the answer."""
        held.becomes_task = True
        try:
            return await tasks.create(held)
        except Unavailable:
            return None
        finally:
            held.becomes_task = False

    async def _hold(self, held: _Held, task: "asyncio.Task[Any]") -> Question:
        """Keep the call until its client calls again, here or at another process."""
        state, nonce, expires = cast(State, self._state), secrets.token_urlsafe(16), time.time() + ANSWER_SECONDS
        sealed = seal.make(await state.seal_key(), held.binding, expires, nonce)
        self._held[nonce] = (held, task)
        task.add_done_callback(lambda _: self._held.pop(nonce, None))
        held.is_marked = False
        with suppress(StateUnavailable):  # the answer may still come to this process
            await self._elsewhere.listen(state)
            await state.mark(_mark(nonce), ANSWER_SECONDS)
            held.is_marked = True
        questions = held.questions
        return Question(str(next(iter(questions.values())).get("message", "")), sealed, questions)


_OWN = frozenset({"name"})
_OWN_AND_IDS = _OWN | {"elicitationId", "task"}
"""The members of a question that the protocol without sessions does not have."""


def _on_the_wire(params: Mapping[str, Any], without: frozenset[str] = _OWN) -> Mapping[str, Any]:
    """The parameters as the protocol has them."""
    return {name: value for name, value in params.items() if name not in without}


def _binding(request: Request, method: str) -> str:
    arguments = json.dumps(request.arguments, sort_keys=True, default=str)
    return seal.bind("question", request.caller.key, method, request.tool, arguments)


def _mark(nonce: str) -> str:
    return f"held:{nonce}"


def _not_waiting(request: Request) -> ForgedReply:
    return ForgedReply(f"{request.tool!r} does not wait for this answer any more.")
