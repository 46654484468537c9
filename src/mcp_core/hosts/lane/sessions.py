"""Sessions of the older protocol, as the fast lane has them: carried by the client, sealed, in their id.

The server keeps nothing about them but which were ended lately, so processes that share their state share sessions.
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
_MOST_REMEMBERED = 4096


class Session(NamedTuple):
    """What a client said about itself in the handshake."""

    agent_id: str
    agent_version: str
    nonce: str


class Sessions:
    """Makes session ids, and tells its own from others."""

    def __init__(self, app: App) -> None:
        self._app = app
        # Those seen here lately, and those that were ended here. An id that is in neither proves itself.
        self._known: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()

    async def begin(self, agent_id: str, agent_version: str, caller: Caller) -> str:
        """The id of a new session, which is of use to this caller only."""
        session = Session(agent_id, agent_version, secrets.token_urlsafe(12))
        payload = base64.urlsafe_b64encode(json.dumps(session).encode()).decode().rstrip("=")
        return f"{PREFIX}{payload}.{await self._signature(payload, caller)}"

    async def find(self, given: str, caller: Caller) -> Session | None:
        """The session, where this server has sealed the id for this caller and it was not ended."""
        if not given.startswith(PREFIX) or given in self._ended:
            return None
        session = self._known.get((given, caller.key))
        if session is None:
            payload, _, signature = given.removeprefix(PREFIX).partition(".")
            if not hmac.compare_digest((await self._signature(payload, caller)).encode(), signature.encode()):
                return None
            session = Session(*json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))
            _keep(self._known, (given, caller.key), session)
        return session

    def end(self, given: str) -> None:
        """From now on there is no such session."""
        _keep(self._ended, given, None)

    async def _signature(self, payload: str, caller: Caller) -> str:
        key = await self._app.seal_key()
        return hmac.digest(key, f"session\0{caller.key}\0{payload}".encode(), hashlib.sha256).hex()


def _keep(entries: "OrderedDict[Any, Any]", key: Any, value: Any) -> None:
    """Remember an entry, and forget the oldest where there are too many."""
    entries[key] = value
    if len(entries) > _MOST_REMEMBERED:
        entries.popitem(last=False)
