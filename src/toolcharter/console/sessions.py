"""Signed-in browsers. The cookie has a random secret; the token of the caller is kept by the server, encrypted with it.

Whoever reads the shared store finds no token there, and the cookie alone is of no use elsewhere. The token is verified
again with each request, so that a session ends with its token.
"""

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from mcp_core.app import App
from mcp_core.state.interface import StateUnavailable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SECONDS = 12 * 3600.0
"""How long a browser stays signed in."""
_ENDED = ""
_NONCE = 12


class Session(NamedTuple):
    """A signed-in browser."""

    secret: str
    token: str


class Sessions:
    """The sessions of one site, in the shared store of its first app, so that all workers know them."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def begin(self, token: str) -> str:
        """Keep a token. Returns the secret for the cookie. Raises StateUnavailable."""
        secret = secrets.token_urlsafe(32)
        await self._app.state.reserve(_key(secret), _encrypt(secret, token), SECONDS)
        return secret

    async def find(self, secret: str) -> Session | None:
        """The session of a cookie; None if it has ended. Raises StateUnavailable."""
        text = await self._app.state.reserved(_key(secret)) if secret else None
        return Session(secret, _decrypt(secret, text)) if text else None

    async def end(self, session: Session) -> None:
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


def cookie_name(request: Request) -> str:
    """The name of the cookie. Browsers send cookies to all ports of a host, so each port has a name of its own."""
    name = f"toolcharter-{request.url.port or request.url.scheme}"
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


def _cipher(secret: str) -> "AESGCM":
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 15 ms, only with sign-in

    return AESGCM(hashlib.sha256(b"console\0" + secret.encode()).digest())


def _encrypt(secret: str, token: str) -> str:
    nonce = secrets.token_bytes(_NONCE)
    return (nonce + _cipher(secret).encrypt(nonce, token.encode(), None)).hex()


def _decrypt(secret: str, text: str) -> str:
    content = bytes.fromhex(text)
    return _cipher(secret).decrypt(content[:_NONCE], content[_NONCE:], None).decode()
