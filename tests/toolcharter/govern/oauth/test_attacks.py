"""Servers that lie about where their tokens come from, and browsers that come back with something else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiohttp import web

from mcp_core.auth.oauth.challenge import Challenge
from mcp_core.auth.oauth.errors import OAuthError
from tests.mcp_core.auth.issuer import Issuer
from tests.toolcharter.govern.oauth.signing_in import Browser, sign_ins_of, write_charter
from toolcharter.govern.oauth.attempts import SignIns
from toolcharter.govern.oauth.loopback import sign_in_here
from toolcharter.govern.oauth.records import SignIn

REDIRECT = "http://127.0.0.1:1/callback"
NO_CHALLENGE = Challenge()


@asynccontextmanager
async def serving(documents: dict[str, Any]) -> AsyncIterator[str]:
    """A server with these JSON documents by path. A text is the address of a redirect."""

    async def answer(request: web.Request) -> web.Response:
        document = documents.get(request.path)
        if isinstance(document, str):
            return web.Response(status=302, headers={"Location": document})
        return web.json_response(document or {}, status=200 if document else 404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def sign_ins_at(folder: Path, url: str, more: str = "oauth = {}") -> SignIns:
    return sign_ins_of(write_charter(folder, url, more))


async def refusal(sign_ins: SignIns, challenge: Challenge = NO_CHALLENGE) -> str:
    with pytest.raises(OAuthError) as refused:
        await sign_ins.begin("local", challenge, REDIRECT)
    return str(refused.value)


RESOURCE = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    "resource",
    ["https://bank.example/mcp", "{base}/other", "{base}/mcp/deeper", "{base}.evil.example/mcp", "{base}/mcp?x=1", 7],
)
async def test_metadata_that_describe_another_resource_are_refused(tmp_path: Path, issuer: Issuer, resource: Any):
    documents: dict[str, Any] = {}
    async with serving(documents) as base:
        named = resource.format(base=base) if isinstance(resource, str) else resource
        documents[f"{RESOURCE}/mcp"] = {"resource": named, "authorization_servers": [issuer.url]}
        assert "describes another resource" in await refusal(sign_ins_at(tmp_path, f"{base}/mcp"))
    assert issuer.requests.total() == 0


async def test_metadata_at_the_root_count_for_the_whole_server(tmp_path: Path, issuer: Issuer):
    documents: dict[str, Any] = {}
    async with serving(documents) as base:
        documents[RESOURCE] = {"resource": base, "authorization_servers": [issuer.url], "scopes_supported": ["a"]}
        attempt = await sign_ins_at(tmp_path, f"{base}/mcp").begin("local", Challenge(), REDIRECT)
    assert (attempt.resource, attempt.scopes) == (base, ("a",))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"issuer": "https://other.example"}, "whose metadata name another"),
        ({"token_endpoint": "http://login.example/token"}, "as its token endpoint. It must begin with https://"),
        ({"token_endpoint": "ftp://login.example/token"}, "as its token endpoint"),
        ({"token_endpoint": "https://user@login.example/token"}, "as its token endpoint"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "as its authorization endpoint"),
        ({"authorization_endpoint": "http://192.168.0.1/"}, "as its authorization endpoint"),
        ({"registration_endpoint": "file:///etc/passwd"}, "as its registration endpoint"),
        ({"code_challenge_methods_supported": None}, "does not offer PKCE with S256"),
        ({"token_endpoint": None}, "without a token endpoint"),
    ],
)
async def test_metadata_of_an_authorization_server_are_checked(
    tmp_path: Path, issuer: Issuer, fields: dict[str, Any], problem: str
):
    issuer.metadata_fields = fields
    documents: dict[str, Any] = {}
    async with serving(documents) as base:
        documents[f"{RESOURCE}/mcp"] = {"resource": f"{base}/mcp", "authorization_servers": [issuer.url]}
        assert problem in await refusal(sign_ins_at(tmp_path, f"{base}/mcp"))
    assert not issuer.clients


async def test_no_redirect_is_followed_and_no_other_host_on_this_machine_asked(tmp_path: Path, issuer: Issuer):
    documents: dict[str, Any] = {}
    async with serving(documents) as base:
        documents[f"{RESOURCE}/mcp"] = f"{issuer.url}/anything"
        documents["/.well-known/oauth-authorization-server"] = f"{issuer.url}/.well-known/openid-configuration"
        assert "without metadata" in await refusal(sign_ins_at(tmp_path, f"{base}/mcp"))
        assert issuer.requests.total() == 0
        # A server elsewhere cannot make us ask something on this machine.
        challenge = Challenge(resource_metadata=f"{base}{RESOURCE}/mcp")
        text = await refusal(sign_ins_at(tmp_path, "https://docs.example/mcp"), challenge)
        assert "as its metadata address. It must begin with https://" in text


async def test_a_client_of_the_charter_is_used_with_its_own_issuer_only(tmp_path: Path, issuer: Issuer, monkeypatch):
    monkeypatch.setenv("SECRET", "s3cret")
    more = (
        'oauth = { client_id = "robot", client_secret = "env:SECRET", grant = "client_credentials", '
        'issuer = "https://login.example" }'
    )
    documents: dict[str, Any] = {}
    async with serving(documents) as base:
        documents[f"{RESOURCE}/mcp"] = {"resource": f"{base}/mcp", "authorization_servers": [issuer.url]}
        sign_ins = sign_ins_at(tmp_path, f"{base}/mcp", more)
        with pytest.raises(OAuthError, match=r"The charter names 'https://login\.example'"):
            await sign_ins.own_sign_in("shared", Challenge())
    assert not issuer.forms


async def come_back(sign_ins: SignIns, *queries: str) -> tuple[list[int], SignIn | OAuthError]:
    """What a browser gets for each address that it comes back with, and how the sign-in ends."""
    shown: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(sign_in_here(sign_ins, "local", Challenge(), shown.set_result, seconds=60))
    done, _ = await asyncio.wait({waiting, shown}, return_when=asyncio.FIRST_COMPLETED)
    assert shown in done, waiting.exception()
    async with httpx2.AsyncClient() as browser:
        back = httpx2.URL((await browser.get(shown.result())).headers["location"])
        root = str(back.copy_with(query=None))
        statuses = [(await browser.get(root + query.format(**dict(back.params)))).status_code for query in queries]
    try:
        return statuses, await waiting
    except OAuthError as error:
        return statuses, error


GOOD = "?code={code}&state={state}&iss={iss}"


async def test_only_the_answer_to_our_own_question_counts(tmp_path: Path, issuer: Issuer):
    documents: dict[str, Any] = {}
    async with serving(documents) as base:
        documents[f"{RESOURCE}/mcp"] = {"resource": f"{base}/mcp", "authorization_servers": [issuer.url]}
        sign_ins = sign_ins_at(tmp_path, f"{base}/mcp")
        wrong = ("?code=x&state=y", "?code=x", "?code=x&state={state}x", "?code=x&state={state}&state={state}", "/../")
        statuses, sign_in = await come_back(sign_ins, *wrong, GOOD)
        assert statuses == [400, 400, 400, 400, 404, 200]
        assert isinstance(sign_in, SignIn)
        assert sign_in.access_token in issuer.given


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("?code={code}&state={state}&iss=https://evil.example", "came from another authorization server"),
        ("?code={code}&state={state}", "came from another authorization server"),
        ("?code=stolen&state={state}&iss={iss}", "does not accept the grant"),
        ("?error=access_denied&state={state}&iss={iss}", "access was not granted (access_denied)"),
        ("?state={state}&iss={iss}&access_token=x", "access was not granted (no code)"),
    ],
)
async def test_a_wrong_answer_ends_the_sign_in(tmp_path: Path, issuer: Issuer, query: str, problem: str):
    issuer.metadata_fields = {"authorization_response_iss_parameter_supported": True}
    documents: dict[str, Any] = {}
    async with serving(documents) as base:
        documents[f"{RESOURCE}/mcp"] = {"resource": f"{base}/mcp", "authorization_servers": [issuer.url]}
        sign_ins = sign_ins_at(tmp_path, f"{base}/mcp")
        statuses, error = await come_back(sign_ins, query)
        assert (statuses, problem in str(error)) == ([400], True)
        assert sign_ins.store.load("docs", "local") is None


def test_nothing_that_is_kept_shows_a_secret_when_printed(tmp_path: Path, issuer: Issuer):
    async def sign_in() -> SignIn:
        documents: dict[str, Any] = {}
        async with serving(documents) as base:
            documents[f"{RESOURCE}/mcp"] = {"resource": f"{base}/mcp", "authorization_servers": [issuer.url]}
            sign_ins = sign_ins_at(tmp_path, f"{base}/mcp")
            attempt = await sign_ins.begin("local", Challenge(), REDIRECT)
            assert attempt.verifier not in repr(attempt)
            assert attempt.state not in repr(attempt)
            browser = Browser()
            made = await sign_in_here(sign_ins, "local", Challenge(), browser.open)
            for thread in browser.threads:
                thread.join()
            return made

    made = asyncio.run(sign_in())
    assert not any(token in repr(made) for token in issuer.given)
