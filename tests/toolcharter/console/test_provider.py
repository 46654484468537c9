"""Signing in at the identity provider."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from pydantic import SecretStr

from mcp_core import App
from tests.mcp_core.auth.issuer import Issuer, serving
from tests.toolcharter.console.test_console import BASE, HTML, csrf_in, demo, visited

BEGIN, CALLBACK = "/console/sign-in/provider", "/console/sign-in/callback"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with serving(Issuer()) as issuer:
        issuer.gives_refresh_tokens = True
        yield issuer


def app_of(issuer: Issuer, **settings) -> App:
    return demo(oidc=issuer.url, audience=(BASE,), oidc_client="console", scopes=("notes:read",), **settings)


async def answer_of(http: httpx2.AsyncClient, after: str = "/") -> str:
    """The path and query with which the provider sends the browser back."""
    begun = await http.get(BEGIN, params={"next": after})
    assert begun.status_code == 303
    async with httpx2.AsyncClient() as outside:
        sent_back = (await outside.get(begun.headers["location"])).headers["location"]
    assert sent_back.startswith(f"{BASE}{CALLBACK}?")
    return sent_back.removeprefix(BASE)


@asynccontextmanager
async def signed_in(issuer: Issuer, **settings) -> AsyncIterator[httpx2.AsyncClient]:
    async with visited(app_of(issuer, **settings)) as http:
        assert (await http.get(await answer_of(http))).status_code == 200
        yield http


async def test_a_person_signs_in_at_the_provider_and_goes_on_where_they_were(issuer: Issuer):
    async with visited(app_of(issuer)) as http:
        form = (await http.get("/console/sign-in?next=/console/tools")).text
        begin = re.search(r'href="([^"]*)" class="button">([^<]*)<', form)
        answer = await answer_of(http, "/console/tools")
        back = await http.get(answer)
        page = await http.get("/console/tools", headers=HTML)
    assert begin.groups() == (f"{BASE}{BEGIN}?next=/console/tools", f"Sign in with {urlsplit(issuer.url).netloc}")
    assert '<meta http-equiv="refresh" content="0;url=/console/tools">' in back.text
    assert "<code>list_notes</code>" in page.text
    assert "<code>add</code>" not in page.text
    assert "Sign out" in page.text
    assert ">ann<" in page.text


async def test_the_provider_is_asked_for_the_audience_and_the_scopes_with_pkce(issuer: Issuer):
    async with visited(app_of(issuer)) as http:
        begun = await http.get(BEGIN)
    query = parse_qs(urlsplit(begun.headers["location"]).query)
    assert query | {"state": None, "code_challenge": None} == {
        "response_type": ["code"],
        "client_id": ["console"],
        "redirect_uri": [f"{BASE}{CALLBACK}"],
        "scope": ["notes:read"],
        "state": None,
        "code_challenge": None,
        "code_challenge_method": ["S256"],
        "resource": [BASE],
    }
    cookie = begun.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert query["state"][0] not in cookie


async def test_another_browser_cannot_finish_a_sign_in(issuer: Issuer):
    async with visited(app_of(issuer)) as http:
        answer = await answer_of(http)
        http.cookies.clear()
        without_cookie = await http.get(answer)
        await http.get(BEGIN)
        with_another = await http.get(answer)
        page = await http.get("/", headers=HTML)
    assert (without_cookie.status_code, with_another.status_code, page.status_code) == (403, 403, 303)
    assert "The sign-in was begun in another browser, or took too long." in without_cookie.text
    assert issuer.forms == []


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"error": "access_denied"}, "The identity provider did not sign you in (access_denied)."),
        ({"error": "<b>no</b>"}, "The identity provider did not sign you in."),
        ({"code": "c", "iss": "https://evil.example"}, "The answer comes from another identity provider."),
        ({"code": "made-up"}, "The identity provider did not accept the sign-in."),
    ],
)
async def test_an_answer_that_is_no_sign_in_is_explained(query: dict[str, str], problem: str, issuer: Issuer):
    async with visited(app_of(issuer)) as http:
        state = parse_qs(urlsplit(await answer_of(http)).query)["state"][0]
        refused = await http.get(CALLBACK, params={"state": state, **query})
        page = await http.get("/", headers=HTML)
    assert f'role="alert">{problem}' in refused.text
    assert page.status_code == 303


@pytest.mark.parametrize("query", [{"code": "c"}, {"error": "access_denied"}, {"code": "c", "iss": ""}])
async def test_a_provider_that_names_itself_in_each_answer_must_do_so(query: dict[str, str], issuer: Issuer):
    issuer.metadata_fields = {"authorization_response_iss_parameter_supported": True}
    async with visited(app_of(issuer)) as http:
        state = parse_qs(urlsplit(await answer_of(http)).query)["state"][0]
        refused = await http.get(CALLBACK, params={"state": state, **query})
        good = await http.get(await answer_of(http))
    assert "The answer comes from another identity provider." in refused.text
    assert [form["grant_type"] for form in issuer.forms] == ["authorization_code"]
    assert good.status_code == 200


async def test_a_parameter_that_is_there_twice_counts_as_missing(issuer: Issuer):
    async with visited(app_of(issuer)) as http:
        answer = await answer_of(http)
        refused = await http.get(f"{answer}&code=another")
    assert "The identity provider did not sign you in." in refused.text
    assert issuer.forms == []


async def test_the_log_has_the_reason_of_each_refused_sign_in(issuer: Issuer, caplog: pytest.LogCaptureFixture):
    issuer.forgets_clients = True
    async with visited(app_of(issuer)) as http:
        for _ in range(2):
            await http.get(await answer_of(http))
    problem = f"A sign-in to the console failed at the identity provider. {issuer.url}/token (the status is 401, "
    assert [line for line in caplog.messages if "identity provider" in line] == [f"{problem}invalid_client)"] * 2


async def test_a_token_for_another_audience_signs_nobody_in(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    made = issuer.token
    monkeypatch.setattr(issuer, "token", lambda **claims: made(**claims | {"aud": "https://other.example"}))
    async with visited(app_of(issuer)) as http:
        refused = await http.get(await answer_of(http))
        page = await http.get("/", headers=HTML)
    assert (refused.status_code, page.status_code) == (403, 303)
    assert "The log of the server has the reason" in refused.text
    assert f"its aud is 'https://other.example', but --audience allows {BASE}" in caplog.text


async def test_a_provider_that_is_away_is_reported(issuer: Issuer):
    async with visited(app_of(issuer)) as http:
        issuer.status = 500
        refused = await http.get(BEGIN)
    assert refused.status_code == 503
    assert "The identity provider cannot be reached." in refused.text


@pytest.mark.parametrize("after", ["https://evil.example/", "//evil.example", "/\\evil.example"])
async def test_a_sign_in_never_leads_on_to_another_server(after: str, issuer: Issuer):
    async with visited(app_of(issuer)) as http:
        back = await http.get(await answer_of(http, after))
    assert 'content="0;url=/"' in back.text
    assert "evil" not in back.text


@pytest.mark.parametrize("methods", [["none", "client_secret_basic"], ["client_secret_post"]])
async def test_a_client_with_a_secret_proves_it(methods: list[str], issuer: Issuer):
    issuer.metadata_fields = {"token_endpoint_auth_methods_supported": methods}
    async with signed_in(issuer, oidc_secret=SecretStr("s3 cret")):
        pass
    (form,) = issuer.forms
    by_form = methods == ["client_secret_post"]
    assert form.get("client_secret") == ("s3 cret" if by_form else None)
    assert form["authorization"] == ("" if by_form else "Basic Y29uc29sZTpzMyUyMGNyZXQ=")


async def test_a_token_is_renewed_before_it_ends_once_for_many_requests(issuer: Issuer, redis_url: str):
    issuer.lifetime = 0
    settings = {"redis": redis_url}
    async with signed_in(issuer, **settings) as one, visited(app_of(issuer, **settings)) as other:
        other.cookies.update(dict(one.cookies))
        issuer.lifetime = 300
        pages = [await http.get("/console/tools", headers=HTML) for http in (other, one, other, one)]
        (_, renewal) = issuer.forms
    assert [page.status_code for page in pages] == [200] * 4
    assert renewal["grant_type"] == "refresh_token"


async def test_requests_that_come_while_a_token_is_renewed_use_the_old_one(issuer: Issuer):
    issuer.lifetime = 0
    async with signed_in(issuer) as http:
        pages = await asyncio.gather(*(http.get("/console/tools", headers=HTML) for _ in range(5)))
    assert [page.status_code for page in pages] == [200] * 5
    assert [form["grant_type"] for form in issuer.forms] == ["authorization_code", "refresh_token"]


async def test_a_token_that_cannot_be_renewed_is_used_until_it_ends_and_not_renewed_again_at_once(issuer: Issuer):
    issuer.lifetime = 0
    async with signed_in(issuer) as http:
        issuer.refresh_tokens.clear()
        pages = [await http.get("/console/tools", headers=HTML) for _ in range(3)]
    assert [page.status_code for page in pages] == [200] * 3
    assert [form["grant_type"] for form in issuer.forms] == ["authorization_code", "refresh_token"]


async def test_a_token_of_the_token_file_signs_in_beside_the_provider(issuer: Issuer, tokens: Path):
    async with visited(app_of(issuer, tokens=tokens)) as http:
        form = (await http.get("/console/sign-in")).text
        fields = {"csrf": csrf_in(form), "token": "ana-token", "next": "/"}
        signed = await http.post("/console/sign-in", data=fields, headers={"Origin": BASE})
    assert "<summary>Use a token instead</summary>" in form
    assert signed.status_code == 303


async def test_without_a_client_there_is_no_way_to_the_provider(issuer: Issuer):
    async with visited(demo(oidc=issuer.url, audience=(BASE,))) as http:
        form, begun = await http.get("/console/sign-in"), await http.get(BEGIN)
    assert "Sign in with" not in form.text
    assert begun.status_code == 401  # as every page that does not exist, before signing in
