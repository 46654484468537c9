"""Changes of lists, resources and tasks, announced to clients at every process that shares the state."""

import asyncio
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from mcp_core.state.interface import State, StateUnavailable
from mcp_core.state.subscribers import Subscribers

_KIND = "change"


class ResourceUpdate(NamedTuple):
    """A resource has changed, and may be read again."""

    uri: str


class ElicitationComplete(NamedTuple):
    """The person has finished at an address that they were asked to open."""

    number: str


class TaskUpdate(NamedTuple):
    """The status of a task is another one."""

    task_id: str


Change = str | ResourceUpdate | ElicitationComplete | TaskUpdate
"""The name of a list, a resource, or what one client waits for."""
Changes = Subscribers[Change]
"""The subscribers to changes."""


class ChangeNews:
    """Passes changes of lists and resources on to the other processes, and takes theirs."""

    def __init__(self, take: Callable[[Change], None]) -> None:
        """`take` acts on a change, wherever it happened."""
        self._take, self._sender = take, secrets.token_urlsafe(9)
        self._state: State | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listening_to: State | None = None
        self._sending: set[asyncio.Task[None]] = set()

    def open(self, state: State) -> None:
        """Begin, in the event loop of the app."""
        self._state, self._loop = state, asyncio.get_running_loop()

    async def close(self) -> None:
        """End, after what is being sent."""
        self._state = self._loop = self._listening_to = None
        await asyncio.gather(*self._sending, return_exceptions=True)

    def announce(self, change: str | ResourceUpdate) -> None:
        """Act on a change here and at the other processes. A handler in a thread may call it, too."""
        if self._loop is None:
            self._take(change)
        else:
            self._loop.call_soon_threadsafe(self._spread, change)

    def _spread(self, change: str | ResourceUpdate) -> None:
        self._take(change)
        if self._state is not None:
            body = change if isinstance(change, str) else list(change)
            sending = asyncio.ensure_future(_send(self._state, json.dumps([_KIND, self._sender, body])))
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)

    async def listen(self) -> None:
        """Take the changes of other processes from now on."""
        if self._state is not None and self._listening_to is not self._state:
            state, self._listening_to = self._state, self._state
            try:
                await state.listen(self._receive)
            except StateUnavailable:  # whoever listens next tries again
                self._listening_to = None

    def _receive(self, text: str) -> None:
        kind, *rest = json.loads(text)
        if kind == _KIND and rest[0] != self._sender:
            body: str | list[str] = rest[1]
            self._take(body if isinstance(body, str) else ResourceUpdate(*body))


async def _send(state: State, message: str) -> None:
    with suppress(StateUnavailable):  # clients read again when their copy has expired
        await state.announce(message)
