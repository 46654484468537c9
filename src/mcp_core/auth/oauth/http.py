"""Requests to authorization servers: bounded in time and size, without redirects, which could lead to another host."""

import asyncio
import functools
import os
import socket
import ssl
import zlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import urlencode, urlsplit

from pydantic_core import from_json

from mcp_core.auth.oauth.errors import OAuthUnavailable
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject

if TYPE_CHECKING:
    import httpx2

SECONDS = 15.0
MAX_ANSWER_BYTES = 1_000_000
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
_TOO_LONG = f"the answer has more than {MAX_ANSWER_BYTES:,} bytes"
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class JsonResponse(NamedTuple):
    """A status, and the JSON document that came with it."""

    status: int
    content: Any = None
    """None where something else came."""
    problem: str = ""
    """Why there is no content."""
    challenges: tuple[str, ...] = ()
    """The values of `WWW-Authenticate`."""

    @property
    def fields(self) -> JsonObject:
        """The content, if it is an object; else an empty one."""
        return cast(JsonObject, self.content) if isinstance(self.content, dict) else {}


class OAuthHttp:
    """The HTTP client of sign-ins. All methods raise OAuthUnavailable where no response comes."""

    def __init__(self, client: "Callable[[], httpx2.AsyncClient] | None" = None, seconds: float = SECONDS) -> None:
        """`client` gives the connections to use. Without it, each request has a connection of its own."""
        self._client, self._seconds = client, seconds

    async def get(
        self, url: str, headers: Mapping[str, str] = _NO_HEADERS, seconds: float | None = None
    ) -> JsonResponse:
        """The response to a GET request."""
        return await self._send("GET", url, headers, b"", seconds)

    async def post_form(
        self,
        url: str,
        form: Mapping[str, str],
        headers: Mapping[str, str] = _NO_HEADERS,
        seconds: float | None = None,
    ) -> JsonResponse:
        """The response to a form."""
        return await self._send("POST", url, {**headers, "content-type": FORM}, urlencode(form).encode(), seconds)

    async def post_json(
        self, url: str, document: Mapping[str, Any], headers: Mapping[str, str] = _NO_HEADERS
    ) -> JsonResponse:
        """The response to a JSON document."""
        body = json_text.to_text(dict(document)).encode()
        return await self._send("POST", url, {**headers, "content-type": JSON}, body, None)

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, seconds: float | None
    ) -> JsonResponse:
        import httpx2  # noqa: PLC0415 - 98 ms

        seconds = seconds or self._seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(method, url, headers, body)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:  # a port may be no number
            is_late = isinstance(error, TimeoutError | httpx2.TimeoutException)
            reason = f"it did not answer within {seconds:g} seconds" if is_late else _reason(error)
            host = urlsplit(url).netloc
            message = f"cannot be signed in to now: {host} cannot be reached ({reason})."
            raise OAuthUnavailable(message, reason=reason) from None

    async def _exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> JsonResponse:
        sent = {"accept": JSON, "accept-encoding": "gzip, deflate", **headers}
        async with (
            self._connected() as client,
            client.stream(method, url, headers=sent, content=body, follow_redirects=False) as response,
        ):
            challenges = tuple(response.headers.get_list("www-authenticate"))
            # A stream of events may never end, and has nothing that is wanted here.
            if response.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream":
                return JsonResponse(response.status_code, None, "the answer is a stream", challenges)
            try:
                content: Any = from_json(await _read(response))
            except ValueError as error:
                problem = str(error) if str(error) == _TOO_LONG else "the answer is not JSON"
                return JsonResponse(response.status_code, None, problem, challenges)
            return JsonResponse(response.status_code, content, "", challenges)

    @asynccontextmanager
    async def _connected(self) -> "AsyncGenerator[httpx2.AsyncClient]":
        import httpx2  # noqa: PLC0415 - 98 ms, loaded by now

        if self._client is not None:
            yield self._client()
            return
        async with httpx2.AsyncClient(verify=_tls(), trust_env=False, timeout=self._seconds) as client:
            yield client


async def _read(response: "httpx2.Response") -> bytes:
    """The body. Raises ValueError if it is too long, also once it is decoded."""
    body = b""
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise ValueError(_TOO_LONG)
    if response.headers.get("content-encoding", "identity").strip().lower() in ("gzip", "deflate"):
        try:
            body = zlib.decompressobj(wbits=32 + zlib.MAX_WBITS).decompress(body, MAX_ANSWER_BYTES + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from None
        if len(body) > MAX_ANSWER_BYTES:
            raise ValueError(_TOO_LONG)
    return body


@functools.cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _reason(error: BaseException) -> str:
    """The reason of the system, such as `Connection refused`, or else of the library."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        if isinstance(cause, OSError) and cause.errno:
            is_system = not isinstance(cause, ssl.SSLError | socket.gaierror)
            return os.strerror(cause.errno) if is_system else cause.strerror or str(cause)
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__
