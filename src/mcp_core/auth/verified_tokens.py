"""Access tokens that were verified a moment ago, so that a call costs no second verification."""

import time
from collections.abc import Callable
from typing import NamedTuple

from mcp_core.auth.caller import Caller, digest
from mcp_core.auth.permissions import Permissions, Principal

REMEMBER_SECONDS = 60.0
"""How long a token is believed at most. A token that its issuer revokes may be accepted for this long."""

MAX_REMEMBERED = 10_000


class VerifiedToken(NamedTuple):
    """Who a valid access token stands for, and until when, in seconds since 1970."""

    principal: Principal
    expires: float


class _Remembered(NamedTuple):
    caller: Caller
    expires: float
    believed_until: float


class VerifiedTokens:
    """The callers of verified tokens, by the digest of the token."""

    def __init__(
        self,
        permissions: Permissions,
        *,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._permissions, self._clock, self._timer = permissions, clock, timer
        self._remembered: dict[bytes, _Remembered] = {}

    def get(self, token: str) -> Caller | None:
        """The caller of a token that was verified, if it is still to be believed."""
        known = self._remembered.get(digest(token))
        # Both clocks: the time of day may be set back, and does not stop while a machine sleeps.
        if known is None or known.expires <= self._clock() or known.believed_until <= self._timer():
            return None
        return known.caller

    def add(self, token: str, verified: VerifiedToken) -> Caller:
        """Remember a token that was verified, and return its caller."""
        caller = self._permissions.caller(verified.principal)
        if len(self._remembered) >= MAX_REMEMBERED:
            self._forget_some()
        self._remembered[digest(token)] = _Remembered(caller, verified.expires, self._timer() + REMEMBER_SECONDS)
        return caller

    def clear(self) -> None:
        """Forget all tokens."""
        self._remembered.clear()

    def _forget_some(self) -> None:
        """Forget what is over, and the older half of the rest where that is not enough."""
        now = self._timer()
        fresh = [(key, one) for key, one in self._remembered.items() if one.believed_until > now]
        self._remembered = dict(fresh if len(fresh) < MAX_REMEMBERED else fresh[MAX_REMEMBERED // 2 :])
