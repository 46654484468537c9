"""Calls that wait for an answer of a person in another process than the one that the answer has reached.

The process with the answer passes it on, and waits for the outcome: the call goes on where it is. They exchange
messages through the shared store. A mark in the store shows that a call is held; who takes it has the only answer.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from mcp_core.calling.people import outcomes
from mcp_core.context import ReportProgress
from mcp_core.errors import ForgedReply
from mcp_core.state.interface import State, StateUnavailable

_KIND = "held"
_BEGIN_SECONDS = 10.0
"""How long the process that holds a call may take to go on with it."""
_ALIVE_SECONDS = 5.0
"""How often a process publishes that it still runs."""
_SILENT_SECONDS = 30.0
"""After this silence it is taken to have ended."""
_PROGRESS_SECONDS = 0.1
"""Reports of progress that follow each other more closely are left out."""
_MAX_MESSAGE_LENGTH = 65_536
_KEPT_SECONDS = 60.0

GoOn = Callable[[str, Mapping[str, Any], ReportProgress], Coroutine[Any, Any, Any] | None]
"""Goes on with a call that is held here: takes its nonce, the answers, and where to report progress."""


class HeldElsewhere:
    """Passes answers to the process that holds a call, and takes those that others pass on."""

    def __init__(self, go_on: GoOn) -> None:
        self._go_on = go_on
        self._state: State | None = None
        self._waiting: dict[str, asyncio.Queue[tuple[str, Any]]] = {}
        """The messages of the process that goes on with a call, for each answer that was passed on."""
        self._running: dict[str, asyncio.Task[None]] = {}
        """Calls that go on here for another process."""

    async def listen(self, state: State) -> None:
        """Receive the messages of other processes from now on. Raises StateUnavailable."""
        if self._state is not state:
            await state.listen(self._receive)
            self._state = state

    async def close(self) -> None:
        """End the calls that go on here for others."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._state = None

    # --- the process that the answer has reached -------------------------------------------------------

    async def pass_on(
        self, state: State, nonce: str, responses: Mapping[str, Any], progress: ReportProgress | None
    ) -> Any:
        """The outcome of a call after these answers. Raises ForgedReply if no process goes on with it."""
        number, messages = secrets.token_urlsafe(12), asyncio.Queue[tuple[str, Any]]()
        await self.listen(state)
        self._waiting[number] = messages
        try:
            await _announce(state, nonce, "go on", {"id": number, "responses": dict(responses)})
            return await self._outcome(state, messages, progress)
        except TimeoutError:
            raise ForgedReply("The process that waited for this answer has ended.") from None
        except asyncio.CancelledError:
            with suppress(StateUnavailable):
                await asyncio.shield(_announce(state, nonce, "cancel", {"id": number}))
            raise
        finally:
            del self._waiting[number]

    async def _outcome(
        self, state: State, messages: "asyncio.Queue[tuple[str, Any]]", progress: ReportProgress | None
    ) -> Any:
        seconds = _BEGIN_SECONDS
        while True:
            async with asyncio.timeout(seconds):
                verb, body = await messages.get()
            seconds = _SILENT_SECONDS
            if verb == "progress" and progress is not None:
                await progress(*body["report"])
            elif verb == "done":
                text = body["text"] if "text" in body else await state.reserved(f"{_KIND}:{body['id']}")
                return outcomes.from_text(text or outcomes.to_text(ForgedReply("")))

    # --- the process that holds the call ---------------------------------------------------------------

    def _receive(self, text: str) -> None:
        kind, *rest = json.loads(text)
        if kind != _KIND:
            return
        nonce, verb, body = rest
        number: str = body["id"]
        if verb == "go on":
            going_on = self._go_on(nonce, body["responses"], self._reporter(nonce, number))
            if going_on is not None:
                task = self._running[number] = asyncio.ensure_future(self._run(nonce, number, going_on))
                task.add_done_callback(lambda _: self._running.pop(number, None))
        elif verb == "cancel":
            if running := self._running.get(number):
                running.cancel()
        elif waiting := self._waiting.get(number):
            waiting.put_nowait((verb, body))

    async def _run(self, nonce: str, number: str, going_on: Coroutine[Any, Any, Any]) -> None:
        call = asyncio.ensure_future(going_on)
        try:
            while not call.done():
                await self._say(nonce, "alive", {"id": number})
                await asyncio.wait({call}, timeout=_ALIVE_SECONDS)
        except asyncio.CancelledError:
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            raise
        error = call.exception() if not call.cancelled() else asyncio.CancelledError()
        text = outcomes.to_text(call.result() if error is None else error)
        if len(text) <= _MAX_MESSAGE_LENGTH:
            await self._say(nonce, "done", {"id": number, "text": text})
        elif self._state is not None:
            with suppress(StateUnavailable):
                await self._state.reserve(f"{_KIND}:{number}", text, _KEPT_SECONDS)
            await self._say(nonce, "done", {"id": number})

    def _reporter(self, nonce: str, number: str) -> ReportProgress:
        last = 0.0

        async def report(done: float, total: float | None, message: str | None) -> None:
            nonlocal last
            if time.monotonic() - last >= _PROGRESS_SECONDS:
                last = time.monotonic()
                await self._say(nonce, "progress", {"id": number, "report": [done, total, message]})

        return report

    async def _say(self, nonce: str, verb: str, body: Mapping[str, Any]) -> None:
        with suppress(StateUnavailable):
            if self._state is not None:
                await _announce(self._state, nonce, verb, body)


async def _announce(state: State, nonce: str, verb: str, body: Mapping[str, Any]) -> None:
    await state.announce(json.dumps([_KIND, nonce, verb, body]))
