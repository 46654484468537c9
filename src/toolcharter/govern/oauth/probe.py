"""The answer of a server to a request without a token."""

from mcp_core.auth.oauth.challenge import Challenge, read_challenge
from mcp_core.auth.oauth.errors import OAuthUnavailable
from mcp_core.auth.oauth.http import OAuthHttp
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.upstream.errors import UpstreamUnavailable

_REQUEST: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


async def probe(address: str) -> Challenge:
    """The challenge of a server; an empty one where it does not refuse. Raises UpstreamUnavailable."""
    try:
        answer = await OAuthHttp().post_json(address, _REQUEST, {"accept": "application/json, text/event-stream"})
    except OAuthUnavailable as error:
        raise UpstreamUnavailable(str(error)) from None
    return read_challenge(answer.challenges)
