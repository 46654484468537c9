"""Access tokens that only their issuer can read: it is asked about each of them (RFC 7662)."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

from mcp_core.auth.caller import IdentityUnavailable, digest
from mcp_core.auth.issuer_http import IssuerHttp
from mcp_core.auth.jwt_tokens import LEEWAY_SECONDS, other_audience, verified_claims
from mcp_core.auth.oauth.clients import basic_authorization
from mcp_core.auth.permissions import Permissions
from mcp_core.auth.verified_tokens import VerifiedToken
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

AT_ONCE = 8
"""How many requests the issuer gets at the same time."""

WAITING = 64
"""How many more tokens may wait for their turn. Further ones get an error, and may try again."""

REFUSED_SECONDS = 10.0
MAX_REFUSED = 10_000


class Introspection:
    """Asks an issuer about tokens, but not again about one that it refused a moment ago."""

    def __init__(
        self,
        url: str,
        credentials: tuple[str, str] | None,
        http: IssuerHttp,
        *,
        issuer: str,
        audiences: Sequence[str],
        permissions: Permissions,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url, self._http = url, http
        self._headers = {} if credentials is None else basic_authorization(*credentials)
        self._issuer, self._audiences, self._permissions = issuer, frozenset(audiences), permissions
        self._clock, self._timer = clock, timer
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        self._refused: dict[bytes, float] = {}

    async def verify(self, token: str) -> VerifiedToken | None:
        """Who the token stands for; None where it is not valid. Raises IdentityUnavailable."""
        key = digest(token)
        if self._refused.get(key, 0.0) > self._timer():
            return None
        verified = self._read(await self._ask(token))
        if verified is None:
            if len(self._refused) >= MAX_REFUSED:
                self._refused.clear()
            self._refused[key] = self._timer() + REFUSED_SECONDS
        return verified

    async def _ask(self, token: str) -> dict[str, Any]:
        if self._waiting >= AT_ONCE + WAITING:
            raise IdentityUnavailable("Too many access tokens are being verified. Try again.")
        self._waiting += 1
        try:
            async with self._turns:
                form = {"token": token, "token_type_hint": "access_token"}
                return await self._http.post(self._url, form, self._headers)
        finally:
            self._waiting -= 1

    def _read(self, claims: dict[str, Any]) -> VerifiedToken | None:
        problem = self._problem(claims)
        if problem is not None:
            logger.info("An access token was refused: %s", problem)
            return None
        user_claim = self._permissions.user_claim
        if user_claim == "sub" and "sub" not in claims and "username" in claims:
            user_claim = "username"
        return verified_claims(claims, user_claim, _number(claims, "exp", math.inf) + LEEWAY_SECONDS)

    def _problem(self, claims: dict[str, Any]) -> str | None:
        now, audience = self._clock(), claims.get("aud")
        audiences = cast(list[Any], audience) if isinstance(audience, list) else [audience]
        if claims.get("active") is not True:
            return "the issuer says that it is not active"
        if str(claims.get("iss", self._issuer)).rstrip("/") != self._issuer.rstrip("/"):
            return f"its iss is {claims['iss']!r:.200}, but --oidc is {self._issuer!r}"
        if not any(isinstance(one, str) and one in self._audiences for one in audiences):
            return other_audience(claims.get("aud"), self._audiences)
        if any(_number(claims, name, 0.0) >= _MAX_TIME for name in ("exp", "nbf")):
            return "its exp or nbf is not a time"
        if _number(claims, "exp", math.inf) + LEEWAY_SECONDS <= now:
            return "it has expired"
        if _number(claims, "nbf", 0.0) - LEEWAY_SECONDS > now:
            return "it is not valid yet"
        return None


_MAX_TIME = 1e12
"""A number of 400 digits is no time, and cannot be converted."""


def _number(claims: dict[str, Any], name: str, default: float) -> float:
    value = claims.get(name)
    return float(min(value, _MAX_TIME)) if isinstance(value, int | float) else default
