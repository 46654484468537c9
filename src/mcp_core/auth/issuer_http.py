"""Requests to an issuer: each takes a bounded time and reads a bounded answer."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import httpx2

from mcp_core.auth.caller import IdentityUnavailable
from mcp_core.mcp_log import get_logger
from mcp_core.start_errors import InvalidSetting

logger = get_logger(__name__)

TIMEOUT_SECONDS = 3.0
MAX_ANSWER_BYTES = 1_000_000
MAX_ERROR_CHARS = 300
"""How much a log shows of what an issuer says."""
_FAILURES = (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


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
        self.health = IssuerHealth(ok=True, since=clock())

    async def get(self, url: str) -> dict[str, Any]:
        """The JSON object at a URL. Raises IdentityUnavailable."""
        return await self._request("GET", url)

    async def get_first(self, *urls: str) -> dict[str, Any]:
        """The JSON object at the first URL that has one. Raises IdentityUnavailable."""
        seconds = TIMEOUT_SECONDS / len(urls)
        for url in urls[:-1]:
            with suppress(*_FAILURES):
                async with asyncio.timeout(seconds):
                    return await self._read("GET", url)
        return await self._request("GET", urls[-1], seconds)

    async def post(self, url: str, form: Mapping[str, str], credentials: tuple[str, str] | None) -> dict[str, Any]:
        """The JSON object that is the answer to a form. Raises IdentityUnavailable."""
        return await self._request("POST", url, data=dict(form), auth=credentials)

    async def _request(self, method: str, url: str, seconds: float | None = None, **options: Any) -> dict[str, Any]:
        seconds = seconds or TIMEOUT_SECONDS
        try:
            async with asyncio.timeout(seconds):
                content = await self._read(method, url, **options)
        except _FAILURES as error:
            late = isinstance(error, TimeoutError | httpx2.TimeoutException)
            reason = f"it did not answer within {seconds:g} seconds" if late else str(error)
            # Not `URL: reason`: what follows `token:` is taken for a secret in a log.
            raise self.fault(f"{url} ({reason})") from None
        self._set_health(ok=True)
        return content

    def fault(self, detail: str) -> IdentityUnavailable:
        """What to raise where the issuer cannot be used. The log has the detail; the client does not need it."""
        self._set_health(ok=False, detail=detail)
        return IdentityUnavailable("The issuer of access tokens cannot be used now. Try again.")

    async def _read(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        if self._client is None:
            # Redirects are not followed: they could lead to another host.
            self._client = httpx2.AsyncClient(
                timeout=TIMEOUT_SECONDS, follow_redirects=False, transport=self._transport
            )
        async with self._client.stream(method, url, headers={"accept": "application/json"}, **options) as response:
            parts: list[bytes] = []
            async for part in response.aiter_bytes():
                parts.append(part)
                if sum(map(len, parts)) > MAX_ANSWER_BYTES:
                    raise ValueError(f"the answer has more than {MAX_ANSWER_BYTES:,} bytes")
        whole = httpx2.Response(response.status_code, content=b"".join(parts))
        if whole.status_code != HTTPStatus.OK:
            raise ValueError(f"the status is {whole.status_code}{_oauth_error(whole)}")
        content: Any = whole.json()
        if not isinstance(content, dict):
            raise ValueError("the answer is not a JSON object")  # noqa: TRY004 - as all that an issuer does wrong
        return cast(dict[str, Any], content)

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


def _oauth_error(response: httpx2.Response) -> str:
    """What an issuer says of a request that it refuses (RFC 6749), such as `invalid_client`."""
    with suppress(ValueError):
        content: Any = response.json()
        if isinstance(content, dict):
            fields = cast(dict[str, Any], content)
            said = [value for name in ("error", "error_description") if isinstance(value := fields.get(name), str)]
            words = " ".join(", ".join(said).split())
            return f", {words[:MAX_ERROR_CHARS]}" if words.isprintable() and words else ""
    return ""


def check_url(url: str, option: str) -> str:
    """A URL that tokens and keys may be sent to. Raises InvalidSetting."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and parts.hostname in _LOOPBACK:
        return url
    raise InvalidSetting(f"{option} is {url!r}. It must begin with https://; http:// is allowed for localhost only.")
