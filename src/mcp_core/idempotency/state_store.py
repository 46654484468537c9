"""Idempotency keys in the shared store, for servers that write elsewhere than in a database of ours.

The key is taken before the call, and its answer is kept after it. If the process dies between the two, nobody knows
whether the call has changed anything: a retry is then answered with "outcome unknown", and is not carried out.
"""

import hashlib
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp_core.idempotency.keys import KeyedCall, KeyRecord, KeyTaken
from mcp_core.mcp_log import get_logger
from mcp_core.settings.model import RETENTION_SECONDS
from mcp_core.state.interface import State, StateUnavailable

logger = get_logger(__name__)

MARGIN_SECONDS = 30.0
"""How much longer than its deadline a call may be in progress: clocks differ, and a busy machine is late."""

_AT_ONCE = 0.001
"""Seconds after which the key of a call that never began is free."""


class StateKeyStore:
    """The keys of one server, in its shared store."""

    def __init__(
        self, state: State, retention: float = RETENTION_SECONDS, clock: Callable[[], float] = time.time
    ) -> None:
        self._state, self._retention, self._clock = state, retention, clock

    async def find(self, call: KeyedCall) -> KeyRecord | None:
        kept = await self._state.reserved(_name(call))
        record = None if kept is None else _record(kept, self._clock())
        return None if record is not None and _may_repeat(call, record) else record

    @asynccontextmanager
    async def claim(self, call: KeyedCall) -> AsyncGenerator["_StateClaim"]:
        name, started = _name(call), _entry(call, until=self._clock() + call.deadline + MARGIN_SECONDS)
        kept = await self._state.reserve(name, started, self._retention)
        if kept is not None:
            record = _record(kept, self._clock())
            if not _may_repeat(call, record):
                raise KeyTaken(record)
            await self._state.replace(name, started, self._retention)
        claim = _StateClaim(call)
        try:
            yield claim
        finally:
            await self._keep(name, claim)

    async def _keep(self, name: str, claim: "_StateClaim") -> None:
        try:
            await self._state.replace(name, claim.entry, self._retention if claim.has_begun else _AT_ONCE)
        except StateUnavailable as error:
            message = "The answer of %s was not kept; a retry with its idempotency key is answered as unknown: %s"
            logger.error(message, claim.call.tool, error.__cause__)


class _StateClaim:
    """A key that is reserved. A call that ends without an answer may have changed something."""

    def __init__(self, call: KeyedCall) -> None:
        self.call, self.entry, self.has_begun = call, _entry(call), True

    async def complete(self, answer: str, *, failed: bool) -> None:  # noqa: ARG002 - a database rolls back
        """Keep the answer, also of a failure: what was changed before it cannot be undone."""
        self.entry = _entry(self.call, answer)

    def abandon(self) -> None:
        self.has_begun = False


def _may_repeat(call: KeyedCall, record: KeyRecord) -> bool:
    """Whether a call of unknown outcome is carried out again."""
    return call.repeatable and record.answer is None and not record.in_progress and record.digest == call.digest


def _name(call: KeyedCall) -> str:
    return hashlib.sha256(json.dumps([call.caller, call.key]).encode()).hexdigest()


def _entry(call: KeyedCall, answer: str | None = None, until: float = 0.0) -> str:
    return json.dumps({"digest": call.digest, "until": until, "answer": answer})


def _record(text: str, now: float) -> KeyRecord:
    entry: dict[str, Any] = json.loads(text)
    return KeyRecord(entry["digest"], entry["answer"], entry["until"] > now)
