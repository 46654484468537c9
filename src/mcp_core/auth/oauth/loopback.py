"""The receiver of the redirect at this machine (RFC 8252): a port that only this machine reaches."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from html import escape
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from mcp_core.auth.oauth.authorization import read_redirect

T = TypeVar("T")

CALLBACK = "/callback"
_MAX_REQUEST_BYTES = 16_384
_HEAD_SECONDS = 10.0


class Completion(NamedTuple, Generic[T]):
    """The end of a sign-in: its result, and the page that the browser shows."""

    result: T | Exception
    words: str
    is_success: bool = True


Complete = Callable[[Mapping[str, str]], Awaitable[Completion[T] | None]]
"""Ends the sign-in with the parameters of the redirect; None where the redirect does not count."""


class LoopbackReceiver(Generic[T]):
    """Answers the browser that comes back. A request with another state is refused, and waiting goes on."""

    def __init__(self, title: str, complete: Complete[T]) -> None:
        self._title, self._complete = title, complete
        self._result: asyncio.Future[T | Exception] = asyncio.get_running_loop().create_future()
        self._answered = asyncio.Event()
        self.state: str | None = None
        """Of the authorization request; nothing is accepted before it is set."""

    async def listen(self, port: int) -> asyncio.Server:
        """Listen on a port; on a free one if it is 0. Raises OSError."""
        return await asyncio.start_server(self._answer, "127.0.0.1", port, limit=_MAX_REQUEST_BYTES)

    async def wait(self, seconds: float) -> T:
        """The result, once the browser has its page. Raises TimeoutError, or the error of the sign-in."""
        async with asyncio.timeout(seconds):
            result = await self._result
        # The browser gets its page before the port is closed.
        await self._answered.wait()
        if isinstance(result, Exception):
            raise result
        return result

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_final = False
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            status, words, is_final = await self._respond(head.partition(b"\r\n")[0].decode("latin-1"))
            writer.write(_page(status, self._title, words))
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a browser
        finally:
            writer.close()
            if is_final:
                with suppress(OSError):
                    await writer.wait_closed()
                self._answered.set()

    async def _respond(self, line: str) -> tuple[str, str, bool]:
        method, _, target = line.partition(" ")
        url = urlsplit(target.partition(" ")[0])
        if method != "GET" or url.path != CALLBACK:
            return "404 Not Found", "Nothing is here.", False
        redirect = read_redirect(url.query)
        completion = await self._complete(redirect) if self._claim(redirect.get("state", "")) else None
        if completion is None:
            return "400 Bad Request", "This answer does not belong to a sign-in that is under way.", False
        self._result.set_result(completion.result)
        return "200 OK" if completion.is_success else "400 Bad Request", completion.words, True

    def _claim(self, state: str) -> bool:
        """Whether the state is the expected one, which counts once."""
        if self.state is None or not secrets.compare_digest(state.encode("utf-8", "replace"), self.state.encode()):
            return False
        self.state = None
        return True


def redirect_uri(server: asyncio.Server) -> str:
    """The redirect address of a receiver that listens."""
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{CALLBACK}"


def _page(status: str, title: str, words: str) -> bytes:
    body = f"<!doctype html><html lang=en><title>{title}</title><p>{escape(words)}</p>".encode()
    headers = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nConnection: close\r\n\r\n"
    )
    return headers.encode() + body
