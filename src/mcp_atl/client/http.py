"""Requests to one site: pooled connections, bounded concurrency, retries, and errors in our own types.

A read is repeated after 429, 502, 503, 504 and a lost connection. A write is repeated only when it certainly did not
arrive: the connection could not be made, or the site refused to begin (429, or 503 with Retry-After).
"""

import asyncio
import random
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast

import httpx2
from pydantic_core import from_json

from mcp_atl.client.errors import SiteUnavailable, WriteOutcomeUnknown, site_error
from mcp_atl.client.transfer import Upload
from mcp_atl.site import Access, AtlassianSite, Product, Secret, TokenSource
from toolcharter.log import get_logger
from toolcharter.telemetry import child_span, is_traced, trace_headers

logger = get_logger(__name__)

TRANSIENT = frozenset({429, 502, 503, 504})
MAX_REQUESTS = 250
"""At once to one site. Further calls wait."""
HTTP_ERRORS = 400
"""The lowest status of an error."""
NOT_IN_SCOPE = "scope does not match"
"""The gateway's message for an access token that was granted too little."""
NOT_STARTED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""Errors after which the request certainly did not reach the site."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to try."""

    attempts: int = 4
    first_wait: float = 0.5
    max_wait: float = 30.0
    budget: float = 60.0
    """Seconds of waiting in all; the deadline of the call may end it sooner."""


class SiteClient:
    """Sends requests to one site as one user."""

    def __init__(
        self,
        access: Access,
        http: httpx2.AsyncClient,
        *,
        slots: asyncio.Semaphore,
        tokens: TokenSource | None = None,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self.site = access.site
        self._access, self._http, self._slots, self._tokens = access, http, slots, tokens
        self._retry, self._sleep, self._dice = retry or RetryPolicy(), sleep, dice

    async def send(
        self,
        product: Product,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        json: Any = None,
        safe: bool | None = None,
        upload: Upload | None = None,
    ) -> Any:
        """The decoded answer; None where there is none. `safe` marks a POST that changes nothing, such as a search."""
        what = f"{method} {path}"
        request = self._http.build_request(
            method,
            self.site.base_url(product) + path,
            params=_query(query),
            json=json,
            data=None if upload is None else dict(upload.fields),
            files=None if upload is None else {"file": (upload.name, upload.content, upload.media_type)},
            headers=await self._headers(product),
        )
        if upload is not None:
            request.stream = _ReportedStream(request.stream, upload)
        repeatable = safe if safe is not None else method in ("GET", "HEAD")
        # A file is read once.
        return _decode(await self._exchange(request, what, repeatable=repeatable, only_once=upload is not None), what)

    async def _exchange(
        self, request: httpx2.Request, what: str, *, repeatable: bool, only_once: bool
    ) -> httpx2.Response:
        """The response to a request, which is sent again after a failure where that is safe."""
        waited = 0.0
        may_renew = not only_once
        for attempt in range(1, self._retry.attempts + 1):
            is_last = attempt == self._retry.attempts or only_once
            pause: float | None = None
            try:
                async with self._slots:
                    response = await self._send(request)
            except httpx2.TransportError as error:
                may_have_arrived = not isinstance(error, NOT_STARTED)
                if is_last or (may_have_arrived and not repeatable):
                    raise _connection_error(error, what, wrote=may_have_arrived and not repeatable) from error
                logger.debug("%s: %r, attempt %d", what, error, attempt)
            else:
                if response.status_code < HTTP_ERRORS:
                    return response
                if may_renew and not is_last and await self._renew_token(request, response):
                    may_renew = False
                    continue
                pause = _retry_after(response)
                too_long = waited + (pause or 0) > self._retry.budget
                if is_last or too_long or not _can_repeat(response.status_code, pause, repeatable=repeatable):
                    raise site_error(response.status_code, _body(response), what=what, retry_after=pause)
                logger.debug("%s: HTTP %d, attempt %d", what, response.status_code, attempt)
            wait = pause if pause is not None else self._backoff(attempt)
            waited += wait
            await self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request. Where calls are traced, the site gets the trace, and the request is a span in it."""
        if not is_traced():
            return await self._http.send(request, **options)
        attributes = {"server.address": request.url.host, "url.path": request.url.path}
        with child_span(f"HTTP {request.method}", attributes=attributes) as span:
            request.headers.update(trace_headers())
            response = await self._http.send(request, **options)
            if span is not None:
                span.set_attribute("http.response.status_code", response.status_code)
            return response

    @asynccontextmanager
    async def stream(
        self, product: Product, path: str, query: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[httpx2.Response]:
        """A download as it arrives. httpx sends our credentials to no other host that the site redirects to."""
        url = self.site.base_url(product) + path
        request = self._http.build_request(
            "GET", url, params=_query(query), headers={**await self._headers(product), "Accept": "*/*"}
        )
        async with self._slots:
            try:
                response = await self._send(request, stream=True, follow_redirects=True)
                if response.status_code == HTTPStatus.UNAUTHORIZED and self._tokens is not None:
                    await response.aread()
                    if await self._renew_token(request, response):
                        response = await self._send(request, stream=True, follow_redirects=True)
            except httpx2.TransportError as error:
                raise _connection_error(error, f"GET {path}", wrote=False) from error
            try:
                if response.status_code >= HTTP_ERRORS:
                    await response.aread()
                    raise site_error(response.status_code, _body(response), what=f"GET {path}")
                yield response
            except httpx2.TransportError as error:
                raise _connection_error(error, f"GET {path}", wrote=False) from error
            finally:
                await response.aclose()

    async def _headers(self, product: Product) -> dict[str, str]:
        headers = {"Accept": "application/json", "X-Atlassian-Token": "no-check"}
        if self._tokens is not None:
            headers["Authorization"] = _bearer(await self._tokens.current())
        elif authorization := self._access.credentials(product).header:
            headers["Authorization"] = authorization
        return headers

    async def _renew_token(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """Put another access token into a request that the site refused with 401, and so did not carry out."""
        if self._tokens is None or response.status_code != HTTPStatus.UNAUTHORIZED:
            return False
        if NOT_IN_SCOPE in response.text:  # another token of the same sign-in would be refused too
            return False
        refused = Secret(request.headers["Authorization"].removeprefix("Bearer "))
        request.headers["Authorization"] = _bearer(await self._tokens.after_refusal(refused))
        return True

    def _backoff(self, attempt: int) -> float:
        """Exponential, with full jitter: clients that failed together do not come back together."""
        return min(self._retry.max_wait, self._retry.first_wait * 2 ** (attempt - 1)) * (0.5 + self._dice() / 2)


class _ReportedStream(httpx2.AsyncByteStream):
    """The body of a request with a file. It reports how much of it was sent."""

    def __init__(self, body: Any, upload: Upload) -> None:
        self._body, self._upload = body, upload

    async def __aiter__(self) -> AsyncIterator[bytes]:
        sent = 0
        async for chunk in self._body:
            yield chunk
            sent += len(chunk)
            await self._upload.report(sent)


def open_http(site: AtlassianSite, transport: httpx2.AsyncBaseTransport | None = None) -> httpx2.AsyncClient:
    """A pool of connections to one site, for all its users.

    It keeps no cookies: a site's session cookie would carry one user's rights into another user's requests.
    """
    return httpx2.AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(30.0, connect=10.0, pool=None),
        limits=httpx2.Limits(max_connections=MAX_REQUESTS, max_keepalive_connections=20),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        verify=_tls(site),
        proxy=site.proxy,
        trust_env=True,
    )


def _bearer(token: Secret) -> str:
    return f"Bearer {token!s}"


def _tls(site: AtlassianSite) -> ssl.SSLContext | bool:
    if site.ca_file is None and site.client_cert is None:
        return True
    context = ssl.create_default_context(cafile=site.ca_file)
    if site.client_cert is not None:
        context.load_cert_chain(site.client_cert, site.client_key)
    return context


def _can_repeat(status: int, pause: float | None, *, repeatable: bool) -> bool:
    """Whether to try again after a failure. A write only if the site refused to begin."""
    refused_to_begin = status == HTTPStatus.TOO_MANY_REQUESTS or (
        status == HTTPStatus.SERVICE_UNAVAILABLE and pause is not None
    )
    return status in TRANSIENT and (repeatable or refused_to_begin)


def _connection_error(error: httpx2.TransportError, what: str, *, wrote: bool) -> SiteUnavailable:
    reason = str(error) or type(error).__name__
    if wrote:
        return WriteOutcomeUnknown(f"The connection broke during {what}: {reason}. The change may have been made.")
    return SiteUnavailable(f"The site cannot be reached ({what}): {reason}.")


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds, whether the header has a number or a date."""
    given = response.headers.get("retry-after", "").strip()
    if not given:
        return None
    try:
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _query(query: Mapping[str, Any] | None) -> dict[str, Any]:
    """Query parameters as the sites read them: nothing that is None, `true` for True."""
    return {key: _text(value) for key, value in (query or {}).items() if value is not None}


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return [_text(item) for item in cast(list[Any], value)] if isinstance(value, (list, tuple)) else value


def _body(response: httpx2.Response) -> Any:
    try:
        return from_json(response.content)
    except ValueError:
        return response.text


def _decode(response: httpx2.Response, what: str) -> Any:
    if response.status_code == HTTPStatus.NO_CONTENT or not response.content:
        return None
    try:
        return from_json(response.content)
    except ValueError:
        kind = response.headers.get("content-type", "nothing").partition(";")[0]
        raise SiteUnavailable(
            f"The answer to {what} is {kind}, not JSON. Check the address: a proxy or a sign-in page may answer there."
        ) from None
