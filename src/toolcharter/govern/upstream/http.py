"""An upstream over streamable HTTP: each request is a POST, answered with JSON or with a stream of events."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any, cast

import aiohttp
from pydantic_core import from_json

from mcp_core import json_text
from mcp_core.hosts.protocol import INVALID_REQUEST
from mcp_core.json_text import JsonObject
from toolcharter.govern.upstream.errors import UpstreamRefused, UpstreamUnavailable, refused
from toolcharter.govern.upstream.transport import (
    MAX_MESSAGE,
    OnNotification,
    Outgoing,
    as_object,
    ignore_notification,
    progress_token,
)

_ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_SESSION = "Mcp-Session-Id"
_CONNECT_SECONDS = 10.0
_NOTIFY_SECONDS = 10.0
_CONNECTIONS = 100
_CHUNK = 64 * 1024
_ERROR_TEXT = 200


class HttpTransport:
    """The connections to one address. They are kept open and reused."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.on_notification: OnNotification = ignore_notification
        self._url, self._headers = url, headers
        self._http: aiohttp.ClientSession | None = None
        self._ids = itertools.count(1)
        self._session_id: str | None = None
        self._is_lost = False

    @property
    def is_open(self) -> bool:
        return self._http is not None and not self._is_lost

    async def open(self) -> None:
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=_CONNECTIONS),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            headers={**_ACCEPT, **self._headers},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=True,
        )

    async def request(self, outgoing: Outgoing) -> JsonObject:
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": outgoing.method, "params": outgoing.params}
        try:
            async with asyncio.timeout(outgoing.seconds):
                return await self._send(message, outgoing)
        except TimeoutError:
            raise UpstreamUnavailable(f"did not answer within {outgoing.seconds:g} seconds.") from None
        except asyncio.CancelledError:
            await self._cancel(number, outgoing)
            raise

    async def notify(self, method: str, params: JsonObject, headers: Mapping[str, str]) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        try:
            # The answer has no content that matters.
            async with asyncio.timeout(_NOTIFY_SECONDS), self._post(message, headers):
                pass
        except TimeoutError:
            raise UpstreamUnavailable(f"did not accept {method!r} within {_NOTIFY_SECONDS:g} seconds.") from None

    async def close(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            if self._session_id is not None:
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with asyncio.timeout(2):
                        await http.delete(self._url, headers=self._session_headers(), allow_redirects=False)
            await http.close()

    async def _send(self, message: JsonObject, outgoing: Outgoing) -> JsonObject:
        async with self._post(message, outgoing.headers) as response:
            if _SESSION in response.headers and outgoing.method == "initialize":
                self._session_id = response.headers[_SESSION]
            if response.content_type == "text/event-stream":
                answer = await self._from_events(response, message["id"], outgoing)
            else:
                answer = await self._from_json(response)
        result = answer.get("result")
        if isinstance(result, dict):
            return cast(JsonObject, result)
        raise refused(answer.get("error"))

    @contextlib.asynccontextmanager
    async def _post(self, message: JsonObject, headers: Mapping[str, str]) -> AsyncGenerator[aiohttp.ClientResponse]:
        if self._http is None:
            raise UpstreamUnavailable("is not connected.")
        body = json_text.to_text(message).encode()
        try:
            async with self._http.post(
                self._url, data=body, headers={**self._session_headers(), **headers}, allow_redirects=False
            ) as response:
                yield response
        except aiohttp.ClientConnectorError as error:
            self._is_lost = True
            raise UpstreamUnavailable(
                f"cannot be reached at {self._url}: {error.os_error.strerror or error}."
            ) from None
        except aiohttp.ClientError as error:
            raise UpstreamUnavailable(f"broke the connection to {self._url}: {type(error).__name__}.") from None

    def _session_headers(self) -> dict[str, str]:
        return {_SESSION: self._session_id} if self._session_id else {}

    async def _from_json(self, response: aiohttp.ClientResponse) -> JsonObject:
        body = await _read(response)
        try:
            answer: Any = from_json(body)
        except ValueError:
            answer = None
        if isinstance(answer, dict) and ("result" in answer or "error" in answer):
            return cast(JsonObject, answer)
        text = body[:_ERROR_TEXT].decode("utf-8", "replace").strip()
        if response.status == HTTPStatus.NOT_FOUND and self._session_id is not None:
            self._is_lost = True
            raise UpstreamUnavailable("no longer knows our session.")
        if response.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise UpstreamUnavailable(f"requires a token, or rejects ours ({response.status}).")
        if "Location" in response.headers:
            # Not followed: whoever is there would get our credentials.
            address = response.headers["Location"][:_ERROR_TEXT]
            raise UpstreamUnavailable(
                f"moved from {self._url} to {address!r}. If you trust that address, set it as url in the charter."
            )
        if response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise UpstreamRefused(INVALID_REQUEST, f"HTTP {response.status} {response.reason}: {text}")
        raise UpstreamUnavailable(f"answered {response.status} {response.reason} without a message of MCP.")

    async def _from_events(self, response: aiohttp.ClientResponse, number: int, outgoing: Outgoing) -> JsonObject:
        async for data in _events(response):
            try:
                message: Any = from_json(data)
            except ValueError:
                continue
            if not isinstance(message, dict):
                continue
            fields = cast(JsonObject, message)
            if "method" not in fields and fields.get("id") == number:
                return fields
            await self._notified(fields, outgoing)
        raise UpstreamUnavailable("ended the stream without an answer.")

    async def _notified(self, message: JsonObject, outgoing: Outgoing) -> None:
        method, params = message.get("method"), message.get("params")
        fields = as_object(params)
        if method == "notifications/progress" and outgoing.on_progress is not None:
            if fields.get("progressToken") == progress_token(outgoing.params):
                await outgoing.on_progress(fields)
        elif isinstance(method, str) and "id" not in message:
            self.on_notification(method, fields)

    async def _cancel(self, number: int, outgoing: Outgoing) -> None:
        """In a session a notification cancels a request; without one, the closed connection does."""
        if self._session_id is None:
            return
        with contextlib.suppress(UpstreamUnavailable, TimeoutError):
            async with asyncio.timeout(1):
                params = {"requestId": number, "reason": "cancelled"}
                await self.notify("notifications/cancelled", params, outgoing.headers)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_chunked(_CHUNK):
        size += len(chunk)
        if size > MAX_MESSAGE:
            raise UpstreamUnavailable(f"sent an answer that is larger than {MAX_MESSAGE:,} bytes.")
        parts.append(chunk)
    return b"".join(parts)


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The data of each event of a stream."""
    rest, data = b"", list[bytes]()
    size = 0
    async for chunk in response.content.iter_chunked(_CHUNK):
        size += len(chunk)
        if size > MAX_MESSAGE:
            raise UpstreamUnavailable(f"sent a stream that is larger than {MAX_MESSAGE:,} bytes.")
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            field = line.rstrip(b"\r")
            if field.startswith(b"data:"):
                data.append(field[5:].removeprefix(b" "))
            elif not field and data:
                yield b"\n".join(data)
                data = []
    if data:
        yield b"\n".join(data)
