"""Who calls over HTTP, and whether the request comes from where it may: before the protocol is looked at."""

from typing import Any

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.settings import Settings

Scope = Any

UNAUTHORIZED = b'{"error":"invalid_token","error_description":"Send a valid token: Authorization: Bearer TOKEN"}'


async def http_caller(app: App, scope: Scope, authorization: str) -> Caller | None:
    """The caller, or None where a token is asked for and not given."""
    if app.verifier is None:
        if app.local_caller.user_id is not None:
            return app.local_caller
        client = scope.get("client")
        return Caller(f"anonymous:{client[0] if client else '?'}", None, app.local_caller.grants)
    scheme, _, token = authorization.partition(" ")
    return await app.verifier.verify(token.strip()) if scheme.lower() == "bearer" and token else None


async def refuse(send: Any) -> None:
    """Answer 401."""
    headers = [(b"content-type", b"application/json"), (b"www-authenticate", b'Bearer error="invalid_token"')]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": UNAUTHORIZED})


def allowed_hosts(settings: Settings) -> list[str]:
    """What a Host header may say; `:*` stands for any port."""
    hosts = [settings.host, "127.0.0.1", "localhost", "[::1]", *settings.allow_hosts]
    return [form for host in hosts for form in (host, f"{host}:*")]


def allowed_origins(settings: Settings) -> list[str]:
    """What an Origin header may say, if there is one."""
    return [*settings.allow_origins, *(f"http://{host}" for host in allowed_hosts(settings))]


def matches(value: str, allowed: frozenset[str]) -> bool:
    """Whether a header's value is allowed as it stands, or with any port."""
    return value in allowed or f"{value.rpartition(':')[0]}:*" in allowed
