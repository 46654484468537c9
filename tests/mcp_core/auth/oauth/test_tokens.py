"""Token requests, and how clients authenticate themselves in them."""

from typing import Any
from urllib.parse import parse_qs

import httpx2
import pytest

from mcp_core.auth.oauth.clients import OAuthClient
from mcp_core.auth.oauth.errors import ClientUnknown, GrantRejected, OAuthError, OAuthUnavailable
from mcp_core.auth.oauth.tokens import TokenResponse, refresh_grant, request_tokens
from tests.mcp_core.auth.oauth.streamed import answering

ISSUER = "https://login.example"


async def requested(
    answer: httpx2.Response, client: OAuthClient, **options: Any
) -> tuple[httpx2.Request, TokenResponse]:
    requests: list[httpx2.Request] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return answer

    async with answering(respond) as http:
        tokens = await request_tokens(http, f"{ISSUER}/token", client, refresh_grant("old"), **options)
    return requests[0], tokens


def client_of(secret: str | None, *methods: str) -> OAuthClient:
    return OAuthClient.with_secret("a:b", ISSUER, secret, methods)


@pytest.mark.parametrize(
    ("client", "authorization", "secret"),
    [
        (client_of(None, "client_secret_basic"), None, None),
        (client_of("s 3"), "Basic YSUzQWI6cyUyMDM=", None),
        (client_of("s 3", "client_secret_post", "client_secret_basic"), "Basic YSUzQWI6cyUyMDM=", None),
        (client_of("s 3", "client_secret_post"), None, ["s 3"]),
    ],
)
async def test_a_client_authenticates_itself_as_the_server_wants_it(client, authorization, secret):
    request, tokens = await requested(httpx2.Response(200, json={"access_token": "new", "expires_in": 60}), client)
    form = parse_qs(request.content.decode())
    assert request.headers.get("authorization") == authorization
    assert form.get("client_secret") == secret
    assert form["client_id"] == ["a:b"]
    assert form["refresh_token"] == ["old"]
    assert tokens == TokenResponse("new", None, None, 60)
    assert "new" not in repr(tokens)
    assert "s 3" not in repr(client)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"access_token": ""},
        {"access_token": 7},
        {"access_token": "a\nb"},
        {"access_token": "a", "token_type": "mac"},
    ],
)
async def test_an_answer_without_a_usable_token_is_an_error(fields: dict[str, Any]):
    with pytest.raises(OAuthError, match="gave no token that can be used"):
        await requested(httpx2.Response(200, json=fields), client_of(None))


@pytest.mark.parametrize(
    ("status", "fields", "error"),
    [
        (400, {"error": "invalid_grant"}, GrantRejected),
        (403, {"error": "invalid_grant"}, GrantRejected),
        (401, {"error": "invalid_client"}, ClientUnknown),
        (400, {"error": "invalid_scope"}, OAuthError),
        (302, {}, OAuthError),
        (429, {"error": "invalid_grant"}, OAuthUnavailable),
        (503, {}, OAuthUnavailable),
    ],
)
async def test_each_refusal_is_its_own_error(status: int, fields: dict[str, Any], error: type[OAuthError]):
    with pytest.raises(OAuthError) as refused:
        await requested(httpx2.Response(status, json=fields), client_of(None))
    assert (type(refused.value), refused.value.status) == (error, status)
