"""Signed-in browsers. The cookie has a random secret; the token of the caller is kept by the server, encrypted with it.

Whoever reads the shared store finds no token there, and the cookie alone is of no use elsewhere. The token is verified
again with each request, so that a session ends with its token, or with the last one if it can be renewed.
"""

import hashlib
import hmac
import json
import secrets
import time
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from mcp_core.app import App
from mcp_core.auth import IdentityUnavailable
from mcp_core.state.interface import StateUnavailable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from toolcharter.console.provider import Provider

SECONDS = 12 * 3600.0
"""How long a browser stays signed in."""
_RENEWAL_SECONDS = 30.0
"""After a renewal that failed, another is tried after this time."""
_ENDED = ""
_NONCE = 12


class Tokens(NamedTuple):
    """The token of a caller, and how to renew it."""

    access: str
    refresh: str = ""
    """Empty if the token cannot be renewed."""
    renew_at: float = 0.0
    """In seconds since the epoch."""

    def __repr__(self) -> str:
        return f"Tokens(renew_at={self.renew_at})"


class BrowserSession(NamedTuple):
    """A signed-in browser."""

    secret: str
    tokens: Tokens
    ends: float
    """In seconds since the epoch."""

    @property
    def token(self) -> str:
        """The token of the caller."""
        return self.tokens.access


class BrowserSessions:
    """The sessions of one site, in the shared store of its first app, so that all workers know them."""

    def __init__(self, app: App, provider: "Provider | None" = None) -> None:
        self._app, self._provider = app, provider

    async def begin(self, tokens: Tokens) -> str:
        """Keep the token of a caller. Returns the secret for the cookie. Raises StateUnavailable."""
        session = BrowserSession(secrets.token_urlsafe(32), tokens, time.time() + SECONDS)
        text = _encrypt(session, await self._app.seal_key())
        await self._app.state.reserve(_key(session.secret), text, SECONDS)
        return session.secret

    async def find(self, secret: str) -> BrowserSession | None:
        """The session of a cookie; None if it has ended. Raises StateUnavailable."""
        text = await self._app.state.reserved(_key(secret)) if secret else None
        session = _decrypt(secret, text, await self._app.seal_key()) if text else None
        if session is not None and session.tokens.refresh and time.time() >= session.tokens.renew_at:
            return await self._renew(session)
        return session

    async def _renew(self, session: BrowserSession) -> BrowserSession:
        """The session with a new token. One request of many fetches it; the others still have the old one."""
        name = f"{_key(session.secret)}:{session.tokens.renew_at}"
        if self._provider is None or not await self._app.state.claim(name, _RENEWAL_SECONDS):
            return session
        try:
            renewed = session._replace(tokens=await self._provider.renew(session.tokens.refresh))
        except IdentityUnavailable:
            return session
        text = _encrypt(renewed, await self._app.seal_key())
        await self._app.state.replace(_key(session.secret), text, max(1.0, session.ends - time.time()))
        return renewed

    async def end(self, session: BrowserSession) -> None:
        """End a session at once. Raises StateUnavailable."""
        await self._app.state.replace(_key(session.secret), _ENDED, SECONDS)

    async def csrf_token(self, secret: str) -> str:
        """Proves that a request comes from a page that this browser got from us. Empty while it cannot be made."""
        try:
            key = await self._app.seal_key()
        except StateUnavailable:
            return ""
        # The key also seals confirmations and sessions of clients: one must not be taken for the other.
        return hmac.digest(key, b"console\0" + secret.encode(), "sha256").hex()

    async def is_csrf_token(self, secret: str, token: str) -> bool:
        """Whether the token was made for this browser."""
        expected = await self.csrf_token(secret)
        return bool(expected) and hmac.compare_digest(expected.encode(), token.encode())


def cookie_name(request: Request, purpose: str = "") -> str:
    """The name of a cookie. Browsers send cookies to all ports of a host, so each port has a name of its own."""
    name = f"toolcharter-{request.url.port or request.url.scheme}{purpose}"
    return f"__Host-{name}" if request.url.scheme == "https" else name


def set_cookie(response: Response, request: Request, secret: str | None) -> None:
    """Let the browser keep the secret, or forget it."""
    response.set_cookie(
        cookie_name(request),
        secret or "",
        max_age=int(SECONDS) if secret else 0,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _key(secret: str) -> str:
    return "console:" + hashlib.sha256(secret.encode()).hexdigest()


def _cipher(secret: str, server_key: bytes) -> "AESGCM":
    """The cipher of a session. With the key of the server, so that nobody else can make one for a cookie."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 15 ms, only with sign-in

    return AESGCM(hmac.digest(server_key, b"session\0" + secret.encode(), "sha256"))


def _encrypt(session: BrowserSession, server_key: bytes) -> str:
    nonce, text = secrets.token_bytes(_NONCE), json.dumps([session.ends, *session.tokens])
    return (nonce + _cipher(session.secret, server_key).encrypt(nonce, text.encode(), None)).hex()


def _decrypt(secret: str, text: str, server_key: bytes) -> BrowserSession | None:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - with the cipher

    content = bytes.fromhex(text)
    try:
        ends, *tokens = json.loads(_cipher(secret, server_key).decrypt(content[:_NONCE], content[_NONCE:], None))
    except InvalidTag:
        return None  # another server made it
    return BrowserSession(secret, Tokens(*tokens), ends)
