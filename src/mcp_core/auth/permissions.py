"""Which permissions a caller has by their token: the interface, and what holds without a policy file."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from mcp_core.auth.caller import Caller


class Principal(NamedTuple):
    """The user that a token stands for, and their claims."""

    user: str
    grants: frozenset[str] = frozenset()
    """The permissions of a static token."""
    scopes: frozenset[str] | None = None
    """The scopes of an access token; None for a static token."""
    claims: Mapping[str, Any] = {}


class Permissions(Protocol):
    """Turns a principal into a caller."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that mean something here."""
        ...

    @property
    def user_claim(self) -> str:
        """The claim that names the user."""
        ...

    def caller(self, principal: Principal) -> Caller:
        """The caller with their permissions."""
        ...

    def scopes_for(self, missing: Sequence[str]) -> tuple[str, ...]:
        """The scopes to request for these permissions; none where scopes are not enough."""
        ...


class ScopesAsPermissions:
    """Without a policy: a scope is the permission of the same name. A wildcard in a scope means nothing."""

    scopes: tuple[str, ...] = ()
    user_claim = "sub"

    def caller(self, principal: Principal) -> Caller:
        scopes = principal.scopes or frozenset[str]()
        grants = principal.grants | {scope for scope in scopes if "*" not in scope}
        return Caller(f"user:{principal.user}", principal.user, grants, scopes=principal.scopes)

    def scopes_for(self, missing: Sequence[str]) -> tuple[str, ...]:
        return tuple(missing)
