"""`SiteConnection`: one user at one site, as the API classes need it. `http.SiteClient` is the real one."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote

from mcp_atl.client.json_values import Json
from mcp_atl.site import AtlassianSite, Product

if TYPE_CHECKING:
    from mcp_atl.client.transfer import Upload

__all__ = ["DownloadStream", "Json", "ResultPage", "SiteConnection", "segment"]


class DownloadStream(Protocol):
    """A file as it arrives."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]: ...


class SiteConnection(Protocol):
    """Sends requests to one site as one user, and raises the errors of `client.errors`."""

    @property
    def site(self) -> AtlassianSite: ...

    async def send(
        self,
        product: Product,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        json: Any = None,
        safe: bool | None = None,
        upload: "Upload | None" = None,
    ) -> Any:
        """The decoded answer; None where there is none. `safe` marks a POST that changes nothing, such as a search."""
        ...

    def stream(
        self, product: Product, path: str, query: Mapping[str, Any] | None = None
    ) -> AbstractAsyncContextManager[DownloadStream]:
        """A download as it arrives."""
        ...


class ResultPage(NamedTuple):
    """Some of the results, and where the next ones begin; no cursor means that these are the last."""

    items: list[Json]
    next_cursor: str | None = None
    total: int | None = None


def segment(value: object) -> str:
    """A value as one segment of a path: nothing in it can lead to another path."""
    text = quote(str(value), safe="")
    # Two dots would be resolved by clients and proxies; percent signs keep them a name.
    return text.replace(".", "%2E") if text in (".", "..") else text
