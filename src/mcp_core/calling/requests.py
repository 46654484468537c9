"""Counts and audits what arrives besides calls of tools: lists, prompts, resources, handshakes, and what is refused."""

import time
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring as quoted
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from mcp_core.audit import AuditTrail
from mcp_core.calling.records import CallOutcome
from mcp_core.calling.stages.observe import correlation_id, trace_id, utc_time
from mcp_core.calling.stages.record import escape_breaks, estimate_tokens
from mcp_core.telemetry import REQUESTS, Telemetry

RequestOutcome = CallOutcome | Literal["refused"]

HTTP = "(http)"
"""The method of a request that was answered before its method was read, such as one with a wrong token."""
_OTHER = "(other)"
_METHODS = frozenset({
    *(HTTP, "(stdio)", "initialize", "ping", "server/discover", "tools/list", "tools/call", "prompts/list"),
    *("prompts/get", "resources/list", "resources/templates/list", "resources/read", "completion/complete"),
    *("logging/setLevel", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen"),
})  # fmt: skip
_LONGEST_NAME = 256


class Sender(NamedTuple):
    """Who sent a request, as far as it is known."""

    caller: str | None = None
    agent: str = "unknown unknown"
    address: str | None = None


class RequestRecorder:
    """Records the requests of one server that are not calls of tools."""

    def __init__(self, telemetry: Telemetry, clock: Callable[[], float] = time.time) -> None:
        self._telemetry, self._clock = telemetry, clock
        self.audit: AuditTrail | None = None

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
        audit = self.audit
        if audit is None:
            return
        now = utc_time(self._clock())
        parts = [f'"time":"{now}","method":{quoted(method[:_LONGEST_NAME])}']
        if name is not None:
            parts.append(f'"name":{quoted(name[:_LONGEST_NAME])}')
        parts.append(f'"caller":{_text(sender.caller)},"agent":{quoted(sender.agent)},"outcome":"{outcome}"')
        if sender.address is not None:
            parts.append(f'"address":{quoted(sender.address)}')
        if status is not None:
            parts.append(f'"status":{status}')
        parts.append(f'"ms":{seconds * 1000:.3f},"tokens":{estimate_tokens(size)}')
        parts.append(f'"traceId":{_text(trace_id(meta))},"correlationId":{_text(correlation_id(meta))}')
        if error is not None:
            parts.append(f'"error":{quoted(error)}')
        audit.append(escape_breaks(",".join(parts)), now, name, sender.caller, outcome)


def _text(value: str | None) -> str:
    return "null" if value is None else quoted(value)
