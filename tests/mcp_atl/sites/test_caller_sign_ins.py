"""Callers over HTTP who are signed in with OAuth, each for themselves."""

import asyncio
from typing import Any

import httpx2
import pytest

from mcp_atl.client.errors import AuthError
from mcp_atl.client.jira import jira
from mcp_atl.site import Access, AtlassianSite, Credentials, Secret
from mcp_atl.sites.callers import CallerPolicy
from mcp_atl.sites.sites import Sites
from tests.mcp_atl.sites.signed import Signed
from toolcharter import PermissionDenied, ToolContext

ADDRESS = "https://harbourline.example"
EAST = AtlassianSite("east", "cloud", jira_url=ADDRESS, confluence_url=ADDRESS, projects=frozenset({"APP"}))
OF_THE_SERVER = Credentials("basic", "mia.keller@harbourline.example", Secret("sandbox-token-mia.keller"))


@pytest.fixture
async def signed(tmp_path):
    made = Signed(tmp_path)
    made.sandbox.state.default_user = None
    yield made
    await made.http.aclose()


def sites(signed: Signed, **policy: Any) -> Sites:
    other = AtlassianSite("other", "cloud", jira_url="https://other.example", confluence_url="https://other.example")
    known = {site.name: Access(site, OF_THE_SERVER, OF_THE_SERVER) for site in (EAST, other)}
    transports = dict.fromkeys(known, lambda: httpx2.ASGITransport(signed.sandbox))
    return Sites(known, transports, signed.store, CallerPolicy(**policy))


def context(user_id: str | None) -> ToolContext:
    return ToolContext("c", "t", "a", "1", "now", user_id=user_id)


async def name_of(served: Sites, user_id: str | None, site: str | None = None) -> str:
    """Who a call is made as."""
    return (await jira(served.connect(site, context(user_id))).myself())["displayName"]


@pytest.mark.requirement("ATL-12")
async def test_the_calls_of_a_caller_who_is_signed_in_are_their_own(signed):
    await signed.sign_in("anna.berg", caller="ann")
    await signed.sign_in("priya.nair", caller="pri")
    served = sites(signed)
    callers = ["ann", "pri", "ben", None] * 10
    names = await asyncio.gather(*(name_of(served, caller) for caller in callers))
    assert names == ["Anna Berg", "Priya Nair", "Mia Keller", "Mia Keller"] * 10
    assert await name_of(served, "ann", "other") == "Mia Keller"  # a sign-in is for one site
    assert signed.renewals == 2
    await served.close()


@pytest.mark.requirement("ATL-12")
async def test_a_caller_who_must_bring_credentials_learns_how(signed):
    await signed.sign_in(caller="ann")
    served = sites(signed, credentials_required=True)
    assert await name_of(served, "ann") == "Anna Berg"
    with pytest.raises(AuthError, match=r", or ask who runs this server .* `mcp-atl login --caller 'b n'`\.$"):
        served.connect(None, context("b n"))
    with pytest.raises(AuthError, match=r"in the header X-Atlassian-Authorization \(Basic or Bearer\)\.$"):
        served.connect(None, context(None))
    await served.close()


@pytest.mark.requirement("ATL-12")
async def test_the_limits_of_a_site_hold_for_those_who_are_signed_in(signed):
    await signed.sign_in(caller="ann")
    served = sites(signed)
    for _ in range(2):  # also after a renewal, which reads the sign-in again
        connection = served.connect(None, context("ann"))
        assert (connection.site.name, connection.site.projects) == ("east", frozenset({"APP"}))
        with pytest.raises(PermissionDenied):
            await jira(connection).issue("FERRY-1", fields=["summary"])
        await name_of(served, "ann")
    await served.close()


@pytest.mark.requirement("ATL-12")
async def test_a_running_server_notices_who_signs_in_and_out(signed):
    served = sites(signed, credentials_required=True)
    with pytest.raises(AuthError):
        await name_of(served, "ann")
    await signed.sign_in("anna.berg", caller="ann")
    assert await name_of(served, "ann") == "Anna Berg"
    await signed.sign_in("priya.nair", caller="ann")
    assert await name_of(served, "ann") == "Priya Nair"
    signed.store.of_caller("ann").remove("harbourline.example")
    with pytest.raises(AuthError, match="needs your own credentials"):
        await name_of(served, "ann")
    await served.close()


async def test_two_servers_that_share_a_sign_in_do_not_renew_in_turn(signed):
    await signed.sign_in(caller="ann")
    first, second = sites(signed), sites(signed)
    for _ in range(5):
        assert await name_of(first, "ann") == await name_of(second, "ann") == "Anna Berg"
    assert signed.renewals == 2
    await first.close()
    await second.close()


async def test_a_revoked_sign_in_names_the_command_for_this_caller(signed):
    await signed.sign_in(caller="ann")
    signed.sandbox.issuer.refresh.clear()
    served = sites(signed)
    with pytest.raises(AuthError, match=r"expired or was revoked .* Sign in again with `mcp-atl login --caller ann`"):
        await name_of(served, "ann")
    await served.close()


def test_each_caller_has_a_file_of_their_own_that_no_name_leaves(signed):
    stores = {name: signed.store.of_caller(name) for name in ("ann", "Ann", "../ann", "a/b", "é" * 300)}
    for store in stores.values():
        store.save(Access(EAST, OF_THE_SERVER, OF_THE_SERVER))
    folder = signed.path / "atlassian-callers"
    assert len(list(folder.iterdir())) == len(stores)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
