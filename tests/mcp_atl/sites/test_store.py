"""Credentials that are kept: in a keyring, or in a file that only its owner reads."""

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from keyring.errors import KeyringLocked

from mcp_atl.site import Access, AtlassianSite, Credentials, Secret
from mcp_atl.sites.store import CredentialStore
from toolcharter import NotFound, Unavailable
from toolcharter.keyring import no_keyring

SITE = AtlassianSite(
    "acme", "cloud", jira_url="https://acme.atlassian.net", confluence_url="https://acme.atlassian.net"
)
CREDENTIALS = Credentials("basic", "ann@example.com", Secret("hunter2"))
ACCESS = Access(SITE, CREDENTIALS, CREDENTIALS)


class FakeKeyring:
    """A keyring in memory: the real one asks the person."""

    def __init__(self) -> None:
        self.passwords: dict[tuple[str, str], str] = {}

    def get_password(self, service_name: str, username: str) -> str | None:
        return self.passwords.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self.passwords[service_name, username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        del self.passwords[service_name, username]


@pytest.mark.requirement("ATL-3")
def test_without_a_keyring_the_file_is_readable_by_its_owner_only(tmp_path: Path):
    path = tmp_path / "config" / "sites.json"
    CredentialStore(path, no_keyring).save(ACCESS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["sites.json"]
    assert CredentialStore(path, no_keyring).load() == {"acme": ACCESS}


@pytest.mark.requirement("ATL-3")
def test_with_a_keyring_the_file_has_no_secret(tmp_path: Path):
    keyring, path = FakeKeyring(), tmp_path / "sites.json"
    CredentialStore(path, lambda: keyring).save(ACCESS)
    assert "hunter2" not in path.read_text()
    assert CredentialStore(path, lambda: keyring).load() == {"acme": ACCESS}


def test_a_site_of_the_same_name_is_replaced_and_others_stay(tmp_path: Path):
    store = CredentialStore(tmp_path / "sites.json", no_keyring)
    other = Access(
        AtlassianSite("other", "datacenter", jira_url="https://jira.example"), Credentials("bearer", "", Secret("t"))
    )
    changed = Access(SITE, Credentials("basic", "ben@example.com", Secret("s")))
    for access in (ACCESS, other, changed):
        store.save(access)
    known = store.load()
    assert list(known) == ["acme", "other"]
    assert known["acme"].jira.user == "ben@example.com"


def test_a_file_that_cannot_be_read_is_an_error_and_is_not_overwritten(tmp_path: Path):
    path = tmp_path / "sites.json"
    path.write_text("{")
    with pytest.raises(Unavailable, match="cannot be read"):
        CredentialStore(path, no_keyring).save(ACCESS)
    assert path.read_text() == "{"


def test_removed_credentials_are_neither_in_the_keyring_nor_in_the_file(tmp_path: Path):
    keyring, path = FakeKeyring(), tmp_path / "sites.json"
    CredentialStore(path, no_keyring).save(ACCESS)  # before there was a keyring
    store = CredentialStore(path, lambda: keyring)
    store.save(Access(AtlassianSite("other", "cloud"), CREDENTIALS, CREDENTIALS))
    assert store.schemes() == {"acme": "basic", "other": "basic"}
    assert store.remove("other") == "the system keyring"
    assert keyring.passwords == {}
    assert store.remove("acme") == f"{path}, which only its owner can read"
    assert path.read_text() == "{}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(NotFound, match=r"No credentials are stored for 'acme'\. No site is stored\."):
        store.remove("acme")


def test_a_secret_in_a_keyring_that_is_not_there_now_is_not_forgotten(tmp_path: Path):
    keyring, path = FakeKeyring(), tmp_path / "sites.json"
    CredentialStore(path, lambda: keyring).save(ACCESS)
    with pytest.raises(Unavailable, match=r"in a system keyring that cannot be opened now. Nothing was removed"):
        CredentialStore(path, no_keyring).remove("acme")
    assert CredentialStore(path, lambda: keyring).load() == {"acme": ACCESS}


def test_a_locked_keyring_is_an_error_that_says_what_to_do(tmp_path: Path):
    class Locked(FakeKeyring):
        def set_password(self, service_name: str, username: str, password: str) -> None:
            raise KeyringLocked(f"{password} for {username}")

    store = CredentialStore(tmp_path / "sites.json", Locked)
    with pytest.raises(Unavailable, match=r"refused \(KeyringLocked\)\. Nothing was changed\. Unlock it, or set"):
        store.save(ACCESS)
    assert store.load() == {}


def test_sites_that_are_saved_at_the_same_time_are_all_kept(tmp_path: Path):
    names = {f"site-{number}" for number in range(16)}
    stores = ThreadPoolExecutor(8)
    for saved in [
        stores.submit(
            CredentialStore(tmp_path / "sites.json", no_keyring).save, replace(ACCESS, site=replace(SITE, name=name))
        )
        for name in names
    ]:
        saved.result()
    assert CredentialStore(tmp_path / "sites.json", no_keyring).load().keys() == names
