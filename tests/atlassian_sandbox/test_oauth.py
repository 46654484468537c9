import base64
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from atlassian_sandbox import sandbox_app
from atlassian_sandbox.oauth import challenge
from tests.atlassian_sandbox.site import NOW, Site

REDIRECT = "http://127.0.0.1:9999/callback"
SCOPES = "read:jira-work read:page:confluence offline_access"
VERIFIER = "v" * 50
CLIENT = {"client_id": "sandbox-client"}


async def authorize(site: Site, *, scope: str = SCOPES, user: str = "emil.hansen") -> str:
    """An authorization code."""
    query = {
        **CLIENT,
        "audience": "api.atlassian.com",
        "response_type": "code",
        "redirect_uri": REDIRECT,
        "scope": scope,
        "state": "s1",
        "code_challenge": challenge(VERIFIER),
        "code_challenge_method": "S256",
        "user": user,
    }
    response = await site.send("GET", "/authorize", params=query)
    answer = parse_qs(urlsplit(response.headers["location"]).query)
    assert answer["state"] == ["s1"]
    return answer["code"][0]


def exchange(code: str, **changes: str) -> dict[str, str]:
    given = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER}
    return {**CLIENT, **given, **changes}


async def token(site: Site, **options: str) -> dict[str, str]:
    return await site.ok("POST", "/oauth/token", json=exchange(await authorize(site, **options)))


async def test_a_token_is_accepted_by_the_gateway_and_not_by_the_site(cloud):
    issued = await token(cloud)
    bearer = {"authorization": f"Bearer {issued['access_token']}"}
    [resource] = await cloud.ok("GET", "/oauth/token/accessible-resources", headers=bearer)
    assert resource["scopes"] == ["read:jira-work", "read:page:confluence"]
    me = await cloud.ok("GET", f"/ex/jira/{resource['id']}/rest/api/3/myself", headers=bearer)
    assert me["displayName"] == "Emil Hansen"
    page = await cloud.ok("GET", f"/ex/confluence/{resource['id']}/wiki/api/v2/pages/20102", headers=bearer)
    assert page["title"] == "Release process"
    await cloud.refused(401, "GET", "/rest/api/3/myself", headers=bearer)
    await cloud.refused(404, "GET", "/ex/jira/other/rest/api/3/myself", headers=bearer)


async def test_a_token_without_the_scope_is_refused(cloud):
    bearer = {"authorization": f"Bearer {(await token(cloud))['access_token']}"}
    path = f"/ex/jira/{cloud.app.state.cloud_id}/rest/api/3/issue/FERRY-6"
    body = {"fields": {"summary": "x"}}
    refused = await cloud.refused(401, "PUT", path, json=body, headers=bearer)
    assert refused["errorMessages"] == ["Unauthorized; scope does not match"]


@pytest.mark.parametrize(
    "changes", [{"code_verifier": "wrong"}, {"redirect_uri": "http://evil.example"}, {"code": "unknown"}]
)
async def test_a_code_is_exchanged_only_by_the_one_who_asked(cloud, changes):
    refused = await cloud.refused(400, "POST", "/oauth/token", json=exchange(await authorize(cloud)) | changes)
    assert refused["error"] == "invalid_grant"


async def test_a_code_works_once(cloud):
    code = await authorize(cloud)
    await cloud.ok("POST", "/oauth/token", data=exchange(code))
    await cloud.refused(400, "POST", "/oauth/token", data=exchange(code))


async def test_a_token_expires_and_a_refresh_token_rotates():
    now = [NOW]
    site = Site("cloud", sandbox=sandbox_app("cloud", clock=lambda: now[0]))
    issued = await token(site)
    path = f"/ex/jira/{site.app.state.cloud_id}/rest/api/3/myself"
    now[0] += timedelta(hours=2)
    await site.refused(401, "GET", path, headers={"authorization": f"Bearer {issued['access_token']}"})
    refresh = {**CLIENT, "grant_type": "refresh_token", "refresh_token": issued["refresh_token"]}
    renewed = await site.ok("POST", "/oauth/token", json=refresh)
    await site.ok("GET", path, headers={"authorization": f"Bearer {renewed['access_token']}"})
    assert renewed["refresh_token"] != issued["refresh_token"]
    await site.refused(403, "POST", "/oauth/token", json=refresh)


async def test_a_person_chooses_who_they_are(cloud):
    query = {**CLIENT, "response_type": "code", "redirect_uri": REDIRECT, "scope": "read:jira-work"}
    page = await cloud.send("GET", "/authorize", params=query)
    assert "Priya Nair" in page.text
    await cloud.refused(400, "GET", "/authorize", params={**query, "client_id": "nobody"})


async def test_a_scoped_token_works_only_behind_the_gateway(cloud):
    login = base64.b64encode(b"anna.berg@harbourline.example:sandbox-scoped-token-anna.berg").decode()
    headers = {"authorization": f"Basic {login}"}
    await cloud.refused(401, "GET", "/rest/api/3/myself", headers=headers)
    me = await cloud.ok("GET", f"/ex/jira/{cloud.app.state.cloud_id}/rest/api/3/myself", headers=headers)
    assert me["displayName"] == "Anna Berg"
