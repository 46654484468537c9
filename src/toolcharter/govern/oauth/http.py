"""Requests to authorization servers: bounded in time and size, without redirects, which could lead to another host."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import aiohttp
from pydantic_core import from_json

from mcp_core.json_text import JsonObject
from toolcharter.govern.oauth.errors import ServerUnreachable

SECONDS = 15.0
MAX_ANSWER_BYTES = 1_000_000


class HttpAnswer(NamedTuple):
    """A status, and the JSON object that came with it; an empty one where something else came."""

    status: int
    fields: JsonObject


class AuthorizationHttp:
    """Sends the requests of one attempt or renewal."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def get(self, address: str) -> HttpAnswer:
        """What is at an address. Raises ServerUnreachable."""
        return await self._send("GET", address)

    async def post_form(self, address: str, form: Mapping[str, str], headers: Mapping[str, str]) -> HttpAnswer:
        """The answer to a form. Raises ServerUnreachable."""
        return await self._send("POST", address, data=dict(form), headers=dict(headers))

    async def post_json(self, address: str, document: JsonObject) -> HttpAnswer:
        """The answer to a JSON document. Raises ServerUnreachable."""
        return await self._send("POST", address, json=document)

    async def _send(self, method: str, address: str, **options: Any) -> HttpAnswer:
        try:
            async with self._session.request(method, address, allow_redirects=False, **options) as response:
                body = await response.content.read(MAX_ANSWER_BYTES + 1)
                while not response.content.at_eof() and len(body) <= MAX_ANSWER_BYTES:
                    body += await response.content.read(MAX_ANSWER_BYTES + 1 - len(body))
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            host = urlsplit(address).netloc
            reason = f"no answer in {SECONDS:g} seconds" if isinstance(error, TimeoutError) else type(error).__name__
            raise ServerUnreachable(f"cannot be signed in to now: {host} cannot be reached ({reason}).") from None
        return HttpAnswer(response.status, _fields(body))


def _fields(body: bytes) -> JsonObject:
    try:
        content: Any = from_json(body) if len(body) <= MAX_ANSWER_BYTES else None
    except ValueError:
        content = None
    return cast(JsonObject, content) if isinstance(content, dict) else {}


@asynccontextmanager
async def open_http() -> AsyncGenerator[AuthorizationHttp]:
    """A client for a few requests."""
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    headers = {"Accept": "application/json"}
    async with aiohttp.ClientSession(timeout=timeout, headers=headers, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield AuthorizationHttp(session)
