"""Sessions of the fast lane, for protocol versions with a handshake. The sealed session id carries all their data.

The server keeps only which sessions ended recently, so processes that share their state share sessions.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from typing import Any, NamedTuple

from mcp_core.app import App
from mcp_core.auth import Caller

PREFIX = "lane-"
_MAX_REMEMBERED = 4096


class Session(NamedTuple):
    """The client's name and version from the handshake, and a nonce that makes the session unique."""

    agent_id: str
    agent_version: str
    nonce: str


class Sessions:
    """Makes session ids, and recognizes its own."""

    def __init__(self, app: App) -> None:
        self._app = app
        # Sessions seen or ended here recently. An id that is in neither is checked by its signature.
        self._known: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()

    async def begin(self, agent_id: str, agent_version: str, caller: Caller) -> str:
        """The id of a new session, which is valid for this caller only."""
        session = Session(agent_id, agent_version, secrets.token_urlsafe(12))
        payload = base64.urlsafe_b64encode(json.dumps(session).encode()).decode().rstrip("=")
        return f"{PREFIX}{payload}.{await self._signature(payload, caller)}"

    async def find(self, session_id: str, caller: Caller) -> Session | None:
        """The session, if this server sealed the id for this caller and the session has not ended."""
        if not session_id.startswith(PREFIX) or session_id in self._ended:
            return None
        session = self._known.get((session_id, caller.key))
        if session is None:
            payload, _, signature = session_id.removeprefix(PREFIX).partition(".")
            if not hmac.compare_digest((await self._signature(payload, caller)).encode(), signature.encode()):
                return None
            session = Session(*json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))
            _remember(self._known, (session_id, caller.key), session)
        return session

    def end(self, session_id: str) -> None:
        """End a session."""
        _remember(self._ended, session_id, None)

    async def _signature(self, payload: str, caller: Caller) -> str:
        key = await self._app.seal_key()
        return hmac.digest(key, f"session\0{caller.key}\0{payload}".encode(), hashlib.sha256).hex()


def _remember(entries: "OrderedDict[Any, Any]", key: Any, value: Any) -> None:
    """Add an entry, and remove the oldest where there are too many."""
    entries[key] = value
    if len(entries) > _MAX_REMEMBERED:
        entries.popitem(last=False)
