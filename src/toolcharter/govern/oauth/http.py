"""Requests to authorization servers: bounded in time and size, without redirects, which could lead to another host."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import urlencode, urlsplit

from pydantic_core import from_json

from mcp_core import json_text
from mcp_core.json_text import JsonObject
from toolcharter.govern.oauth.errors import SignInUnavailable
from toolcharter.govern.upstream.http_client import HttpClient, HttpFailed

SECONDS = 15.0
MAX_ANSWER_BYTES = 1_000_000
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class HttpAnswer(NamedTuple):
    """A status, and the JSON object that came with it; an empty one where something else came."""

    status: int
    fields: JsonObject
    challenges: tuple[str, ...] = ()
    """The values of `WWW-Authenticate`."""


async def get(address: str) -> HttpAnswer:
    """What is at an address. Raises SignInUnavailable."""
    return await _send("GET", address, {})


async def post_form(address: str, form: Mapping[str, str], headers: Mapping[str, str]) -> HttpAnswer:
    """The answer to a form. Raises SignInUnavailable."""
    return await _send("POST", address, {**headers, "content-type": FORM}, urlencode(form).encode())


async def post_json(address: str, document: JsonObject, accept: str = JSON) -> HttpAnswer:
    """The answer to a JSON document. Raises SignInUnavailable."""
    return await _send("POST", address, {"accept": accept, "content-type": JSON}, json_text.to_text(document).encode())


async def _send(method: str, address: str, headers: Mapping[str, str], body: bytes = b"") -> HttpAnswer:
    try:
        return await _exchange(method, address, headers, body)
    except (HttpFailed, TimeoutError, ValueError) as error:  # a port may be no number
        reason = f"no answer in {SECONDS:g} seconds" if isinstance(error, TimeoutError) else str(error)
        host = urlsplit(address).netloc
        raise SignInUnavailable(f"cannot be signed in to now: {host} cannot be reached ({reason}).") from None


async def _exchange(method: str, address: str, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
    client = HttpClient(address)
    try:
        async with asyncio.timeout(SECONDS):
            response = await client.request(method, address, {"accept": JSON, **headers}, body)
            # A stream of events may never end, and has nothing that is wanted here.
            content = None if response.content_type == "text/event-stream" else await response.read(MAX_ANSWER_BYTES)
            challenges = tuple(response.headers("www-authenticate"))
            return HttpAnswer(response.status, _fields(content or b""), challenges)
    finally:
        client.close()


def _fields(body: bytes) -> JsonObject:
    try:
        content: Any = from_json(body)
    except ValueError:
        content = None
    return cast(JsonObject, content) if isinstance(content, dict) else {}
