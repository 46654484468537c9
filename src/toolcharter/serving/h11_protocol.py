"""HTTP on h11, where httptools is not installed: uvicorn's protocol class with limits."""

import asyncio
import sys
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from mcp_core.hosts.fast_path.asgi import Receive, Send
from toolcharter.serving.calls import refusal
from toolcharter.serving.connections import ConnectionPhase, Connections, LimitedConnection, head_refusal
from toolcharter.serving.uvicorn_connection import H11Members

_TOO_LARGE = 431


class LimitedH11Protocol(LimitedConnection, H11Members, H11Protocol):
    """One connection. `h11_max_incomplete_event_size` limits what h11 collects of a head."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        connections_open: Connections,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.connections_open, self._site = connections_open, self.app
        self.app = self._check_head

    async def _check_head(self, scope: Any, receive: Receive, send: Send) -> None:
        """Refuse a head that came in one piece, and is too large all the same."""
        limits, headers = self.connections_open.limits, scope.get("headers", ())
        size = len(scope.get("raw_path", b"")) + sum(len(name) + len(value) + 4 for name, value in headers)
        if size <= limits.head_bytes and len(headers) <= limits.headers:
            return await self._site(scope, receive, send)
        reason = "head_too_large" if size > limits.head_bytes else "too_many_headers"
        response = refusal(_TOO_LARGE, reason, head_refusal(reason, limits), self.connections_open.counts)
        return await response.with_header(b"connection", b"close").send(send)

    def connection_made(self, transport: Any) -> None:
        """Begin, if there is room for another connection."""
        super().connection_made(transport)
        self.enter(ConnectionPhase.NEW)
        if not self.connections_open.add(self):
            self.refuse_connection()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self.connections_open.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has come."""
        if self.phase != ConnectionPhase.REFUSED:
            self.body_bytes += len(data)
            super().data_received(data)
            self._note_phase()

    def on_response_complete(self) -> None:
        """Wait for the next request. The timer of all connections replaces uvicorn's own."""
        super().on_response_complete()
        self.stop_keep_alive_timer()
        self._note_phase()

    def send_400_response(self, msg: str) -> None:
        """Refuse what h11 does not understand, and what is too large for it."""
        if getattr(sys.exception(), "error_status_hint", None) == _TOO_LARGE:
            words = head_refusal("head_too_large", self.connections_open.limits)
            self.refuse(_TOO_LARGE, "head_too_large", words)
        else:
            super().send_400_response(msg)

    def _note_phase(self) -> None:
        if self.phase == ConnectionPhase.REFUSED:
            return
        state = self.client_state
        if state is h11.SEND_BODY:
            phase = ConnectionPhase.BODY if self.responding else ConnectionPhase.ANSWERED
        elif state is h11.IDLE:
            phase = ConnectionPhase.HEAD if self.has_unparsed_data else ConnectionPhase.IDLE
        else:
            phase = ConnectionPhase.CALL
        if phase != self.phase:
            self.enter(phase)
