"""Requests to the issuer of access tokens, and its health."""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2

from mcp_core.auth.caller import IdentityUnavailable
from mcp_core.auth.oauth.addresses import check_address, is_loopback
from mcp_core.auth.oauth.errors import OAuthError, OAuthUnavailable
from mcp_core.auth.oauth.http import JsonResponse, OAuthHttp
from mcp_core.auth.oauth.metadata import server_metadata_urls
from mcp_core.mcp_log import get_logger
from mcp_core.process.start_errors import InvalidSetting
from mcp_core.text.json_text import JsonObject

logger = get_logger(__name__)

TIMEOUT_SECONDS = 3.0
MAX_ERROR_CHARS = 300
"""In characters: how much of an issuer's answer a log shows."""
_NO_HEADERS: Mapping[str, str] = {}


class IssuerHealth(NamedTuple):
    """Whether the issuer answered the last request, since when, and what the problem is."""

    ok: bool
    since: float
    """In seconds since 1970."""
    detail: str = ""
    failures: int = 0
    """How often it stopped to answer, since the start."""


class IssuerHttp:
    """The HTTP client for one issuer. It knows whether the issuer answers."""

    def __init__(self, transport: Any = None, *, clock: Callable[[], float] = time.time) -> None:
        self._transport, self._clock = transport, clock
        self._client: httpx2.AsyncClient | None = None
        self._http = OAuthHttp(self._open_client)
        self.health = IssuerHealth(ok=True, since=clock())

    async def get(self, url: str) -> JsonObject:
        """The JSON object at a URL. Raises IdentityUnavailable."""
        return self._checked(url, await self._answered(self._http.get(url, seconds=TIMEOUT_SECONDS), url))

    async def post(self, url: str, form: Mapping[str, str], headers: Mapping[str, str] = _NO_HEADERS) -> JsonObject:
        """The JSON object that is the answer to a form. Raises IdentityUnavailable."""
        sent = self._http.post_form(url, form, headers, seconds=TIMEOUT_SECONDS)
        return self._checked(url, await self._answered(sent, url))

    async def metadata(self, issuer: str) -> JsonObject:
        """The metadata of the issuer, with `issuer` as the issuer writes it. Raises IdentityUnavailable."""
        *_, openid = urls = server_metadata_urls(issuer)
        first, seconds = JsonResponse(0), TIMEOUT_SECONDS / 2
        # OpenID Connect Discovery always has the address of the keys.
        with suppress(OAuthUnavailable):
            first = await self._http.get(openid, seconds=seconds)
        if first.status == HTTPStatus.OK and first.fields:
            metadata = self._checked(openid, first)
        else:
            metadata = self._checked(urls[0], await self._answered(self._http.get(urls[0], seconds=seconds), urls[0]))
        named = metadata.get("issuer")
        if not isinstance(named, str) or named.rstrip("/") != issuer.rstrip("/"):
            raise self.fault(f"The metadata of {issuer} names another issuer: {named!r}.")
        return metadata

    def endpoint(self, metadata: JsonObject, field: str) -> str:
        """An address in the metadata that secrets may be sent to. Raises IdentityUnavailable."""
        issuer, address = metadata["issuer"], metadata.get(field)
        try:
            return check_address(address, field, issuer)
        except OAuthError:
            raise self.fault(f"The metadata of {issuer} has no valid {field}: {address!r}.") from None

    def fault(self, detail: str) -> IdentityUnavailable:
        """The error for an issuer that cannot be used. The log has the detail; the client does not need it."""
        self._set_health(ok=False, detail=detail)
        return IdentityUnavailable("The issuer of access tokens cannot be used now. Try again.")

    async def _answered(self, request: Awaitable[JsonResponse], url: str) -> JsonResponse:
        try:
            return await request
        except OAuthUnavailable as error:
            # Not `URL: reason`: what follows `token:` is taken for a secret in a log.
            raise self.fault(f"{url} ({error.reason})") from None

    def _checked(self, url: str, response: JsonResponse) -> JsonObject:
        problem = response.problem or ("" if isinstance(response.content, dict) else "the answer is not a JSON object")
        if response.status != HTTPStatus.OK:
            problem = f"the status is {response.status}{_oauth_error(response.fields)}"
        if problem:
            raise self.fault(f"{url} ({problem})")
        self._set_health(ok=True)
        return response.fields

    def _open_client(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = httpx2.AsyncClient(timeout=TIMEOUT_SECONDS, transport=self._transport)
        return self._client

    def _set_health(self, *, ok: bool, detail: str = "") -> None:
        if ok != self.health.ok:
            self.health = IssuerHealth(ok, self._clock(), detail, self.health.failures + (not ok))
            if ok:
                logger.warning("The issuer of access tokens answers again")
            else:
                logger.warning("The issuer of access tokens cannot be used. %s", detail)

    async def close(self) -> None:
        """Close all connections. The next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


def _oauth_error(fields: JsonObject) -> str:
    """The error code of a request that an issuer refuses (RFC 6749), such as `invalid_client`."""
    said = [value for name in ("error", "error_description") if isinstance(value := fields.get(name), str)]
    words = " ".join(", ".join(said).split())
    return f", {words[:MAX_ERROR_CHARS]}" if words.isprintable() and words else ""


def check_url(url: str, option: str) -> str:
    """A URL that tokens and keys may be sent to. Raises InvalidSetting."""
    parts = urlsplit(url)
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(url))):
        return url
    raise InvalidSetting(f"{option} is {url!r}. It must begin with https://; http:// is allowed for localhost only.")
