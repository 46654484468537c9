"""The sites of this server, and the connection that a call uses."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from mcp_atl.client.connection import Connection
from mcp_atl.site import Access
from mcp_atl.sites.store import CredentialStore
from toolcharter import InvalidArguments, ToolContext, Unavailable


class Sites:
    """The sites by name; the first is the default. Connections are pooled for each site."""

    def __init__(
        self,
        sites: Mapping[str, Access],
        transports: Mapping[str, Callable[[], Any]] | None = None,
        store: CredentialStore | None = None,
    ) -> None:
        """`transports` make what replaces the network, by the name of a site: the sandbox is one."""
        self._sites = dict(sites)
        self._store = store
        self._transports = dict(transports or {})
        self._pools: dict[str, tuple[Any, asyncio.Semaphore]] = {}

    @property
    def names(self) -> list[str]:
        """The names of all sites, the default first."""
        return list(self._sites)

    def access(self, name: str | None) -> Access:
        """A site with its credentials; the default site without a name."""
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
        self._store = store

    def add(self, access: Access, *, make_default: bool) -> str:
        """Keep a site and its credentials for this and later processes, and say where."""
        if self._store is None:
            raise Unavailable("This server keeps no credentials. Set them in its environment.")
        self._store.save(access)
        others = {name: one for name, one in self._sites.items() if name != access.site.name}
        new = {access.site.name: access}
        self._sites = new | others if make_default else others | new
        return self._store.place

    def connect(self, name: str | None, context: ToolContext) -> Connection:  # noqa: ARG002 - whose call it is
        """The connection for one call."""
        return self.connection(self.access(name))

    def connection(self, access: Access) -> Connection:
        """A connection with these credentials. All connections to a site share its pool."""
        from mcp_atl.client.http import MOST_REQUESTS, SiteClient, open_http  # noqa: PLC0415 - 98 ms, httpx2

        key = access.site.name
        if key not in self._pools:
            make_transport = self._transports.get(key)
            pool = open_http(access.site, make_transport() if make_transport else None)
            self._pools[key] = pool, asyncio.Semaphore(MOST_REQUESTS)
        pool, slots = self._pools[key]
        return SiteClient(access, pool, slots=slots)

    async def close(self) -> None:
        """Close all connections."""
        for pool, _ in self._pools.values():
            await pool.aclose()
        self._pools.clear()
