"""The confirmations of one server that wait for a person, at every process that shares its state."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from mcp_core.calling.people.waiting import Verdict, Waiting
from mcp_core.mcp_log import get_logger
from mcp_core.state.interface import State, StateUnavailable
from mcp_core.state.subscribers import Subscribers

logger = get_logger(__name__)

MAX_SHOWN = 1000
"""Confirmations that are shown at a process. Of more, the oldest are not shown; their clients can still answer."""
LOOK_SECONDS = 2.0
"""How often a call looks for its answer, and its process publishes that it still waits, in case a message was lost."""
SILENT_SECONDS = 3 * LOOK_SECONDS
"""After which a call that waits at another process is not shown any more: that process was killed."""
_USED_SECONDS = 3600.0
"""How long it is known that an answer was used: longer than any answer is kept."""
_KIND = "approval"


class AlreadyAnswered(Exception):
    """Somebody else was faster, or the confirmation has expired."""


class Approvals:
    """Pending confirmations and their answers. Methods raise StateUnavailable if the shared store cannot be reached."""

    def __init__(
        self, state: State, changes: Subscribers[None] | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """`changes` are notified of each change; those of several servers may be the same."""
        self.changes: Subscribers[None] = Subscribers() if changes is None else changes
        self._state, self._clock = state, clock
        self._shown: dict[str, Waiting] = {}
        self._heard: dict[str, float] = {}
        """When a process last published that a call waits, for each that is shown."""
        self._own: set[str] = set()
        """Those of calls that this process carries out."""
        self._held: dict[str, asyncio.Future[Verdict]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        self.stopped = False

    # --- what a call does ------------------------------------------------------------------------------

    async def ask(self, waiting: Waiting, own_way: Awaitable[bool] | None) -> Verdict | None:
        """Wait for the first answer, by the client in its own way or in the console. None if nobody answers in time."""
        answered = self._held[waiting.id] = asyncio.get_running_loop().create_future()
        client = None if own_way is None else asyncio.ensure_future(own_way)
        try:
            await self._show(waiting)
            return await self._first_answer(waiting, answered, client)
        finally:
            del self._held[waiting.id]
            if client is not None:
                client.cancel()
                await asyncio.gather(client, return_exceptions=True)
            await asyncio.shield(self._withdraw(waiting.id))

    async def _first_answer(
        self, waiting: Waiting, answered: "asyncio.Future[Verdict]", client: "asyncio.Future[bool] | None"
    ) -> Verdict | None:
        candidates: set[asyncio.Future[Any]] = {answered} if client is None else {answered, client}
        while client is not None or not self.stopped:
            left = waiting.expires - self._clock()
            await asyncio.wait(
                candidates, timeout=max(0.0, min(left, LOOK_SECONDS)), return_when=asyncio.FIRST_COMPLETED
            )
            if answered.done():
                return answered.result()
            if client is not None and client.done():
                return await self._settle(waiting.id, Verdict(client.result()), left)
            if left <= 0:
                # Nobody can answer from now on. An answer of the last moment holds.
                last = await self._settle(waiting.id, Verdict(accepted=False), LOOK_SECONDS)
                return last if last.by else None
            if found := await self._verdict(waiting.id):
                return found
        return None

    async def offer(self, binding: str, waiting: Waiting) -> None:
        """Show a question that the client has, and that it brings back with a call of the same binding."""
        pointer, seconds = _pointer(binding), waiting.expires - self._clock()
        shown = await self._state.reserve(pointer, waiting.id, seconds)
        if shown:
            return
        if shown is not None:  # it was used a moment ago
            await self._state.replace(pointer, waiting.id, seconds)
        await self._show(waiting)

    async def take_given(self, binding: str) -> Verdict | None:
        """Use the answer that was given in the console for calls of this binding. It can be used once."""
        number = await self._state.reserved(_pointer(binding))
        verdict = await self._verdict(number) if number else None
        if not number or verdict is None or not await self._claim(number):
            return None
        # The client may still have the question. A reply to it would carry out the same call again.
        await self._state.replace(_used_at(binding), str(self._clock()), _USED_SECONDS)
        await self._forget(binding, number)
        return verdict

    async def take_client_answer(self, binding: str, own: Verdict, asked: float, expires: float) -> Verdict | None:
        """The answer that holds if the client brings one, to a question of that time. None if it was used before."""
        used = await self._state.reserved(_used_at(binding))
        if used and asked <= float(used):
            return None
        number = await self._state.reserved(_pointer(binding))
        if not number:
            return own
        verdict = await self._settle(number, own, expires - self._clock())
        is_first = await self._claim(number)
        await self._forget(binding, number)
        return verdict if is_first else None

    async def _claim(self, number: str) -> bool:
        """Use an answer. Only one of several calls at the same time gets True."""
        return await self._state.claim(f"approval:{number}", _USED_SECONDS)

    async def _forget(self, binding: str, number: str) -> None:
        await self._state.replace(_pointer(binding), "", 0.001)
        await self._withdraw(number)

    # --- what the console does -------------------------------------------------------------------------

    async def list(self) -> list[Waiting]:
        """Pending confirmations that this process knows, the oldest first. Those of others follow a moment later."""
        await self._listen()
        self._drop_ended()
        return sorted(self._shown.values(), key=lambda waiting: waiting.asked)

    def get(self, number: str) -> Waiting | None:
        """One that waits."""
        self._drop_ended()
        return self._shown.get(number)

    async def answer(self, number: str, verdict: Verdict) -> Waiting:
        """Answer a confirmation. Raises AlreadyAnswered; of many answers at the same time, one holds."""
        waiting = self.get(number)
        if waiting is None:
            raise AlreadyAnswered
        kept = await self._state.reserve(_answer_key(number), verdict.to_text(), waiting.expires - self._clock())
        if kept is not None:
            raise AlreadyAnswered
        self._hide(number)
        await self._announce(number, "answered", verdict)
        return waiting

    def stop(self) -> None:
        """Calls that wait for the console alone end without an answer, a moment later."""
        self.stopped = True

    async def close(self) -> None:
        """End what runs."""
        self.stop()
        for task in (self._listening, self._watching):
            if task is not None:
                task.cancel()

    # --- the shared store ------------------------------------------------------------------------------

    async def _verdict(self, number: str) -> Verdict | None:
        text = await self._state.reserved(_answer_key(number))
        return Verdict.parse(text) if text else None

    async def _settle(self, number: str, verdict: Verdict, seconds: float) -> Verdict:
        """Give an answer. Returns the one that holds, which may be an earlier one."""
        kept = await self._state.reserve(_answer_key(number), verdict.to_text(), max(seconds, LOOK_SECONDS))
        return verdict if kept is None else Verdict.parse(kept)

    # --- what is shown, here and at other processes ----------------------------------------------------

    async def _show(self, waiting: Waiting) -> None:
        self._add(waiting)
        self._own.add(waiting.id)
        with suppress(StateUnavailable):  # it is shown here at least
            await self._listen()
            await self._announce(waiting.id, "asked", waiting)

    async def _withdraw(self, number: str) -> None:
        self._hide(number)
        with suppress(StateUnavailable):
            await self._announce(number, "gone")

    async def _announce(self, number: str, verb: str, body: Any = None) -> None:
        await self._state.announce(json.dumps([_KIND, number, verb, body]))

    async def _listen(self) -> None:
        """Receive the messages of other processes from now on, and ask them once what they know."""
        if self._listening is None:
            self._listening = asyncio.ensure_future(self._begin_to_listen())
        try:
            await asyncio.shield(self._listening)
        except StateUnavailable:
            self._listening = None
            raise

    async def _begin_to_listen(self) -> None:
        await self._state.listen(self._take)
        await self._announce("", "who")

    def _take(self, text: str) -> None:
        """Act on what a process announced; what is not about approvals is left to others."""
        kind, number, *rest = json.loads(text)
        if kind != _KIND:
            return
        verb, body = rest
        if verb == "asked":
            self._add(Waiting(*body))
        elif verb == "answered":
            self._hide(number)
            answered = self._held.get(number)
            if answered is not None and not answered.done():
                answered.set_result(Verdict(*body))
        elif verb == "gone":
            self._hide(number)
        elif verb == "waiting":
            self._hear(body)
        elif verb == "who":
            self._telling = asyncio.ensure_future(self._tell_others())

    async def _tell_others(self) -> None:
        with suppress(StateUnavailable):
            for waiting in [self._shown[number] for number in self._own]:
                await self._announce(waiting.id, "asked", waiting)

    async def _watch(self) -> None:
        """While anything is shown, publish what waits here, and drop what no process has published for a while."""
        while self._shown:
            await asyncio.sleep(LOOK_SECONDS)
            if held := [number for number in self._held if number in self._own]:
                with suppress(StateUnavailable):
                    await self._announce("", "waiting", held)
            self._drop_ended()

    def _hear(self, numbers: Sequence[str]) -> None:
        """Note that these calls still wait. One that was dropped, because no message about it came, is shown again."""
        unknown = [number for number in numbers if number not in self._shown]
        self._heard |= dict.fromkeys(self._shown.keys() & numbers, self._clock())
        if unknown and len(self._shown) < MAX_SHOWN:
            self._telling = asyncio.ensure_future(self._ask_others())

    async def _ask_others(self) -> None:
        with suppress(StateUnavailable):
            await self._announce("", "who")

    def _add(self, waiting: Waiting) -> None:
        if waiting.id in self._shown:
            return
        self._drop_ended()
        if len(self._shown) >= MAX_SHOWN:
            self._hide(next(iter(self._shown)))
        self._shown[waiting.id], self._heard[waiting.id] = waiting, self._clock()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.ensure_future(self._watch())
        self.changes.send(None)

    def _hide(self, number: str) -> None:
        self._own.discard(number)
        self._heard.pop(number, None)
        if self._shown.pop(number, None) is not None:
            self.changes.send(None)

    def _drop_ended(self) -> None:
        for number in [number for number, waiting in self._shown.items() if self._has_ended(waiting)]:
            self._hide(number)

    def _has_ended(self, waiting: Waiting) -> bool:
        now = self._clock()
        is_silent = waiting.is_held and now - self._heard[waiting.id] > SILENT_SECONDS
        return waiting.expires <= now or (is_silent and waiting.id not in self._own)


def _answer_key(number: str) -> str:
    return f"approval:{number}"


def _pointer(binding: str) -> str:
    """The key of the id of the question about calls of a binding."""
    return f"approval-of:{binding}"


def _used_at(binding: str) -> str:
    """The key of the time at which an answer of the console was used for a call of a binding."""
    return f"approval-used:{binding}"
