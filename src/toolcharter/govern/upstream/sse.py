"""An upstream over the older HTTP+SSE transport: one stream has all its messages, and ours are posted beside it."""

import asyncio
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from mcp_core.errors import ToolError
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.upstream.errors import UpstreamUnavailable, refused
from toolcharter.govern.upstream.http import HttpTransport, read_events
from toolcharter.govern.upstream.http_client import HttpFailed
from toolcharter.govern.upstream.transport import (
    Outgoing,
    PendingRequest,
    answer_unrelated,
    as_object,
    progress_token,
    read_message,
)

_OPEN_SECONDS = 30.0
_CANCEL_SECONDS = 5.0
_FIRST_ERROR = 300


class SseTransport(HttpTransport):
    """The stream of one server, and the connections over which messages are posted."""

    _reading: "asyncio.Task[None] | None" = None

    async def open(self) -> None:
        await super().open()
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.ensure_future(self._read(self._url, endpoint))
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                self._url = _same_origin(self._url, await endpoint)
        except TimeoutError:
            raise UpstreamUnavailable(f"did not say within {_OPEN_SECONDS:g} seconds where to post.") from None

    async def listen(self, headers: Any) -> None:
        """Nothing to do: everything comes on the one stream."""

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        self._fail("was closed.")
        await super().close()

    async def _send(self, message: JsonObject, exchange: PendingRequest) -> JsonObject:
        number = cast(int, message["id"])
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            response = await self._post(message, exchange.outgoing.headers)
            response.close()
            if response.status >= _FIRST_ERROR:
                raise UpstreamUnavailable(f"did not accept a message: {response.status} {response.reason}.")
            return await answer
        finally:
            del self._waiting[number]
            if answer.done() and not answer.cancelled():
                answer.exception()

    async def _cancel(self, number: int, outgoing: Outgoing) -> None:
        with suppress(UpstreamUnavailable, TimeoutError):
            async with asyncio.timeout(_CANCEL_SECONDS):
                params = {"requestId": number, "reason": "cancelled"}
                await self.notify("notifications/cancelled", params, outgoing.headers)

    async def _read(self, url: str, endpoint: "asyncio.Future[str]") -> None:
        failure: Exception = UpstreamUnavailable("ended its stream.")
        try:
            async with self._open_stream(url, {}) as response:
                if response.status >= _FIRST_ERROR or response.content_type != "text/event-stream":
                    failure = UpstreamUnavailable(f"has no stream at {url}: {response.status} {response.reason}.")
                    return
                async for data in read_events(response):
                    if endpoint.done():
                        await self._receive(data)
                    else:
                        endpoint.set_result(data.decode("utf-8", "replace"))
        except HttpFailed as error:
            failure = self._broken(error)
        except (UpstreamUnavailable, ToolError) as error:
            failure = error
        finally:
            self._is_lost = True
            if not endpoint.done():
                endpoint.set_exception(failure)
            self._fail(str(failure))

    async def _receive(self, data: bytes) -> None:
        try:
            message = as_object(read_message(data))
        except ValueError:
            return
        method, number = message.get("method"), message.get("id")
        if method is None:
            waiting = self._waiting.get(number) if isinstance(number, int) else None
            if waiting is not None and not waiting.done():
                result = message.get("result")
                if isinstance(result, dict):
                    waiting.set_result(cast(JsonObject, result))
                else:
                    waiting.set_exception(refused(message.get("error")))
        elif number is not None:
            await answer_unrelated(message, self._exchanges.values(), self._reply_to_it, self._url)
        else:
            await self._notice(str(method), as_object(message.get("params")))

    async def _reply_to_it(self, message: JsonObject) -> None:
        await self._reply({}, message)

    async def _notice(self, method: str, params: JsonObject) -> None:
        if method != "notifications/progress":
            self.on_notification(method, params)
            return
        for exchange in list(self._exchanges.values()):
            outgoing = exchange.outgoing
            if outgoing.on_progress is not None and params.get("progressToken") == progress_token(outgoing.params):
                await outgoing.on_progress(params)

    def _fail(self, problem: str) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(UpstreamUnavailable(problem))


def _same_origin(url: str, endpoint: str) -> str:
    """The address for our messages. Another origin would get our credentials."""
    address = urljoin(url, endpoint.strip())
    if urlsplit(address)[:2] != urlsplit(url)[:2]:
        raise UpstreamUnavailable(f"wants messages at another origin: {address[:200]!r}.")
    return address
