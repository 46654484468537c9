"""Who calls over HTTP, and from which hosts and origins requests are allowed. Checked before the protocol is read."""

import re
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Generic, TypeVar

from mcp_core.app import App
from mcp_core.auth import Caller, IdentityUnavailable
from mcp_core.calling.requests import HTTP, Sender
from mcp_core.context import NO_HEADERS, RequestHeaders
from mcp_core.declare.spec import ToolSpec
from mcp_core.hosts.resource_metadata import challenge
from mcp_core.settings.model import Settings
from mcp_core.text import json_text

Scope = Any
T = TypeVar("T")

MAX_LISTS = 64
"""A verifier may give each token its own permissions, so what is made for them is not kept for ever."""

MAX_TOKEN_LENGTH = 8_192
"""In characters. Access tokens with many groups have a few thousand; to verify one of 8,000 costs 0.4 ms."""

RETRY_SECONDS = 5
_FIRST_ERROR = 400

EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to
"""The hosts that stand for all addresses of this machine."""


class NotIdentified(Exception):
    """A request whose caller is not known. It has the response."""

    def __init__(self, status: int, body: bytes, headers: Sequence[tuple[bytes, bytes]]) -> None:
        super().__init__(body.decode())
        self.status, self.body = status, body
        self.headers = [(b"content-type", b"application/json"), *headers]

    async def send(self, send: Any) -> None:
        """Send the response."""
        headers = [*self.headers, (b"content-length", str(len(self.body)).encode())]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def may_ask(spec: ToolSpec) -> bool:
    """Whether calls of a tool may have a question to the person."""
    return spec.asks_person or spec.declaration.asks


async def http_caller(app: App, scope: Scope, authorization: str) -> Caller:
    """The caller. Raises NotIdentified where a token is required and no valid one was sent, and records that."""
    try:
        return await _identify(app, scope, authorization)
    except NotIdentified as refused:
        record_http(app, scope, refused.status)
        raise


def record_http(app: App, scope: Scope, status: int, caller: Caller | None = None) -> None:
    """Record a request that was answered by HTTP alone, before a method was read."""
    client = scope.get("client")
    address = str(client[0]) if client else None
    sender = Sender(caller.key if caller else None, address=address)
    app.requests.record(HTTP, "refused" if status >= _FIRST_ERROR else "ok", sender, status=status)


async def _identify(app: App, scope: Scope, authorization: str) -> Caller:
    if app.verifier is None:
        return caller_without_token(app, scope.get("client"))
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise _unauthorized(app, scope, None)
    try:
        caller = await app.verifier.verify(token) if len(token) <= MAX_TOKEN_LENGTH and token.isascii() else None
    except IdentityUnavailable as error:
        raise _unavailable(error) from None
    if caller is None:
        raise _unauthorized(app, scope, "invalid_token")
    return caller


def caller_without_token(app: App, client: Any) -> Caller:
    """The caller of an app that needs no tokens. `client` is the address of the other side, as a scope has it."""
    if app.local_caller.user_id is not None:
        return app.local_caller
    return anonymous(app, client[0] if client else "?")


async def site_caller(apps: Sequence[App], scope: Scope, authorization: str) -> Caller:
    """The caller of a page that shows several apps: whoever one of them knows. Raises NotIdentified, and records it."""
    try:
        return await _identify_at_any(apps, scope, authorization)
    except NotIdentified as refused:
        record_http(apps[0], scope, refused.status)
        raise


async def callers_at(apps: Sequence[App], scope: Scope, authorization: str) -> dict[str, Caller]:
    """The caller at each app that lets them in, by the name of the app, for pages that show several apps.

    If apps need a token, one of them has to accept it; otherwise raises NotIdentified, and records it.
    """
    callers: dict[str, Caller] = {}
    refused: NotIdentified | None = None
    for app in apps:
        try:
            callers[app.name] = await _identify(app, scope, authorization)
        except NotIdentified as error:
            refused = refused or error
    guarded = [app for app in apps if app.verifier is not None]
    if refused is not None and not any(app.name in callers for app in guarded):
        record_http(guarded[0], scope, refused.status)
        raise refused
    return callers


async def is_known(apps: Sequence[App], scope: Scope, authorization: str) -> bool:
    """Whether one of the apps knows the caller, for a page that everyone may see a part of."""
    try:
        await _identify_at_any(apps, scope, authorization)
    except NotIdentified:
        return False
    return True


async def _identify_at_any(apps: Sequence[App], scope: Scope, authorization: str) -> Caller:
    first, *others = apps
    try:
        return await _identify(first, scope, authorization)
    except NotIdentified:
        for app in others:
            with suppress(NotIdentified):
                return await _identify(app, scope, authorization)
        raise


def _unauthorized(app: App, scope: Scope, error: str | None) -> NotIdentified:
    """The answer 401. It names an error only if a token was sent (RFC 6750, 3.1)."""
    body = {"error": error or "unauthorized", "error_description": "Send a valid token: Authorization: Bearer TOKEN"}
    value = challenge(app, scope.get("path", ""), error)
    return NotIdentified(401, json_text.to_text(body).encode(), [(b"www-authenticate", value.encode())])


def _unavailable(error: IdentityUnavailable) -> NotIdentified:
    body = {"error": "temporarily_unavailable", "error_description": str(error)}
    return NotIdentified(503, json_text.to_text(body).encode(), [(b"retry-after", str(RETRY_SECONDS).encode())])


def anonymous(app: App, address: str) -> Caller:
    """A caller without a name. Limits, cached answers and confirmations are bound to the address."""
    return _anonymous(address, app.local_caller.grants)


@lru_cache(maxsize=1024)
def _anonymous(address: str, grants: frozenset[str]) -> Caller:
    return Caller(f"anonymous:{address}", None, grants)


def request_headers(app: App, scope: Scope) -> RequestHeaders:
    """The headers of a request that the app declared; the first where one was sent twice."""
    if not app.request_headers:
        return NO_HEADERS
    declared = RequestHeaders()
    for raw_name, value in scope["headers"]:
        name = raw_name.decode("latin-1").lower()
        if name in app.request_headers:
            declared.setdefault(name, value.strip(b" \t").decode("latin-1"))
    return declared


class ByGrants(Generic[T]):
    """A value made once for all callers with the same permissions."""

    def __init__(self, make: Callable[[Caller], T]) -> None:
        self._make = make
        self._made: dict[object, T] = {}

    def get(self, caller: Caller, without: frozenset[str] = frozenset()) -> T:
        """The value for the permissions of this caller, who sees no tool that is in `without`."""
        key = (caller.grants, caller.denied, without) if caller.denied or without else caller.grants
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= MAX_LISTS:
                self._made.clear()
            made = self._made[key] = self._make(caller)
        return made


def allowed_hosts(settings: Settings) -> list[str]:
    """The values that a Host header may have; `:*` stands for any port.

    A server that listens on all addresses also answers to the name of its machine.
    """
    hosts = [settings.host, "127.0.0.1", "localhost", "[::1]", *settings.allow_hosts]
    if settings.host in EVERYWHERE:
        hosts.append(socket.gethostname())
    return [form for host in hosts for form in (host, f"{host}:*")]


def allowed_origins(settings: Settings) -> list[str]:
    """The values that an Origin header may have. Requests without one are allowed."""
    schemes = ("http", "https") if settings.tls_cert or settings.trusted_proxies else ("http",)
    return [*settings.allow_origins, *(f"{scheme}://{host}" for scheme in schemes for host in allowed_hosts(settings))]


_PORT = re.compile("[0-9]{0,5}")


def is_allowed(value: str, allowed: frozenset[str]) -> bool:
    """Whether the value of a header is allowed, as it is or with any port."""
    if value in allowed:
        return True
    host, _, port = value.rpartition(":")
    return _PORT.fullmatch(port) is not None and f"{host}:*" in allowed
