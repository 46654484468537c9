"""Callers with their permissions, and the interface of what finds the caller of a token."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

LOCAL = "local"
"""The key of the caller who has no name: the person who started the server."""

MAX_NAME_LENGTH = 256

STATIC_PREFIX = "tch_"
"""Every static token begins with it, so that scanners find tokens that were published by mistake."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and what they may do. Limits, cached answers and confirmations are bound to `key`."""

    key: str = LOCAL
    user_id: str | None = None
    grants: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    """Permissions that the caller does not have, whatever `grants` says."""
    scopes: frozenset[str] | None = None
    """The scopes of the caller's access token; None for a caller without one."""

    def lacks(self, permissions: tuple[str, ...]) -> tuple[str, ...]:
        """The permissions that are not granted. `*` grants all of them, `cards:*` all actions on cards."""
        grants = self.grants
        if not self.denied and (grants.issuperset(permissions) or "*" in grants):
            return ()
        return tuple(p for p in permissions if not is_in(p, grants) or is_in(p, self.denied))


def is_in(permission: str, patterns: Collection[str]) -> bool:
    """Whether a permission is one of these, or matches a wildcard among them."""
    return permission in patterns or "*" in patterns or f"{permission.partition(':')[0]}:*" in patterns


def digest(token: str) -> bytes:
    """The SHA-256 of a token. A token has 256 random bits or a signature, so that no salt is needed."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


class TokenVerifier(Protocol):
    """Turns a bearer token into a caller. Write your own for tokens that toolcharter does not know."""

    async def verify(self, token: str) -> Caller | None:
        """The caller that the token identifies; None where it is not valid. Raises IdentityUnavailable."""
        ...


class IdentityUnavailable(Exception):
    """Whether a token is valid cannot be found out now. The client should try again."""


def user(name: str, grants: Collection[str]) -> Caller:
    """A caller with a name."""
    return Caller(key=f"user:{name}", user_id=name, grants=frozenset(grants))


def is_user_name(name: object) -> bool:
    """Whether a text can be the name of a user. Servers keep the data of a caller without a name under `local`."""
    if not isinstance(name, str) or not name.strip() or name == LOCAL:
        return False
    return name.isprintable() and len(name) <= MAX_NAME_LENGTH
