"""Access tokens that only their issuer can read."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from mcp_core import Caller, Settings
from mcp_core.auth import IdentityUnavailable
from mcp_core.auth.access_tokens import AccessTokens
from mcp_core.auth.identity import Identity
from mcp_core.auth.introspection import AT_ONCE, WAITING
from mcp_core.auth.issuer_http import IssuerHttp
from mcp_core.auth.permissions import ScopesAsPermissions
from mcp_core.auth.token_list import new_token
from tests.mcp_core.auth.issuer import Issuer


@pytest.fixture
def issuer() -> Issuer:
    issuer = Issuer()
    issuer.active["opaque"] = {"active": True, **issuer.claims(scope="todos:read")}
    return issuer


def verifier(issuer: Issuer, secret: str = "s3cret") -> AccessTokens:
    settings = Settings(
        oidc=issuer.url,
        audience=("https://tools.example",),
        introspection=f"{issuer.url}/introspect",
        introspection_client="tools",
        introspection_secret=SecretStr(secret),
    )
    return AccessTokens(settings, "todo", ScopesAsPermissions(), IssuerHttp(httpx2.ASGITransport(issuer.app)))


@pytest.fixture
async def access(issuer: Issuer) -> AsyncIterator[AccessTokens]:
    tokens = verifier(issuer)
    tokens.open()
    yield tokens
    await tokens.close()


async def test_the_issuer_is_asked_once_about_a_token(issuer: Issuer, access: AccessTokens):
    scopes = frozenset({"todos:read"})
    for _ in range(5):
        assert await access.verify("opaque") == Caller("user:ann", "ann", scopes, scopes=scopes)
        assert await access.verify("unknown") is None
    assert issuer.requests == {"/introspect": 2}


@pytest.mark.requirement("OPS-1")
@pytest.mark.parametrize(
    "changes",
    [
        {"active": False},
        {"active": "true"},
        {"active": 1},
        {"aud": "https://other.example"},
        {"aud": None},
        {"aud": [5]},
        {"iss": "https://other.example"},
        {"exp": int(time.time()) - 30},
        {"nbf": int(time.time()) + 3600},
        {"exp": 10**400},
        {"sub": "local"},
        {"sub": None},
        {"cnf": {"jkt": "x"}},
    ],
)
async def test_an_answer_that_does_not_allow_it_refuses_the_token(issuer: Issuer, access: AccessTokens, changes: Any):
    answer = {**issuer.active["opaque"], **changes}
    issuer.active["other"] = {name: value for name, value in answer.items() if value is not None}
    assert await access.verify("opaque") is not None
    assert await access.verify("other") is None


async def test_an_answer_may_leave_out_issuer_and_expiry_and_name_the_user_otherwise(
    issuer: Issuer, access: AccessTokens
):
    issuer.active["short"] = {"active": True, "aud": ["https://tools.example/todo/mcp"], "username": "ben"}
    assert await access.verify("short") == Caller("user:ben", "ben", frozenset(), scopes=frozenset())


async def test_a_wrong_secret_is_a_fault_of_the_server_and_not_of_the_token(issuer: Issuer):
    access = verifier(issuer, "wrong")
    with pytest.raises(IdentityUnavailable):
        await access.verify("opaque")
    assert "the status is 401" in access.health.detail
    assert "wrong" not in access.health.detail


@pytest.mark.requirement("OPS-7")
async def test_a_hung_issuer_gets_a_bounded_number_of_requests(issuer: Issuer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mcp_core.auth.issuer_http.TIMEOUT_SECONDS", 60)
    access = verifier(issuer)
    issuer.hangs = True
    tasks = [asyncio.ensure_future(access.verify(f"t{number}")) for number in range(AT_ONCE + WAITING + 100)]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert len(done) == 100  # refused at once
    assert issuer.requests["/introspect"] <= AT_ONCE
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert not any(isinstance(result, Caller) for result in results)


async def test_refused_tokens_without_end_do_not_fill_the_memory(issuer: Issuer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mcp_core.auth.introspection.MAX_REFUSED", 10)
    access = verifier(issuer)
    for number in range(25):
        assert await access.verify(f"t{number}") is None
    assert len(access._verification._refused) <= 10


async def test_the_issuer_is_never_asked_about_a_static_token(issuer: Issuer, access: AccessTokens):
    identity = Identity(None, access)
    assert await identity.verify("opaque") is not None
    assert await identity.verify(new_token()) is None
    assert issuer.requests == {"/introspect": 1}
