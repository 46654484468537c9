"""What is kept of sign-ins, where, and for whom."""

import time
from pathlib import Path

import pytest

from mcp_core.auth.oauth.clients import OAuthClient
from mcp_core.errors import PermissionDenied
from toolcharter.govern.oauth.owners import login_command, owner_of
from toolcharter.govern.oauth.records import Attempt, SignIn
from toolcharter.govern.oauth.store import SERVICE, SignInStore

CLIENT = OAuthClient(client_id="c", issuer="https://login.example", redirect_uri="http://127.0.0.1:4/callback")


class FakeKeyring:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.secrets: dict[tuple[str, str], str] = {}

    def get_password(self, service_name: str, username: str) -> str | None:
        return self.secrets.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self.secrets[service_name, username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        del self.secrets[service_name, username]


def sign_in(owner: str = "local", server: str = "docs") -> SignIn:
    return SignIn(
        server=server,
        owner=owner,
        address="https://docs.example/mcp",
        resource="https://docs.example/mcp",
        token_endpoint="https://login.example/token",
        client=CLIENT,
        access_token=f"access of {owner}",
        refresh_token=f"refresh of {owner}",
        scopes=("read",),
    )


def attempt(number: str, expires: float) -> Attempt:
    return Attempt(
        id=number,
        state=f"{number}.secret",
        verifier="v",
        server="docs",
        owner="local",
        address="https://docs.example/mcp",
        resource="https://docs.example/mcp",
        token_endpoint="https://login.example/token",
        names_issuer=True,
        client=CLIENT,
        redirect_uri="http://127.0.0.1:4/callback",
        scopes=(),
        authorization="https://login.example/authorize",
        expires=expires,
    )


def texts_in(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


def test_own_tokens_are_in_the_keyring_and_those_of_callers_in_files(tmp_path: Path):
    keyring = FakeKeyring()
    store = SignInStore(tmp_path / "charter.toml", lambda: keyring)
    for owner in ("local", "user:ann"):
        store.save(sign_in(owner))
        assert store.load("docs", owner) == sign_in(owner)
    assert [service for service, _ in keyring.secrets] == [SERVICE]
    assert "access of local" not in texts_in(tmp_path)
    assert "refresh of local" not in texts_in(tmp_path)
    assert "access of user:ann" in texts_in(tmp_path)
    assert {one.owner for one in store.owners("docs")} == {"local", "user:ann"}
    assert (store.place("local"), "only its owner can read" in store.place("user:ann")) == ("the system keyring", True)
    assert store.remove("docs", "local")
    assert not keyring.secrets
    assert store.load("docs", "local") is None
    assert not store.remove("docs", "local")


@pytest.mark.requirement("GOV-6")
def test_a_file_under_the_name_of_another_owner_is_not_theirs(tmp_path: Path):
    store = SignInStore(tmp_path / "charter.toml", lambda: None)
    store.save(sign_in("user:ann"))
    store._file("docs", "user:ann").rename(store._file("docs", "user:bob"))
    assert store.load("docs", "user:bob") is None


def test_a_file_that_is_not_complete_counts_as_no_sign_in(tmp_path: Path):
    store = SignInStore(tmp_path / "charter.toml", lambda: None)
    store.save(sign_in())
    store._file("docs", "local").write_text('{"server": "docs"')
    assert store.load("docs", "local") is None
    assert store.owners("docs") == []


def test_an_attempt_is_claimed_once_with_its_whole_state_and_in_time(tmp_path: Path):
    store = SignInStore(tmp_path / "charter.toml", lambda: None)
    store.save_attempt(attempt("one", time.time() + 60))
    store.save_attempt(attempt("late", time.time() - 1))
    for state in ("one", "one.", "one.secret2", "late.secret", "", "\ud800", "../one.secret"):
        assert store.claim_attempt(state) is None
    assert store.claim_attempt("one.secret") is not None
    assert store.claim_attempt("one.secret") is None


def test_registrations_are_kept_for_each_server_and_issuer(tmp_path: Path):
    store = SignInStore(tmp_path / "charter.toml", lambda: None)
    store.save_client("docs", CLIENT)
    store.save_client("wiki", CLIENT)
    assert store.client("docs", CLIENT.issuer, "http://127.0.0.1:4/callback") == CLIENT
    assert store.client("docs", "https://evil.example", "http://127.0.0.1:4/callback") is None
    store.forget("docs")
    assert (store.clients("docs"), store.clients("wiki")) == ([], [CLIENT])


@pytest.mark.requirement("GOV-6")
def test_a_caller_who_could_be_anybody_uses_the_sign_in_of_nobody():
    assert [owner_of(caller, "docs") for caller in ("local", "user:ann", "user:local", "anonymous:127.0.0.1")] == [
        "local",
        "user:ann",
        "user:local",
        "local",
    ]
    for caller in ("anonymous:10.0.0.5", "anonymous:?", "shared", "", "robot"):
        with pytest.raises(PermissionDenied, match="--tokens or --oidc"):
            owner_of(caller, "docs")
    assert login_command("docs", "user:a; rm -rf") == "toolcharter govern login docs --caller 'a; rm -rf'"
