"""Resources of an upstream that clients subscribe to."""

import asyncio
from collections.abc import Callable, Iterable

from mcp_core.hosts.names import INVALID_REQUEST
from toolcharter.govern.upstream.errors import UpstreamRefused
from toolcharter.govern.upstream.session import ANSWER_SECONDS, UpstreamSession

OnUpdated = Callable[[str], None]
"""Takes the address of a resource that has changed."""


class SessionWatch:
    """The resources that one session is subscribed to: with a request for each, or with a stream for all of them."""

    def __init__(self, session: UpstreamSession, on_lost: Callable[[], None]) -> None:
        """`on_lost` is called if the upstream ends the stream."""
        self._session, self._on_lost = session, on_lost
        self._uris: set[str] = set()
        self._lock = asyncio.Lock()
        self._stream: asyncio.Future[None] | None = None
        self._acknowledged: asyncio.Future[frozenset[str]] | None = None
        session.on_acknowledged = self._acknowledge

    async def add(self, uri: str) -> None:
        """Subscribe to a resource. Raises UpstreamRefused or UpstreamUnavailable."""
        async with self._lock:
            if uri in self._uris:
                return
            if self._session.is_modern:
                await self._listen({*self._uris, uri})
            else:
                await self._session.request("resources/subscribe", {"uri": uri}, seconds=ANSWER_SECONDS)
            self._uris.add(uri)

    async def remove(self, uri: str) -> None:
        """Stop to watch a resource. Raises UpstreamRefused or UpstreamUnavailable."""
        async with self._lock:
            if uri not in self._uris:
                return
            self._uris.discard(uri)
            if not self._session.is_modern:
                await self._session.request("resources/unsubscribe", {"uri": uri}, seconds=ANSWER_SECONDS)
            elif self._uris:
                await self._listen(self._uris)
            else:
                self.close()

    def close(self) -> None:
        """End the stream."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.cancel()

    async def _listen(self, uris: Iterable[str]) -> None:
        """Replace the stream by one for these resources. The old one ends when the new one is acknowledged."""
        wanted = frozenset(uris)
        acknowledged = self._acknowledged = asyncio.get_running_loop().create_future()
        stream = asyncio.ensure_future(self._session.listen_to(sorted(wanted)))
        await asyncio.wait({stream, acknowledged}, timeout=ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        self._acknowledged = None
        if not acknowledged.done() or wanted - acknowledged.result():
            stream.cancel()
            raise UpstreamRefused(INVALID_REQUEST, "it does not tell when this resource changes")
        self.close()
        self._stream = stream
        stream.add_done_callback(self._ended)

    def _acknowledge(self, uris: frozenset[str]) -> None:
        if self._acknowledged is not None and not self._acknowledged.done():
            self._acknowledged.set_result(uris)

    def _ended(self, stream: "asyncio.Future[None]") -> None:
        if stream is self._stream:
            self._stream, self._uris = None, set()
            self._on_lost()


class Watchers:
    """The subscribers of resources, by the key of the connection. They outlive connections."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, list[OnUpdated]]] = {}

    def add(self, key: str, uri: str, on_updated: OnUpdated) -> None:
        """Call a function when a resource changes."""
        self._found.setdefault(key, {}).setdefault(uri, []).append(on_updated)

    def remove(self, key: str, uri: str, on_updated: OnUpdated) -> bool:
        """Call the function no longer. True if the resource has no other."""
        uris = self._found.get(key, {})
        if on_updated in (callbacks := uris.get(uri, [])):
            callbacks.remove(on_updated)
        if callbacks:
            return False
        uris.pop(uri, None)
        if not uris:
            self._found.pop(key, None)
        return True

    def clear(self) -> None:
        """Remove all functions."""
        self._found.clear()

    def uris(self, key: str) -> list[str]:
        """The resources with a function."""
        return list(self._found.get(key, ()))

    def notify(self, key: str, changed: str) -> None:
        """Call the functions of a resource, and of those above it in its path."""
        for uri, callbacks in list(self._found.get(key, {}).items()):
            if changed == uri or changed.startswith(f"{uri.rstrip('/')}/"):
                for on_updated in list(callbacks):
                    on_updated(changed)
