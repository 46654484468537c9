"""An upstream over streamable HTTP: each request is a POST, answered with JSON or with a stream of events."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from mcp_core.errors import ToolError
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.upstream.errors import HttpRefused, TokenRequired, UpstreamUnavailable, refused
from toolcharter.govern.upstream.http_client import (
    CannotConnect,
    ClientResponse,
    HttpClient,
    HttpFailed,
    basic_authorization,
)
from toolcharter.govern.upstream.transport import (
    MAX_MESSAGE,
    OnNotification,
    Outgoing,
    PendingRequest,
    answer_unrelated,
    as_object,
    ignore_notification,
    progress_token,
    read_message,
)

if TYPE_CHECKING:
    from toolcharter.govern.oauth.credentials import RequestSigner

_ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_SESSION = "mcp-session-id"
_EVENTS = "text/event-stream"
_NOTIFY_SECONDS = 10.0
_ERROR_TEXT = 200
_NO_HEADERS: Mapping[str, str] = {}
_NOT_ALLOWED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class HttpTransport:
    """The connections to one address. They are kept open and reused."""

    def __init__(self, url: str, headers: Mapping[str, str], credentials: "RequestSigner | None" = None) -> None:
        """`headers` are sent with each request; `credentials` sign each one anew."""
        self._credentials = credentials
        self.on_notification: OnNotification = ignore_notification
        self._url = url
        self._headers = {**_ACCEPT, **basic_authorization(url), **_in_lower_case(headers)}
        self._http: HttpClient | None = None
        self._ids = itertools.count(1)
        self._exchanges: dict[int, PendingRequest] = {}
        self._session_id: str | None = None
        self._is_lost = False
        self.last_lines: Sequence[str] = ()

    @property
    def is_open(self) -> bool:
        return self._http is not None and not self._is_lost

    async def open(self) -> None:
        self._http = HttpClient(self._url)

    async def request(self, outgoing: Outgoing) -> JsonObject:
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": outgoing.method, "params": outgoing.params}
        try:
            async with asyncio.timeout(outgoing.seconds) as limit:
                exchange = self._exchanges[number] = PendingRequest(outgoing, limit)
                try:
                    return await self._send(message, exchange)
                finally:
                    del self._exchanges[number]
                    exchange.end()
        except TimeoutError:
            raise UpstreamUnavailable(f"did not answer within {outgoing.seconds:g} seconds.") from None
        except asyncio.CancelledError:
            await self._cancel(number, outgoing)
            raise

    async def notify(self, method: str, params: JsonObject, headers: Mapping[str, str]) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        try:
            # The answer has no content that matters.
            async with asyncio.timeout(_NOTIFY_SECONDS):
                (await self._post(message, headers)).close()
        except TimeoutError:
            raise UpstreamUnavailable(f"did not accept {method!r} within {_NOTIFY_SECONDS:g} seconds.") from None

    async def listen(self, headers: Mapping[str, str]) -> None:
        """Listen for messages outside of requests on the stream of a GET, if the server has one."""
        if self._http is None or self._session_id is None:
            return
        with contextlib.suppress(HttpFailed, UpstreamUnavailable):
            async with self._open_stream(self._url, headers) as response:
                if response.status != HTTPStatus.OK or response.content_type != _EVENTS:
                    return
                async for data in read_events(response):
                    await self._take(data, headers)

    @contextlib.asynccontextmanager
    async def _open_stream(self, url: str, headers: Mapping[str, str]) -> AsyncGenerator[ClientResponse]:
        """The response to a GET. Raises HttpFailed, or ToolError where a caller must sign in."""
        response = await self._request("GET", url, {**headers, "accept": _EVENTS})
        with contextlib.closing(response):
            yield response

    async def _take(self, data: bytes, headers: Mapping[str, str]) -> None:
        try:
            message: Any = read_message(data)
        except ValueError:
            return
        fields = as_object(message)
        method = fields.get("method")
        if isinstance(method, str) and "id" in fields:
            await answer_unrelated(fields, self._exchanges.values(), partial(self._reply, headers), self._url)
        elif isinstance(method, str):
            self.on_notification(method, as_object(fields.get("params")))

    async def close(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            if self._session_id is not None:
                with contextlib.suppress(HttpFailed, TimeoutError, ToolError):
                    async with asyncio.timeout(2):
                        await http.request("DELETE", self._url, self._sent(await self._signed()))
            http.close()

    async def _send(self, message: JsonObject, exchange: PendingRequest) -> JsonObject:
        outgoing = exchange.outgoing
        response = await self._post(message, outgoing.headers)
        try:
            if outgoing.method == "initialize":
                self._session_id = response.header(_SESSION) or self._session_id
            if response.content_type == _EVENTS:
                answer = await self._from_events(response, message["id"], exchange)
            else:
                answer = await self._from_json(response)
        except HttpFailed as error:
            raise self._broken(error) from None
        finally:
            response.close()
        result = answer.get("result")
        if isinstance(result, dict):
            return cast(JsonObject, result)
        raise refused(answer.get("error"))

    async def _post(self, message: JsonObject, headers: Mapping[str, str]) -> ClientResponse:
        """The response to a message, whose body must be read or closed."""
        try:
            return await self._request("POST", self._url, headers, json_text.to_bytes(message))
        except HttpFailed as error:
            raise self._broken(error) from None

    async def _request(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> ClientResponse:
        """The response to a request with our credentials. Raises HttpFailed, or ToolError."""
        for again in (False, True):
            signed = await self._signed()
            if self._http is None:
                raise UpstreamUnavailable("is not connected.")
            response = await self._http.request(method, url, self._sent({**headers, **signed}), body)
            try:
                if response.status not in _NOT_ALLOWED or not await self._can_retry(response, signed, again=again):
                    return response
            except BaseException:
                response.close()
                raise
            response.close()
        raise AssertionError("the second response is returned, whatever it is")

    def _broken(self, error: HttpFailed) -> UpstreamUnavailable:
        if isinstance(error, CannotConnect):
            self._is_lost = True
            return UpstreamUnavailable(f"cannot be reached at {self._url}: {error}.")
        return UpstreamUnavailable(f"broke the connection to {self._url}: {error}.")

    def _sent(self, headers: Mapping[str, str]) -> dict[str, str]:
        """All headers of a request. Their names are in lower case, so that later ones replace earlier ones."""
        sent = {**self._headers, **_in_lower_case(headers)}
        if self._session_id:
            sent[_SESSION] = self._session_id
        return sent

    async def _signed(self) -> Mapping[str, str]:
        return _NO_HEADERS if self._credentials is None else await self._credentials.headers()

    async def _can_retry(self, response: ClientResponse, signed: Mapping[str, str], *, again: bool) -> bool:
        """Whether a request that was refused can be sent again with another token."""
        if self._credentials is not None:
            challenges = response.headers("www-authenticate")
            return await self._credentials.refused(response.status, challenges, signed, again=again)
        if response.status == HTTPStatus.UNAUTHORIZED:
            raise TokenRequired("requires a token, or rejects ours (401).")
        return False

    async def _from_json(self, response: ClientResponse) -> JsonObject:
        body = await response.read(MAX_MESSAGE)
        if body is None:
            raise UpstreamUnavailable(f"sent an answer that is larger than {MAX_MESSAGE:,} bytes.")
        try:
            answer: Any = read_message(body)
        except ValueError:
            answer = None
        if isinstance(answer, dict) and ("result" in answer or "error" in answer):
            return cast(JsonObject, answer)
        text = body[:_ERROR_TEXT].decode("utf-8", "replace").strip()
        if response.status == HTTPStatus.NOT_FOUND and self._session_id is not None:
            self._is_lost = True
            raise UpstreamUnavailable("no longer knows our session.")
        if response.status in _NOT_ALLOWED:
            raise UpstreamUnavailable(f"requires a token, or rejects ours ({response.status}).")
        if (address := response.header("location")) is not None:
            # Not followed: whoever is there would get our credentials.
            raise UpstreamUnavailable(
                f"moved from {self._url} to {address[:_ERROR_TEXT]!r}. "
                "If you trust that address, set it as url in the charter."
            )
        if response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise HttpRefused(response.status, f"HTTP {response.status} {response.reason}: {text}")
        raise UpstreamUnavailable(f"answered {response.status} {response.reason} without a message of MCP.")

    async def _from_events(self, response: ClientResponse, number: int, exchange: PendingRequest) -> JsonObject:
        async for data in read_events(response):
            try:
                message: Any = read_message(data)
            except ValueError:
                continue
            if not isinstance(message, dict):
                continue
            fields = cast(JsonObject, message)
            if "method" not in fields and fields.get("id") == number:
                return fields
            if "id" in fields and "method" in fields:
                exchange.answer(fields, partial(self._reply, exchange.outgoing.headers))
            else:
                await self._notified(fields, exchange.outgoing)
        raise UpstreamUnavailable("ended the stream without an answer.")

    async def _notified(self, message: JsonObject, outgoing: Outgoing) -> None:
        method, params = message.get("method"), message.get("params")
        fields = as_object(params)
        if method == "notifications/progress" and outgoing.on_progress is not None:
            if fields.get("progressToken") == progress_token(outgoing.params):
                await outgoing.on_progress(fields)
        elif isinstance(method, str):
            self.on_notification(method, fields)

    async def _reply(self, headers: Mapping[str, str], message: JsonObject) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_NOTIFY_SECONDS):
                (await self._post(message, headers)).close()

    async def _cancel(self, number: int, outgoing: Outgoing) -> None:
        """In a session a notification cancels a request; without one, the closed connection does."""
        if self._session_id is None:
            return
        with contextlib.suppress(UpstreamUnavailable, TimeoutError):
            async with asyncio.timeout(1):
                params = {"requestId": number, "reason": "cancelled"}
                await self.notify("notifications/cancelled", params, outgoing.headers)


def _in_lower_case(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


async def read_events(response: ClientResponse) -> AsyncIterator[bytes]:
    """The data of each event of a stream."""
    begun, data = list[bytes](), list[bytes]()
    size = 0
    async for chunk in response.parts():
        size += len(chunk)
        if size > MAX_MESSAGE:
            raise UpstreamUnavailable(f"sent a message that is larger than {MAX_MESSAGE:,} bytes.")
        begun.append(chunk)
        if b"\n" not in chunk:
            continue  # joined only once: a line may come in many parts
        *lines, rest = b"".join(begun).split(b"\n")
        begun = [rest]
        for line in lines:
            field = line.rstrip(b"\r")
            if field.startswith(b"data:"):
                data.append(field[5:].removeprefix(b" "))
            elif not field and data:
                yield b"\n".join(data)
                data, size = [], 0
    if data:
        yield b"\n".join(data)
