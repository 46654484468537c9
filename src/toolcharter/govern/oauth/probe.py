"""What a server answers to somebody without a token."""

import aiohttp

from mcp_core.json_text import JsonObject
from toolcharter.govern.oauth.challenge import Challenge, read_challenge
from toolcharter.govern.oauth.http import SECONDS
from toolcharter.govern.upstream.errors import UpstreamUnavailable

_REQUEST: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
_HEADERS = {"Accept": "application/json, text/event-stream"}


async def probe(address: str) -> Challenge:
    """The challenge of a server; an empty one where it does not refuse. Raises UpstreamUnavailable."""
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS)) as session,
            session.post(address, json=_REQUEST, headers=_HEADERS, allow_redirects=False) as response,
        ):
            return read_challenge(response.headers.getall("WWW-Authenticate", ()))
    except (aiohttp.ClientError, TimeoutError) as error:
        raise UpstreamUnavailable(f"cannot be reached at {address}: {type(error).__name__}.") from None
