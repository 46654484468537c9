"""Responses as the network has them: their bodies are not read yet."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2

from mcp_core.auth.oauth.http import OAuthHttp


class Body(httpx2.AsyncByteStream):
    def __init__(self, *parts: bytes) -> None:
        self.parts, self.sent = parts, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            self.sent += len(part)
            yield part


@asynccontextmanager
async def answering(respond: Callable[[httpx2.Request], httpx2.Response]) -> AsyncIterator[OAuthHttp]:
    def answer(request: httpx2.Request) -> httpx2.Response:
        made = respond(request)
        if isinstance(made.stream, Body):
            return made
        return httpx2.Response(made.status_code, headers=made.headers, stream=Body(made.content))

    transport = httpx2.MockTransport(answer)
    async with httpx2.AsyncClient(transport=transport, follow_redirects=True) as client:
        yield OAuthHttp(lambda: client)
