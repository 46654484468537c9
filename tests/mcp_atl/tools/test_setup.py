"""setup_atlassian_credentials: checked against the site, then kept."""

from pathlib import Path

import pytest

from mcp_atl.command import CommandEnvironment
from mcp_atl.sites.store import CredentialStore
from tests.mcp_atl.server import Server
from toolcharter.keyring import no_keyring

SITE = "https://sandbox.atlassian.net"
TOKEN = "sandbox-token-anna.berg"


@pytest.fixture
def kept(cloud: Server, tmp_path: Path) -> CredentialStore:
    store = CredentialStore(tmp_path / "sites.json", no_keyring)
    cloud.app.provided(CommandEnvironment).sites.keep_in(store)
    return store


@pytest.mark.requirement("ATL-3")
async def test_good_credentials_are_kept_and_used(cloud: Server, kept: CredentialStore):
    options = {"name": "sandbox", "email": "anna.berg@harbourline.example", "token": TOKEN}
    value = await cloud.ok("setup_atlassian_credentials", SITE, **options)
    assert value["jira"]["name"] == "Anna Berg"
    assert "only its owner can read" in value["kept_in"]
    assert TOKEN not in str(value)
    assert (await cloud.ok("user_info"))["name"] == "Anna Berg"
    assert kept.load()["sandbox"].jira.user == "anna.berg@harbourline.example"


@pytest.mark.requirement("ATL-3")
async def test_credentials_that_the_site_refuses_are_not_kept(cloud: Server, kept: CredentialStore):
    options = {"name": "sandbox", "email": "anna.berg@harbourline.example", "token": "wrong-token-1234"}
    error = await cloud.refused("PermissionError", "setup_atlassian_credentials", SITE, **options)
    assert "The credentials were not kept: neither product accepted them" in error
    assert "wrong-token-1234" not in error
    assert kept.load() == {}
    assert (await cloud.ok("user_info"))["name"] == "Mia Keller"


@pytest.mark.parametrize("address", ["acme", "http://acme.atlassian.net", "https://u:p@acme.atlassian.net"])
async def test_an_address_that_would_not_be_safe_is_refused(cloud: Server, kept: CredentialStore, address: str):
    error = await cloud.refused(
        "ValidationError", "setup_atlassian_credentials", address, token="secret-1234", email="a@b.c"
    )
    assert "is not the address of a site" in error


async def test_cloud_needs_the_address_that_a_token_belongs_to(cloud: Server, kept: CredentialStore):
    error = await cloud.refused("ValidationError", "setup_atlassian_credentials", SITE, token="secret-1234")
    assert "parameters.email: is required on Cloud" in error
