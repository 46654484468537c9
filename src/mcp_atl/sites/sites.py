"""The sites of this server, and the connection that a call uses."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_atl.client.connection import SiteConnection
from mcp_atl.site import Access, AtlassianSite
from mcp_atl.sites.caller_sign_ins import CallerAccess, CallerSignIns
from mcp_atl.sites.callers import (
    SITE,
    CallerPolicy,
    credentials_of_another_site,
    missing_credentials,
    own_credentials,
)
from mcp_atl.sites.store import CredentialStore
from toolcharter import InvalidArguments, PermissionDenied, ToolContext, Unavailable

if TYPE_CHECKING:
    from mcp_atl.sites.oauth import OAuthTokens

OTHER_SITES = "*"
"""The key of the pool for sites that are not configured."""


class Sites:
    """The sites by name; the first is the default. Connections are pooled for each site."""

    def __init__(
        self,
        sites: Mapping[str, Access],
        transports: Mapping[str, Callable[[], Any]] | None = None,
        store: CredentialStore | None = None,
        callers: CallerPolicy | None = None,
        fixed: frozenset[str] = frozenset(),
    ) -> None:
        """`transports` make what replaces the network, by the name of a site. Nobody can change `fixed`."""
        self._sites = dict(sites)
        self._store, self._fixed = store, fixed
        self._transports = dict(transports or {})
        self._pools: dict[str, tuple[Any, asyncio.Semaphore]] = {}
        self._callers = callers or CallerPolicy()
        self._tokens: dict[str, OAuthTokens] = {}
        self._sign_ins = CallerSignIns(store) if store is not None else None

    @property
    def names(self) -> list[str]:
        """The names of all sites, the default first."""
        return list(self._sites)

    def access(self, name: str | None) -> Access:
        """A site with its credentials; the default site without a name."""
        if not self._sites:
            raise InvalidArguments(f"No site is configured. Name the address of yours in the header {SITE}.")
        if name is None:
            return next(iter(self._sites.values()))
        if name not in self._sites:
            raise InvalidArguments(
                f"The site {name!r} is not configured. Configured sites: {', '.join(self._sites)}.",
                fields=("parameters",),
            )
        return self._sites[name]

    def keep_in(self, store: CredentialStore) -> None:
        """Keep credentials elsewhere."""
        self._store, self._sign_ins = store, CallerSignIns(store)

    def add(self, access: Access, *, make_default: bool) -> str:
        """Keep a site and its credentials for this and later processes. Returns where."""
        if self._store is None:
            raise Unavailable("This server keeps no credentials. Set them in its environment.")
        if any(access.site.is_same(self._sites[name].site) for name in self._fixed):
            raise PermissionDenied(
                f"The site {access.site.name!r} is configured in the file of --sites. Its owner can change it there."
            )
        self._store.save(access)
        self._tokens.pop(access.site.name, None)
        others = {name: one for name, one in self._sites.items() if name != access.site.name}
        new = {access.site.name: replace(access, site=self._callers.restrict(access.site))}
        self._sites = new | others if make_default else others | new
        return self._store.place

    @property
    def credentials_required(self) -> bool:
        """Whether each caller must bring credentials."""
        return self._callers.credentials_required

    def connect(self, name: str | None, context: ToolContext) -> SiteConnection:
        """The connection for one call: with the credentials of its caller, or else with those of this server."""
        credentials, chosen = own_credentials(context.headers), context.headers.get(SITE.lower()) or None
        if credentials is None:
            access = self.access(name or chosen)
            if (own := self._caller_access(access.site, context.user_id)) is not None:
                return self._connect(own.access, own.tokens)
            if self._callers.credentials_required:
                raise missing_credentials(access.site.name, context.user_id)
            return self.connection(access)
        site = self._callers_site(chosen)
        if name is not None and name != site.name:
            raise credentials_of_another_site(site.name, self.access(name).site.name)
        return self.connection(Access(site, credentials, credentials))

    def _caller_access(self, site: AtlassianSite, caller: str | None) -> CallerAccess | None:
        if caller is None or self._sign_ins is None:
            return None
        return self._sign_ins.find(caller, site, lambda: self._pool(site)[0])

    def _callers_site(self, chosen: str | None) -> AtlassianSite:
        """The site that the credentials of a caller are for."""
        if chosen is None or chosen in self._sites or (named := self._callers.site_at(chosen)) is None:
            return self.access(chosen).site
        # The limits of a configured site hold also for those who name it by its address.
        configured = (access.site for access in self._sites.values())
        return next((site for site in configured if named.hosts & site.hosts), named)

    def connection(self, access: Access) -> SiteConnection:
        """A connection with these credentials. All connections to a site share its pool.

        The sites that callers chose by address share one pool: nobody but them decides how many there are.
        """
        return self._connect(access, self._access_tokens(access))

    def _connect(self, access: Access, tokens: "OAuthTokens | None") -> SiteConnection:
        from mcp_atl.client.http import SiteClient  # noqa: PLC0415 - 98 ms, httpx2

        pool, slots = self._pool(access.site)
        return SiteClient(access, pool, slots=slots, tokens=tokens)

    def _pool(self, site: AtlassianSite) -> tuple[Any, asyncio.Semaphore]:
        from mcp_atl.client.http import MAX_REQUESTS, open_http  # noqa: PLC0415 - 98 ms, httpx2

        key = site.name if site.name in self._sites else OTHER_SITES
        if key not in self._pools:
            make_transport = self._transports.get(key)
            pool = open_http(site, make_transport() if make_transport else None)
            self._pools[key] = pool, asyncio.Semaphore(MAX_REQUESTS)
        return self._pools[key]

    def _access_tokens(self, access: Access) -> "OAuthTokens | None":
        """The tokens of a site that was signed in to with OAuth. All connections share them."""
        if access.jira.scheme != "oauth":
            return None
        if access.site.name not in self._tokens:
            from mcp_atl.sites.oauth import OAuthTokens  # noqa: PLC0415 - 20 ms that few sites need

            self._tokens[access.site.name] = OAuthTokens(access, self._pool(access.site)[0], self._store)
        return self._tokens[access.site.name]

    async def close(self) -> None:
        """Close all connections."""
        for pool, _ in self._pools.values():
            await pool.aclose()
        self._pools.clear()
