"""What a server answers to somebody without a token."""

from mcp_core.json_text import JsonObject
from toolcharter.govern.oauth import http
from toolcharter.govern.oauth.challenge import Challenge, read_challenge
from toolcharter.govern.oauth.errors import SignInUnavailable
from toolcharter.govern.upstream.errors import UpstreamUnavailable

_REQUEST: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


async def probe(address: str) -> Challenge:
    """The challenge of a server; an empty one where it does not refuse. Raises UpstreamUnavailable."""
    try:
        answer = await http.post_json(address, _REQUEST, "application/json, text/event-stream")
    except SignInUnavailable as error:
        raise UpstreamUnavailable(str(error)) from None
    return read_challenge(answer.challenges)
