"""Tokens are renewed once for all calls, kept before they are used, and belong to one client and one server."""

import asyncio
import base64
import time
from pathlib import Path
from typing import Any

import pytest

from mcp_core.errors import PermissionDenied, SignInRequired
from tests.behaviour.combinations import HttpServer
from tests.mcp_core.auth.issuer import Issuer
from tests.toolcharter.command_line import run
from tests.toolcharter.govern.oauth.signing_in import (
    Browser,
    approve,
    call,
    open_governor,
    sign_in_without_browser,
    sign_ins_of,
    signed_in,
    who,
    write_charter,
)
from toolcharter.govern.oauth.attempts import SignIns
from toolcharter.govern.oauth.credentials import OwnerTokens
from toolcharter.govern.oauth.records import SignIn
from toolcharter.govern.oauth.store import SignInStore


def stored(charter: Path) -> SignIn:
    found = SignInStore(charter).load("docs", "local")
    assert found is not None
    return found


def expire(charter: Path) -> None:
    SignInStore(charter).save(stored(charter).model_copy(update={"expires": time.time() - 1}))


async def many_calls(charter: Path, number: int) -> set[str]:
    governor = open_governor(charter)
    async with governor.all_tools:
        answers = await asyncio.gather(*(call(governor, "who") for _ in range(number)))
    return {answer["data"]["userId"] for answer in answers}


def test_many_calls_share_one_renewal(capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    first = stored(charter)
    expire(charter)
    assert asyncio.run(many_calls(charter, 20)) == {"ann"}
    assert [form["grant_type"] for form in issuer.forms] == ["authorization_code", "refresh_token"]
    # The refresh token that was used is worth nothing now, and the new one is kept.
    assert stored(charter).refresh_token not in (None, first.refresh_token)
    assert stored(charter).access_token != first.access_token
    expire(charter)
    assert who(charter, None) == ["ann"]


def test_two_processes_do_not_use_one_refresh_token_twice(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    expire(charter)
    one, other = open_governor(charter), open_governor(charter)

    async def both() -> list[str]:
        async with one.all_tools, other.all_tools:
            answers = await asyncio.gather(*(call(governor, "who") for governor in (one, other)))
        return [answer["data"]["userId"] for answer in answers]

    assert asyncio.run(both()) == ["ann", "ann"]
    assert [form["grant_type"] for form in issuer.forms].count("refresh_token") == 1


class LateStore(SignInStore):
    """On a file system that tells late that a file has changed."""

    def version(self, server: str, owner: str) -> int | None:
        return 1


def test_a_file_system_that_tells_late_of_a_change_costs_no_sign_in(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    expire(charter)
    here = sign_ins_of(charter)
    late = OwnerTokens(SignIns("docs", here.address, here.table, LateStore(charter)), "local", None)

    async def renew_at_both() -> list[Any]:
        await late._read()  # before another process renews it
        return [await OwnerTokens(here, "local", None).headers(), await late.headers()]

    renewed, known = asyncio.run(renew_at_both())
    assert renewed == known
    assert [form["grant_type"] for form in issuer.forms].count("refresh_token") == 1


def test_a_token_that_the_server_refuses_is_renewed(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    SignInStore(charter).save(stored(charter).model_copy(update={"access_token": "revoked"}))
    assert who(charter, None) == ["ann"]
    assert stored(charter).access_token != "revoked"


def test_a_sign_in_that_the_issuer_ended_leaves_a_clear_state(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    expire(charter)
    issuer.refresh_tokens.clear()
    [error] = who(charter, None)
    assert error.startswith("Sign in to 'docs' first, with the command `toolcharter govern login docs`.")
    assert stored(charter).is_over
    _, out, _ = run(capsys, "govern", "status", "--charter", str(charter))
    assert "signed in: you (ended by the authorization server; sign in again)" in out
    # It is not asked again and again.
    who(charter, None)
    assert [form["grant_type"] for form in issuer.forms].count("refresh_token") == 1
    capsys.readouterr()
    signed_in(capsys, charter)
    assert who(charter, None) == ["ann"]


def test_an_issuer_that_is_away_costs_an_error_and_no_sign_in(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    expire(charter)
    issuer.status = 503
    [error] = who(charter, None)
    assert error == f"The server 'docs' cannot be signed in to now: {issuer.url} answered 503. Try again later."
    issuer.status = 200
    assert who(charter, None) == ["ann"]


def test_the_status_shows_until_when_without_a_refresh_token(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    issuer.gives_refresh_tokens = False
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    _, out, _ = run(capsys, "govern", "status", "--charter", str(charter))
    until = time.strftime("%Y-%m-%d %H:%M", time.gmtime(stored(charter).expires))
    assert f"signed in: you (until {until} UTC)" in out
    expire(charter)
    assert "toolcharter govern login docs" in who(charter, None)[0]


@pytest.mark.requirement("GOV-6")
def test_a_token_is_sent_to_no_other_address_than_it_is_for(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    write_charter(tmp_path, server.url.replace("/mcp", "/demo/mcp"), "oauth = {}")
    assert "Sign in to 'docs' first" in who(charter, None)[0]


async def create_note(charter: Path) -> None:
    """The server does not list the tool without its scope, but answers its call with what is missing."""
    governor = open_governor(charter)
    async with governor.all_tools:
        arguments = {"title": "x", "body": "y"}
        await governor.upstreams["docs"].call_tool("local", "create_note", arguments, seconds=30, meta={})


def test_more_scopes_are_requested_when_a_tool_needs_them(capsys, tmp_path: Path, server: HttpServer, browser: Browser):
    charter = write_charter(tmp_path, server.url, 'oauth = { scopes = ["notes:read"] }')
    signed_in(capsys, charter)
    assert stored(charter).scopes == ("notes:read",)
    with pytest.raises(PermissionDenied, match=r"the charter requests fewer\. Needed: notes:read notes:write\."):
        asyncio.run(create_note(charter))
    write_charter(tmp_path, server.url, "oauth = {}")
    with pytest.raises(SignInRequired):
        asyncio.run(create_note(charter))
    signed_in(capsys, charter)
    assert {"notes:read", "notes:write"} <= set(stored(charter).scopes)
    asyncio.run(create_note(charter))


def test_scopes_that_were_not_granted_are_not_asked_for_again(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    issuer.scopes_allowed = {"notes:read"}
    signed_in(capsys, charter)
    with pytest.raises(PermissionDenied, match=r"did not grant them\. Needed: .*notes:write"):
        asyncio.run(create_note(charter))


def test_the_client_of_the_charter_signs_in_without_a_person(
    capsys, tmp_path: Path, server: HttpServer, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOCS_SECRET", "s3cret")
    more = (
        'oauth = { grant = "client_credentials", client_id = "robot", client_secret = "env:DOCS_SECRET", '
        f'issuer = "{issuer.url}" }}'
    )
    charter = write_charter(tmp_path, server.url, more)
    asyncio.run(approve(charter))
    assert who(charter, "bob", None) == ["robot", "robot"]
    assert {form["grant_type"] for form in issuer.forms} == {"client_credentials"}
    assert all("s3cret" not in str(path.read_text()) for path in tmp_path.rglob("*") if path.is_file())
    _, _, err = run(capsys, "govern", "login", "docs", "--charter", str(charter))
    assert "docs is signed in to with its client in the charter" in err
    monkeypatch.setenv("DOCS_SECRET", "wrong")
    [error] = who(charter, None)
    assert error == (
        f"The server 'docs' cannot be signed in to: {issuer.url} refused our client (invalid_client). "
        "Check its id and secret."
    )


def test_a_registration_is_kept_and_its_port_used_again(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    signed_in(capsys, charter)
    assert len(issuer.clients) == 1
    [client] = issuer.clients.values()
    assert client["application_type"] == "native"
    assert client["grant_types"] == ["authorization_code", "refresh_token"]


def test_a_configured_client_comes_before_a_document_and_that_before_a_registration(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    document = "https://tools.example/client.json"
    for supported, more, expected in (
        (True, f'client_id = "known", client_metadata = "{document}"', "known"),
        (True, f'client_metadata = "{document}"', document),
        (False, f'client_metadata = "{document}"', None),
    ):
        issuer.metadata_fields = {"client_id_metadata_document_supported": supported}
        charter = write_charter(tmp_path, server.url, f"oauth = {{ {more} }}")
        signed_in(capsys, charter)
        assert stored(charter).client.client_id == (expected or next(iter(issuer.clients)))
    assert issuer.requests["/register"] == 1


def test_a_fixed_port_that_is_in_use_is_an_error(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    taken = int(server.url.split(":")[2].split("/")[0])
    charter = write_charter(tmp_path, server.url, f'oauth = {{ client_id = "known", redirect_port = {taken} }}')
    code, _, err = run(capsys, "govern", "login", "docs", "--charter", str(charter))
    assert code == 1
    assert f"The port {taken} of redirect_port is in use." in err


def test_an_issuer_that_forgot_us_gets_another_registration(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    first = stored(charter).client.client_id
    issuer.forgets_clients = True
    expire(charter)
    assert "toolcharter govern login docs" in who(charter, None)[0]
    issuer.forgets_clients = False
    signed_in(capsys, charter)
    assert stored(charter).client.client_id != first
    assert who(charter, None) == ["ann"]


def test_a_sign_in_that_was_ended_here_is_ended_at_the_issuer_too(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    issuer.metadata_fields = {"revocation_endpoint": f"{issuer.url}/revoke"}
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    assert len(issuer.refresh_tokens) == 1
    code, _, err = run(capsys, "govern", "logout", "docs", "--charter", str(charter))
    assert (code, err, issuer.refresh_tokens) == (0, "", {})
    code, _, err = run(capsys, "govern", "logout", "docs", "--charter", str(charter))
    assert (code, "docs has no sign-in for you." in err) == (1, True)


def test_a_server_that_is_no_longer_governed_leaves_nothing(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    signed_in(capsys, charter, "--caller", "bob")
    run(capsys, "govern", "remove", "docs", "--charter", str(charter))
    kept = [path for path in (tmp_path / "charter-sign-ins").rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert [path.read_text() for path in kept] == ["{}"]


def test_the_secret_of_a_client_stays_where_the_charter_says(
    tmp_path: Path, server: HttpServer, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOCS_SECRET", "s3cret")
    more = f'oauth = {{ client_id = "robot", client_secret = "env:DOCS_SECRET", issuer = "{issuer.url}" }}'
    charter = write_charter(tmp_path, server.url, more)
    asyncio.run(sign_in_without_browser(charter))
    asyncio.run(approve(charter))
    expire(charter)
    assert who(charter, None) == ["ann"]
    basic = "Basic " + base64.b64encode(b"robot:s3cret").decode()
    assert [(form["grant_type"], form["authorization"]) for form in issuer.forms] == [
        ("authorization_code", basic),
        ("refresh_token", basic),
    ]
    kept = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "s3cret" not in kept


def test_a_call_that_is_cancelled_does_not_lose_the_new_refresh_token(
    capsys, tmp_path: Path, server: HttpServer, browser: Browser, issuer: Issuer
):
    charter = write_charter(tmp_path, server.url, "oauth = {}")
    signed_in(capsys, charter)
    expire(charter)

    async def cancel_during_renewal() -> None:
        governor = open_governor(charter)
        async with governor.all_tools:
            first = asyncio.create_task(call(governor, "who"))
            while not any(form["grant_type"] == "refresh_token" for form in issuer.forms):  # noqa: ASYNC110
                await asyncio.sleep(0)  # the issuer is in another thread
            first.cancel()
            await asyncio.wait({first})
            assert (await call(governor, "who"))["data"]["userId"] == "ann"

    asyncio.run(cancel_during_renewal())
    assert stored(charter).refresh_token in issuer.refresh_tokens
    assert [form["grant_type"] for form in issuer.forms].count("refresh_token") == 1
