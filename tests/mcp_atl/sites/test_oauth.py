"""Sign in with the browser, and stay signed in: against the sandbox's own issuer."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit
from urllib.request import ProxyHandler, build_opener

import httpx2
import pytest

from mcp_atl import login_command, logout_command
from mcp_atl.app import build
from mcp_atl.client.errors import AuthError, SiteUnavailable
from mcp_atl.client.http import SiteClient, open_http
from mcp_atl.client.jira import jira
from mcp_atl.settings import AtlSettings
from mcp_atl.sites.oauth import Grant, OAuthTokens
from mcp_atl.sites.sign_in import SignInAttempt
from mcp_atl.sites.sites import Sites
from tests.mcp_atl.sites.signed import GRANT, PLACE, Browser, Signed
from toolcharter import InvalidArguments


@pytest.fixture
async def signed(tmp_path):
    made = Signed(tmp_path)
    yield made
    await made.http.aclose()


async def test_a_person_signs_in_with_the_browser(signed):
    browser = Browser(signed.sandbox)
    access = await SignInAttempt(GRANT, signed.http, browser.open, gateway=PLACE, port=0).run()
    signed.store.save(access)
    await asyncio.gather(*browser.visits)
    query = parse_qs(urlsplit(browser.addresses[0]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert "offline_access" in query["scope"][0]
    assert [page.status_code for page in browser.pages] == [400, 404, 200]
    assert access.site.name == "harbourline.example"
    assert access.site.base_url("jira") == f"{PLACE}/ex/jira/{signed.sandbox.state.cloud_id}"
    assert (await jira(signed.client(access)).myself())["displayName"] == "Anna Berg"


async def test_access_that_is_not_granted_is_an_error(signed):
    browser = Browser(signed.sandbox, answer="error=access_denied")
    with pytest.raises(AuthError, match=r"Access was not granted \(access_denied\)"):
        await SignInAttempt(GRANT, signed.http, browser.open, gateway=PLACE, port=0).run()


async def test_the_answer_of_another_issuer_is_not_used(signed):
    browser = Browser(signed.sandbox, answer="code=stolen&iss=https://evil.example")
    with pytest.raises(AuthError, match="Another server than the sign-in server answered"):
        await SignInAttempt(GRANT, signed.http, browser.open, gateway=PLACE, port=0).run()
    assert not any(request.path == "/oauth/token" for request in signed.sandbox.requests)


async def test_nobody_is_waited_for_forever(signed):
    with pytest.raises(AuthError, match="Nobody signed in within 0 seconds"):
        await SignInAttempt(GRANT, signed.http, lambda _: None, gateway=PLACE, port=0, timeout=0.01).run()


async def test_a_site_that_was_not_granted_is_an_error_with_those_that_were(signed):
    browser = Browser(signed.sandbox)
    with pytest.raises(InvalidArguments, match=r"these sites: harbourline.example; 'acme.example' is not one of them"):
        await SignInAttempt(GRANT, signed.http, browser.open, gateway=PLACE, port=0).run("acme.example")


async def test_a_token_is_renewed_before_it_ends_and_the_new_refresh_token_is_kept(signed):
    access = await signed.sign_in()
    client = jira(signed.client(access))
    await client.myself()
    signed.now[0] += timedelta(minutes=58)
    await client.myself()
    assert signed.renewals == 1
    signed.now[0] += timedelta(minutes=1, seconds=30)
    await client.myself()
    assert signed.renewals == 2
    kept = Grant.of(signed.store.load()["harbourline.example"].jira)
    assert kept.refresh_token in signed.sandbox.issuer.refresh
    assert kept.refresh_token != Grant.of(access.jira).refresh_token


async def test_calls_at_the_same_time_renew_once(signed):
    client = jira(signed.client(await signed.sign_in()))
    await asyncio.gather(*(client.myself() for _ in range(20)))
    assert signed.renewals == 1
    signed.sandbox.issuer.access.clear()  # as if the site had revoked them
    await asyncio.gather(*(client.myself() for _ in range(20)))
    assert signed.renewals == 2


async def test_a_refusal_that_arrives_after_a_renewal_renews_nothing(signed):
    tokens = OAuthTokens(await signed.sign_in(), signed.http, signed.store, clock=signed.time)
    refused = await tokens.current()
    renewed = await tokens.after_refusal(refused)
    assert await tokens.after_refusal(refused) == renewed
    assert signed.renewals == 2


async def test_a_refused_token_is_renewed_once_also_for_a_write(signed):
    client = signed.client(await signed.sign_in())
    await jira(client).myself()
    signed.sandbox.issuer.access.clear()
    await jira(client).update_issue("APP-3", {"summary": "Brighter"})
    signed.sandbox.faults.fail(401, path="*/myself", times=None)
    before = signed.renewals
    with pytest.raises(AuthError):
        await jira(client).myself()
    assert signed.renewals == before + 1


async def test_a_missing_scope_is_an_error_and_renews_nothing(signed):
    client = signed.client(await signed.sign_in())
    await jira(client).myself()
    for token, grant in signed.sandbox.issuer.access.items():
        signed.sandbox.issuer.access[token] = replace(grant, scopes=("read:page:confluence",))
    with pytest.raises(AuthError, match="scope does not match"):
        await jira(client).myself()
    assert signed.renewals == 1


async def test_a_renewal_outlives_the_call_that_began_it(signed):
    """Otherwise a call that is cancelled would lose the new refresh token, and with it the sign-in."""
    access = await signed.sign_in()
    arrived, may_answer = asyncio.Event(), asyncio.Event()

    async def slow(scope, receive, send):
        answer: list[dict[str, object]] = []

        async def keep(message):
            answer.append(message)

        await signed.sandbox(scope, receive, keep)
        if scope["path"] == "/oauth/token":
            arrived.set()
            await may_answer.wait()
        for message in answer:
            await send(message)

    async with open_http(access.site, httpx2.ASGITransport(slow)) as http:
        client = SiteClient(
            access, http, slots=asyncio.Semaphore(5), tokens=OAuthTokens(access, http, signed.store, clock=signed.time)
        )
        call = asyncio.create_task(jira(client).myself())
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        may_answer.set()
        await jira(client).myself()
    assert signed.renewals == 1
    assert Grant.of(signed.store.load()["harbourline.example"].jira).refresh_token in signed.sandbox.issuer.refresh


async def test_two_processes_share_one_sign_in(signed):
    access = await signed.sign_in()
    first, second = jira(signed.client(access)), jira(signed.client(access))
    await first.myself()
    await second.myself()  # with the refresh token that the first one stored
    signed.now[0] += timedelta(hours=2)
    assert (await first.myself())["displayName"] == "Anna Berg"


async def test_a_revoked_sign_in_says_what_to_do_and_no_secret(signed, caplog):
    caplog.set_level("DEBUG")
    access = await signed.sign_in()
    signed.sandbox.issuer.refresh.clear()
    with pytest.raises(AuthError, match=r"expired or was revoked .* Sign in again with `mcp-atl login`") as caught:
        await jira(signed.client(access)).myself()
    secret = str.__str__(Grant.of(access.jira).refresh_token)
    assert (
        secret not in f"{caught.value!r} {caught.value.__cause__!r} {access!r} {Grant.of(access.jira)!r} {caplog.text}"
    )


async def test_a_running_server_does_not_restore_a_sign_in_that_was_removed(signed):
    client = jira(signed.client(await signed.sign_in()))
    await client.myself()
    signed.store.remove("harbourline.example")
    signed.now[0] += timedelta(hours=2)
    with pytest.raises(AuthError, match=r"The sign-in to harbourline.example was removed"):
        await client.myself()
    assert signed.store.load() == {}


async def test_a_sign_in_server_that_fails_is_not_a_revoked_sign_in(signed):
    access = await signed.sign_in()
    for status in (429, 503):
        signed.sandbox.faults.fail(status, path="/oauth/token")
        with pytest.raises(SiteUnavailable, match=f"HTTP {status}"):
            await jira(signed.client(access)).myself()
    assert (await jira(signed.client(access)).myself())["displayName"] == "Anna Berg"


async def test_the_store_keeps_the_sign_in_for_its_owner_only(signed):
    await signed.sign_in()
    path = signed.path / "sites.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text())["harbourline.example"]["scheme"] == "oauth"
    sites = Sites(
        signed.store.load(), {"harbourline.example": lambda: httpx2.ASGITransport(signed.sandbox)}, signed.store
    )
    try:
        connections = [sites.connection(sites.access(None)) for _ in range(3)]
        await asyncio.gather(*(jira(one).myself() for one in connections))
        assert signed.renewals == 1
    finally:
        await sites.close()


@contextmanager
def sandbox_process() -> Generator[str]:
    """The address of a sandbox that runs as its own server."""
    command = [sys.executable, "-m", "atlassian_sandbox", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = next(one for one in process.stderr if "Jira  " in one)
            yield line.split()[-1]
        finally:
            process.terminate()


def visit(address: str) -> None:
    """A browser in which a person signs in."""
    opener = build_opener(ProxyHandler({}))
    threading.Thread(target=lambda: opener.open(f"{address}&user=anna.berg", timeout=60).close(), daemon=True).start()


async def health() -> object:
    """What the server says of Jira once somebody has signed in."""
    async with build(AtlSettings()) as app:
        answer = await app.call("atl_health_check", {"response_fields": ["jira.ok", "jira.user.name"]})
        return json.loads(answer.text)["value"]["jira"]


def test_login_against_the_sandbox_as_its_own_server(tmp_path, monkeypatch, capsys):
    """The whole command, over real connections; the browser alone is a fake."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("ATLASSIAN_OAUTH_CLIENT_SECRET", "sandbox-secret")
    with sandbox_process() as address:
        arguments = ["--server", address, "--client-id", "sandbox-client", "--port", "0"]
        assert login_command.command(arguments, open_browser=visit) == 0
        output = capsys.readouterr()
        path = tmp_path / "toolcharter" / "atlassian-sites.json"
        kept = f"The sign-in is kept in {path}, which only its owner can read."
        assert f"Signed in to harbourline.example. {kept}\n" in output.out
        assert "sandbox-secret" not in output.out + output.err
        assert asyncio.run(health()) == {"ok": True, "user": {"name": "Anna Berg"}}
        assert login_command.command([*arguments, "--site", "other"], open_browser=visit) == 1
        assert "'other' is not one of them" in capsys.readouterr().err
        assert logout_command.command([]) == 0
        removed = f"Removed the credentials of harbourline.example from {path}, which only its owner can read.\n"
        assert capsys.readouterr().out.startswith(removed)
        assert path.read_text() == "{}"
        assert login_command.command([*arguments, "--caller", "ann"], open_browser=visit) == 0
        [own] = (tmp_path / "toolcharter" / "atlassian-callers").iterdir()
        assert f"Signed ann in to harbourline.example. The sign-in is kept in {own}, which" in capsys.readouterr().out
        assert path.read_text() == "{}"
        assert logout_command.command(["--caller", "ann"]) == 0
        assert own.read_text() == "{}"


def test_login_without_a_client_id_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.delenv("ATLASSIAN_OAUTH_CLIENT_ID", raising=False)
    assert login_command.command([]) == 2
    assert "set --client-id or ATLASSIAN_OAUTH_CLIENT_ID" in capsys.readouterr().err


async def test_two_processes_with_one_sign_in_renew_one_after_the_other(signed):
    access = await signed.sign_in()
    processes = [OAuthTokens(access, signed.http, signed.store, clock=signed.time) for _ in range(5)]
    tokens = await asyncio.gather(*(one.current() for one in processes))
    assert len(set(tokens)) == 5
    stored = Grant.of(signed.store.load()["harbourline.example"].jira)
    assert signed.sandbox.issuer.refresh.keys() == {stored.refresh_token}
