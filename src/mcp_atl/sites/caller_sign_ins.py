"""Callers over HTTP who are signed in with OAuth: `mcp-atl login --caller NAME`."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mcp_atl.site import Access, AtlassianSite
from mcp_atl.sites.callers import login_command
from mcp_atl.sites.store import CredentialStore

if TYPE_CHECKING:
    import httpx2

    from mcp_atl.sites.oauth import OAuthTokens

MAX_CALLERS = 1000
"""Whose sign-ins are kept in memory. That of another one is read again."""


class CallerAccess(NamedTuple):
    """The site with the limits that this server has for it, and the tokens of one caller there."""

    access: Access
    tokens: "OAuthTokens"


class _Known(NamedTuple):
    """The entry of one site in the file of a caller, and the version of the file."""

    version: int
    access: CallerAccess | None


class CallerSignIns:
    """The sign-ins of all callers. A look-up of one that is in memory reads no file."""

    def __init__(self, store: CredentialStore) -> None:
        self._store = store
        self._known: dict[tuple[str, str], _Known] = {}

    def find(self, caller: str, site: AtlassianSite, http: "Callable[[], httpx2.AsyncClient]") -> CallerAccess | None:
        """The sign-in of a caller to a site; None where there is none."""
        store, key = self._store.of_caller(caller), (caller, site.name)
        version, known = store.version(), self._known.pop(key, None)
        if version is None:
            return None
        if known is None or known.version != version:
            known = _Known(version, self._read(store, caller, site, http, known.access if known else None))
        self._known[key] = known
        if len(self._known) > MAX_CALLERS:
            del self._known[next(iter(self._known))]
        return known.access

    def _read(
        self,
        store: CredentialStore,
        caller: str,
        site: AtlassianSite,
        http: "Callable[[], httpx2.AsyncClient]",
        before: CallerAccess | None,
    ) -> CallerAccess | None:
        from mcp_atl.sites.oauth import OAuthTokens  # noqa: PLC0415 - 20 ms that callers without a sign-in do not need

        stored = next((one for one in store.load().values() if one.site.is_same(site)), None)
        if stored is None:
            return None
        tokens = OAuthTokens(stored, http(), store, login=login_command(caller))
        if before is not None and before.tokens.login_id == tokens.login_id:
            return before  # only renewed, by this process or another: the access token stays valid
        own = replace(site, cloud_id=stored.site.cloud_id, gateway=stored.site.gateway)
        return CallerAccess(Access(own, stored.jira, stored.confluence), tokens)
