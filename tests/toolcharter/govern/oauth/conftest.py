"""One issuer and one server that takes its tokens, for all tests here."""

import webbrowser
from collections.abc import Iterator

import pytest

from tests.behaviour.combinations import HttpServer
from tests.mcp_core.auth.issuer import Issuer, serving
from tests.mcp_core.hosts.test_sign_in import identifying
from tests.toolcharter.govern.oauth.signing_in import Browser


@pytest.fixture(scope="package", autouse=True)
def _no_keyring() -> Iterator[None]:
    """The keyring of the developer is none of the tests'."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        yield


@pytest.fixture(scope="package")
def running_issuer() -> Iterator[Issuer]:
    with serving(Issuer()) as made:
        yield made


@pytest.fixture(scope="package")
def server(running_issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with identifying(running_issuer, tmp_path_factory.mktemp("docs")) as made:
        yield made


@pytest.fixture
def issuer(running_issuer: Issuer) -> Issuer:
    made = running_issuer
    made.user, made.scopes_allowed, made.metadata_fields, made.lifetime, made.status = "ann", None, {}, 300, 200
    made.gives_refresh_tokens, made.forgets_clients = True, False
    for kept in (made.clients, made.codes, made.refresh_tokens, made.used, made.given, made.forms, made.requests):
        kept.clear()
    return made


@pytest.fixture
def browser(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    made = Browser()
    monkeypatch.setattr(webbrowser, "open", made.open)
    yield made
    for thread in made.threads:
        thread.join()
