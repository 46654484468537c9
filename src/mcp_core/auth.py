"""Callers with their permissions, and the bearer tokens that identify them over HTTP."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from mcp_core.start_errors import InvalidSetting

LOCAL = "local"
"""The key of the caller who has no name: the person who started the server."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and what they may do. Limits, cached answers and confirmations are bound to `key`."""

    key: str = LOCAL
    user_id: str | None = None
    grants: frozenset[str] = frozenset()

    def lacks(self, permissions: tuple[str, ...]) -> tuple[str, ...]:
        """The permissions that are not granted. `*` grants all of them, `cards:*` all actions on cards."""
        grants = self.grants
        if grants.issuperset(permissions) or "*" in grants:
            return ()
        return tuple(p for p in permissions if p not in grants and f"{p.partition(':')[0]}:*" not in grants)


class TokenVerifier(Protocol):
    """Turns a bearer token into a caller. Write your own for JWTs or an introspection endpoint."""

    async def verify(self, token: str) -> Caller | None:
        """The caller that the token identifies; None where it is not valid."""
        ...


class StaticTokens:
    """Tokens from a file or a mapping. Only their digests are kept in memory."""

    def __init__(self, tokens: Mapping[str, Caller]) -> None:
        self._callers = {_digest(token): caller for token, caller in tokens.items()}

    @classmethod
    def from_file(cls, path: Path) -> "StaticTokens":
        """Read `{TOKEN: {"user": NAME, "grants": [PERMISSION, ...]}}`."""
        try:
            entries = cast(dict[str, dict[str, Any]], json.loads(path.read_text(encoding="utf-8")))
            return cls({token: user(_name(entry), _grants(entry)) for token, entry in entries.items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            form = '{"TOKEN": {"user": "ann", "grants": ["cards:read"]}}'
            raise InvalidSetting(f"{path} is not a readable token file ({error!r}); it must look like {form}") from None

    async def verify(self, token: str) -> Caller | None:
        """Look the token up by its digest, so that timing reveals nothing about it."""
        return self._callers.get(_digest(token))


def user(name: str, grants: "tuple[str, ...] | list[str]") -> Caller:
    """A caller with a name."""
    return Caller(key=f"user:{name}", user_id=name, grants=frozenset(grants))


def _name(entry: Mapping[str, Any]) -> str:
    """The user of an entry. Servers keep the data of a caller without a name under `local`."""
    name = entry["user"]
    if not isinstance(name, str) or not name.strip() or name == LOCAL:
        raise ValueError(f"user is {name!r}, which is not the name of a user")
    return name


def _grants(entry: Mapping[str, Any]) -> list[str]:
    """The grants of an entry. A text in place of a list would grant each of its characters, also `*`."""
    grants = entry.get("grants", [])
    if not isinstance(grants, list) or not all(isinstance(grant, str) for grant in cast(list[Any], grants)):
        raise TypeError(f"grants is {grants!r}, not a list of permissions")
    return cast(list[str], grants)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
