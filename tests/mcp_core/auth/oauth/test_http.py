"""Requests to authorization servers that answer too much, too late, or with something else."""

import asyncio
import gzip

import httpx2
import pytest

from mcp_core.auth.oauth.errors import OAuthUnavailable
from mcp_core.auth.oauth.http import MAX_ANSWER_BYTES, JsonResponse, OAuthHttp
from tests.mcp_core.auth.oauth.streamed import Body, answering

URL = "https://login.example/token"
GZIP = {"content-encoding": "gzip"}


async def response_to(answer: httpx2.Response) -> JsonResponse:
    async with answering(lambda _: answer) as http:
        return await http.get(URL)


async def test_a_json_document_is_read_with_its_challenges():
    headers = [("www-authenticate", "Basic"), ("www-authenticate", "Bearer")]
    answer = httpx2.Response(401, json={"error": "no"}, headers=headers)
    assert await response_to(answer) == JsonResponse(401, {"error": "no"}, "", ("Basic", "Bearer"))


async def test_a_compressed_document_is_read():
    answer = httpx2.Response(200, stream=Body(gzip.compress(b'{"a": 1}')), headers=GZIP)
    assert (await response_to(answer)).fields == {"a": 1}


@pytest.mark.parametrize("content", [b"", b"<html>", b'{"a": 1', b"\xff"])
async def test_something_else_than_json_has_no_fields(content: bytes):
    assert await response_to(httpx2.Response(200, content=content)) == JsonResponse(200, None, "the answer is not JSON")


async def test_a_document_without_end_is_not_read_on():
    endless = Body(*[b"x" * 65_536] * 1000)
    response = await response_to(httpx2.Response(200, stream=endless))
    assert response == JsonResponse(200, None, "the answer has more than 1,000,000 bytes")
    assert endless.sent < MAX_ANSWER_BYTES + 2 * 65_536


async def test_a_small_answer_does_not_become_a_large_one():
    bomb = gzip.compress(b'"' + b"x" * 50_000_000 + b'"')
    assert len(bomb) < 100_000
    response = await response_to(httpx2.Response(200, stream=Body(bomb), headers=GZIP))
    assert response == JsonResponse(200, None, "the answer has more than 1,000,000 bytes")


async def test_a_stream_of_events_is_not_read():
    events = Body(b"data: 1\n\n")
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    assert (await response_to(httpx2.Response(200, stream=events, headers=headers))).content is None
    assert events.sent == 0


async def test_no_redirect_is_followed_even_by_a_client_that_would():
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(302, headers={"location": "https://evil.example/"})

    async with answering(answer) as http:
        response = await http.post_form(URL, {"code": "secret"})
    assert (response.status, asked) == (302, [URL])


async def test_a_server_that_hangs_costs_a_bounded_time():
    async def answer(_: httpx2.Request) -> httpx2.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        with pytest.raises(OAuthUnavailable) as late:
            await OAuthHttp(lambda: client, seconds=0.01).get(URL)
    assert str(late.value) == (
        "cannot be signed in to now: login.example cannot be reached (it did not answer within 0.01 seconds)."
    )


@pytest.mark.parametrize(
    ("url", "reason"), [("http://127.0.0.1:1/", "Connection refused"), ("http://127.0.0.1:x/", "Invalid port")]
)
async def test_an_address_where_nobody_listens_is_an_error_with_its_reason(url: str, reason: str):
    with pytest.raises(OAuthUnavailable, match=reason):
        await OAuthHttp().get(url)
