"""Counts and audits what arrives besides calls of tools: lists, prompts, resources, handshakes, and what is refused."""

import time
from collections.abc import Mapping
from json.encoder import encode_basestring as quoted
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mcp_core.calling.records import CallOutcome
from mcp_core.logs.telemetry import REQUESTS, Telemetry

if TYPE_CHECKING:
    from mcp_core.audit import AuditTrail

RequestOutcome = CallOutcome | Literal["refused"]

HTTP = "(http)"
"""The method of a request that was answered before its method was read, such as one with a wrong token."""
STDIO = "(stdio)"
"""The method of a line that is not a request."""
CONFIRM, DECLINE = "console/confirm", "console/decline"
"""The answers of people to confirmations, in the console."""
TASK_CREATED = "tasks/create"
"""The record of a call that has become a task; the call has its own when it ends."""
_OTHER = "(other)"
_METHODS = frozenset({
    *(HTTP, STDIO, "initialize", "ping", "server/discover", "tools/list", "tools/call", "prompts/list"),
    *("prompts/get", "resources/list", "resources/templates/list", "resources/read", "completion/complete"),
    *(CONFIRM, DECLINE, "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen"),
    *("skills/list", "skills/get", "resources/directory/read"),
    *(TASK_CREATED, "tasks/get", "tasks/update", "tasks/cancel"),
})  # fmt: skip
_MAX_NAME_LENGTH = 256
_MAX_EARLY = 1000
"""Lists and handshakes that may arrive over stdio before the server has opened its trail."""


class Sender(NamedTuple):
    """Who sent a request, as far as it is known."""

    caller: str | None = None
    agent: str = "unknown unknown"
    address: str | None = None


class RequestRecorder:
    """Records the requests of one server that are not calls of tools."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self.audited = False
        """Whether a trail will be opened. Records that are made before wait for it."""
        self.audit: AuditTrail | None = None
        self._early: list[tuple[str, str, str | None, str | None, str]] = []

    def attach(self, audit: "AuditTrail | None") -> None:
        """Use a trail that has been opened, or none after it was closed."""
        self.audit = audit
        if audit is not None:
            for record in self._early:
                audit.append(*record)
            self._early.clear()

    def record(
        self,
        method: str,
        outcome: RequestOutcome,
        sender: Sender,
        *,
        name: str | None = None,
        seconds: float = 0.0,
        size: int = 0,
        status: int | None = None,
        error: str | None = None,
        meta: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Count a request, and write its audit record.

        `name` is that of a prompt, or the address of a resource; `meta` may have the ids of the caller.
        """
        self._telemetry.count(REQUESTS, method if method in _METHODS else _OTHER, outcome)
        if not self.audited:
            return
        from mcp_core.calling.stages.observe import (  # noqa: PLC0415 - 8 ms, with the steps of a call
            correlation_id,
            trace_id,
            utc_time,
        )
        from mcp_core.calling.stages.record import escape_breaks, estimate_tokens  # noqa: PLC0415 - as above

        now = utc_time(time.time())
        parts = [f'"time":"{now}","method":{quoted(method[:_MAX_NAME_LENGTH])}']
        if name is not None:
            parts.append(f'"name":{quoted(name[:_MAX_NAME_LENGTH])}')
        parts.append(f'"caller":{_text(sender.caller)},"agent":{quoted(sender.agent)},"outcome":"{outcome}"')
        if sender.address is not None:
            parts.append(f'"address":{quoted(sender.address)}')
        if status is not None:
            parts.append(f'"status":{status}')
        parts.append(f'"ms":{seconds * 1000:.3f},"tokens":{estimate_tokens(size)}')
        parts.append(f'"traceId":{_text(trace_id(meta))},"correlationId":{_text(correlation_id(meta))}')
        if error is not None:
            parts.append(f'"error":{quoted(error)}')
        record = (escape_breaks(",".join(parts)), now, name, sender.caller, outcome)
        if self.audit is not None:
            self.audit.append(*record)
        elif len(self._early) < _MAX_EARLY:
            self._early.append(record)


def _text(value: str | None) -> str:
    return "null" if value is None else quoted(value)
