"""`mcp-atl logout`: what it removes, and what it says."""

from pathlib import Path

import pytest

from mcp_atl import logout_command
from mcp_atl.site import Access, AtlassianSite, Credentials, Secret
from mcp_atl.sites.store import CredentialStore, default_store_path
from toolcharter.keyring import no_keyring


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CredentialStore:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    made = CredentialStore(default_store_path(), no_keyring)
    for name, scheme in (("east.example", "oauth"), ("west.example", "bearer")):
        credentials = Credentials(scheme, secret=Secret("hunter2"))
        made.save(Access(AtlassianSite(name, "cloud"), credentials, credentials))
    return made


def test_one_site_is_removed_and_the_others_stay(store: CredentialStore, capsys: pytest.CaptureFixture[str]):
    assert logout_command.command(["east.example"]) == 0
    output = capsys.readouterr()
    assert output.out == (
        f"Removed the credentials of east.example from {default_store_path()}, which only its owner can read.\n"
        "Atlassian still lists the OAuth app; to revoke its access, remove it at "
        "https://id.atlassian.com/manage-profile/apps.\n"
    )
    assert list(store.load()) == ["west.example"]


def test_all_sites_are_removed_only_if_asked(store: CredentialStore, capsys: pytest.CaptureFixture[str]):
    assert logout_command.command([]) == 2
    assert "of several sites are stored: east.example, west.example. Name one, or use --all." in capsys.readouterr().err
    assert len(store.load()) == 2
    assert logout_command.command(["--all"]) == 0
    output = capsys.readouterr().out
    assert "east.example from" in output
    assert "west.example from" in output
    assert "hunter2" not in output
    assert store.load() == {}
    assert logout_command.command([]) == 0
    assert capsys.readouterr().out == "No credentials are stored.\n"


def test_an_unknown_site_is_an_error_with_those_that_are_stored(
    store: CredentialStore, capsys: pytest.CaptureFixture[str]
):
    assert logout_command.command(["north.example"]) == 1
    problem = "No credentials are stored for 'north.example'. Stored sites: east.example, west.example."
    assert capsys.readouterr().err == f"mcp-atl logout: {problem}\n"
    assert len(store.load()) == 2
