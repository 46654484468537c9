"""Sign-in at this machine: the browser comes back to a port that only this machine reaches."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from html import escape
from urllib.parse import parse_qsl, urlsplit

from toolcharter.govern.oauth.addresses import is_loopback
from toolcharter.govern.oauth.attempts import ATTEMPT_SECONDS, SignIns
from toolcharter.govern.oauth.challenge import Challenge
from toolcharter.govern.oauth.errors import SignInFailed
from toolcharter.govern.oauth.records import SignIn
from toolcharter.govern.upstream.errors import UpstreamUnavailable

CALLBACK = "/callback"
_MAX_REQUEST_BYTES = 16_384
_HEAD_SECONDS = 10.0
_ADDRESS_IN_USE = "The port {port} of redirect_port is in use. End the program that uses it, and try again."


async def sign_in_here(
    sign_ins: SignIns, owner: str, challenge: Challenge, show: Callable[[str], object], seconds: float = ATTEMPT_SECONDS
) -> SignIn:
    """Show the address to open, and wait until the person has signed in. Raises SignInFailed or UpstreamUnavailable."""
    callback = _Callback(sign_ins)
    server = await _listen(sign_ins, callback)
    async with server:
        port = server.sockets[0].getsockname()[1]
        attempt = await sign_ins.begin(owner, challenge, f"http://127.0.0.1:{port}{CALLBACK}")
        callback.state = attempt.state
        show(attempt.authorization)
        try:
            async with asyncio.timeout(seconds):
                result = await callback.result
        except TimeoutError:
            raise SignInFailed(f"was not signed in to within {seconds:g} seconds.") from None
        finally:
            sign_ins.store.claim_attempt(attempt.state)
        # The browser gets its page before the port is closed.
        await callback.answered.wait()
    if isinstance(result, Exception):
        raise result
    return result


async def _listen(sign_ins: SignIns, callback: "_Callback") -> asyncio.Server:
    """Listen on the port that the client is registered with, else on a free one."""

    async def listen(port: int) -> asyncio.Server:
        return await asyncio.start_server(callback, "127.0.0.1", port, limit=_MAX_REQUEST_BYTES)

    fixed = sign_ins.table.redirect_port
    if fixed is not None:
        try:
            return await listen(fixed)
        except OSError:
            raise SignInFailed(f"was not signed in to. {_ADDRESS_IN_USE.format(port=fixed)}") from None
    for client in sign_ins.store.clients(sign_ins.server):
        if client.redirect_uri is not None and is_loopback(client.redirect_uri):
            with suppress(OSError):
                return await listen(urlsplit(client.redirect_uri).port or 0)
    return await listen(0)


class _Callback:
    """Answers the browser that comes back. A request with another state is refused, and waiting goes on."""

    def __init__(self, sign_ins: SignIns) -> None:
        self._sign_ins = sign_ins
        self.state: str | None = None
        self.result: asyncio.Future[SignIn | Exception] = asyncio.get_running_loop().create_future()
        self.answered = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_final = False
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            status, words, is_final = await self._respond(head.partition(b"\r\n")[0].decode("latin-1"))
            writer.write(_page(status, words))
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a browser
        finally:
            writer.close()
            if is_final:
                with suppress(OSError):
                    await writer.wait_closed()
                self.answered.set()

    async def _respond(self, line: str) -> tuple[str, str, bool]:
        method, _, target = line.partition(" ")
        url = urlsplit(target.partition(" ")[0])
        if method != "GET" or url.path != CALLBACK:
            return "404 Not Found", "Nothing is here.", False
        answer = read_answer(url.query)
        # The attempt is claimed: the same answer cannot be used again.
        state = answer.get("state")
        attempt = self._sign_ins.store.claim_attempt(state) if state is not None and state == self.state else None
        if attempt is None:
            return "400 Bad Request", "This answer does not belong to a sign-in that is under way.", False
        try:
            self.result.set_result(await self._sign_ins.finish(attempt, answer))
        except (SignInFailed, UpstreamUnavailable) as error:
            self.result.set_result(error)
            return "400 Bad Request", f"The server {attempt.server!r} {error}", True
        return "200 OK", f"You are signed in to {attempt.server!r}. You can close this page.", True


def read_answer(query: str) -> dict[str, str]:
    """The parameters of a redirect. One that is there twice counts as missing."""
    pairs = parse_qsl(query, keep_blank_values=True)
    names = [name for name, _ in pairs]
    return {name: value for name, value in pairs if names.count(name) == 1}


def _page(status: str, words: str) -> bytes:
    body = f"<!doctype html><html lang=en><title>toolcharter</title><p>{escape(words)}</p>".encode()
    headers = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nConnection: close\r\n\r\n"
    )
    return headers.encode() + body
