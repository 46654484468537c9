"""Sign-ins over HTTP: the pages of the governor, bound to the caller who began."""

import asyncio
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from mcp_core.auth.oauth.challenge import Challenge
from tests.behaviour.combinations import HttpServer
from tests.forkserver.commands import command_path
from tests.mcp_core.auth.issuer import Issuer
from tests.toolcharter.govern.oauth.signing_in import approve, sign_in_without_browser, sign_ins_of, write_charter
from tests.toolcharter.serving.test_server import CALL, CALL_HEADERS
from toolcharter import App
from toolcharter.govern.oauth.pages import SignInPages
from toolcharter.govern.oauth.store import SignInStore

TOKENS = {f"token-of-{name}": {"user": name, "grants": ["*"]} for name in ("ann", "bob")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("governor")


@contextmanager
def governing(charter: Path, *, tokens: bool = True) -> Iterator[str]:
    """A governor over HTTP, whose callers have tokens. Who runs it has signed in and approved the tools."""
    log = charter.with_name("log")
    asyncio.run(sign_in_without_browser(charter))
    asyncio.run(approve(charter))
    options = ["http", "--port", "0", "--charter", str(charter), "--log-level", "DEBUG"]
    options += ["--audit", str(charter.with_name("audit"))]
    if tokens:
        charter.with_name("tokens.json").write_text(json.dumps(TOKENS), encoding="utf-8")
        options += ["--tokens", str(charter.with_name("tokens.json"))]
    with log.open("wb") as out:
        process = subprocess.Popen([command_path("toolcharter"), "govern", *options], stdout=out, stderr=out)
    try:
        while (printed := re.search(r"Health: (http://\S+)/health", log.read_text())) is None:
            assert process.poll() is None, log.read_text()
            time.sleep(0.02)
        yield printed[1]
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module")
def running_site(running_issuer: Issuer, server: HttpServer, folder: Path) -> Iterator[str]:
    with governing(write_charter(folder, server.url, "oauth = {}")) as site:
        yield site


@pytest.fixture
def site(running_site: str, folder: Path, issuer: Issuer) -> str:
    """The governor. No caller is signed in."""
    for file in (folder / "charter-sign-ins").rglob("*.json"):
        file.unlink()
    return running_site


def call_who(site: str, name: str | None) -> dict[str, Any]:
    body = {**CALL, "params": {**CALL["params"], "name": "docs_who", "arguments": {}}}
    headers = CALL_HEADERS | {"Mcp-Name": "docs_who"} | ({"Authorization": f"Bearer token-of-{name}"} if name else {})
    answer = httpx2.post(f"{site}/mcp", json=body, headers=headers, timeout=60)
    return json.loads(answer.json()["result"]["content"][0]["text"])


def address_for(site: str, name: str | None) -> str:
    answer = call_who(site, name)
    assert answer["error_type"] == "SignInError"
    found = re.fullmatch(
        r"Sign in to 'docs' first: open (\S+) in a browser\. Then call the tool again\.", answer["error"]
    )
    assert found is not None
    return found[1]


def go_on(browser: httpx2.Client, address: str, name: str | None, origin: str | None = None) -> httpx2.Response:
    """The person gives their token for the governor."""
    origin = origin or "{0.scheme}://{0.netloc}".format(urlsplit(address))
    return browser.post(address, data={"token": f"token-of-{name}"} if name else {}, headers={"Origin": origin})


def at_issuer(browser: httpx2.Client, redirect: httpx2.Response) -> str:
    """The address of ours that the issuer sends the browser to."""
    assert redirect.status_code == 303
    return browser.get(redirect.headers["location"]).headers["location"]


@pytest.mark.requirement("GOV-6")
def test_a_caller_signs_in_with_the_page_of_the_governor(site: str, folder: Path, issuer: Issuer):
    address = address_for(site, "ann")
    assert address.startswith(f"{site}/govern/sign-in/")
    assert address_for(site, "ann") == address
    with httpx2.Client() as browser:
        page = browser.get(address)
        assert page.status_code == 200
        assert "<strong>ann</strong>" in page.text
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        back = at_issuer(browser, go_on(browser, address, "ann"))
        assert back.startswith(f"{site}/govern/callback?")
        done = browser.get(back)
    assert (done.status_code, "You are signed in to &#x27;docs&#x27;" in done.text) == (200, True)
    assert call_who(site, "ann")["data"]["userId"] == "ann"
    # Nobody else is signed in by that.
    assert "Sign in to 'docs' first" in call_who(site, "bob")["error"]
    secrets = [*issuer.given, *TOKENS, *(form["code_verifier"] for form in issuer.forms if "code" in form)]
    shown = (folder / "log").read_text() + (folder / "audit").read_text() + done.text + page.text
    assert "docs_who" in shown
    assert not any(secret in shown for secret in secrets)
    with httpx2.Client() as browser:
        assert browser.get(back).status_code == 404


def sign_in_to_console(browser: httpx2.Client, site: str, name: str, after: str) -> httpx2.Response:
    csrf = re.search(r'name="csrf" value="(\w+)"', browser.get(f"{site}/console/sign-in").text)[1]
    form = {"csrf": csrf, "token": f"token-of-{name}", "next": after}
    return browser.post(f"{site}/console/sign-in", data=form, headers={"Origin": site})


def test_a_caller_who_is_signed_in_to_the_console_gives_no_token(site: str, issuer: Issuer):
    address = address_for(site, "ann")
    path = address.removeprefix(site)
    with httpx2.Client() as browser:
        page = browser.get(address)
        first = go_on(browser, address, None)
        signed_in = sign_in_to_console(browser, site, "ann", path)
        back = at_issuer(browser, go_on(browser, address, None))
        done = browser.get(back)
    assert 'name="token"' not in page.text
    assert (first.status_code, first.headers["location"]) == (303, f"{site}/console/sign-in?next={path}")
    assert signed_in.headers["location"] == path
    assert done.status_code == 200
    assert call_who(site, "ann")["data"]["userId"] == "ann"


@pytest.mark.requirement("GOV-6")
def test_a_browser_that_is_signed_in_to_the_console_cannot_sign_in_for_another(site: str, issuer: Issuer):
    address = address_for(site, "ann")
    with httpx2.Client() as browser:
        sign_in_to_console(browser, site, "bob", "/")
        refused = go_on(browser, address, None)
        forged = go_on(browser, address_for(site, "bob"), None, origin="https://evil.example")
    assert (refused.status_code, forged.status_code) == (403, 403)
    assert "was begun by ann, and you are bob" in refused.text
    assert not issuer.codes


@pytest.mark.requirement("GOV-6")
def test_whoever_is_sent_the_address_of_another_cannot_sign_in_for_them(site: str, issuer: Issuer):
    issuer.user = "bob"
    address = address_for(site, "ann")
    with httpx2.Client() as browser:
        for name, problem in (("bob", "was begun by ann, and you are bob"), ("nobody", "This token is not valid here")):
            refused = go_on(browser, address, name)
            assert refused.status_code == 403
            assert problem in refused.text
        # A page of ann's makes the browser of bob send her own token.
        forged = go_on(browser, address, "ann", origin="https://evil.example")
        assert (forged.status_code, "came from another site" in forged.text) == (403, True)
        assert httpx2.post(address, data={"token": "token-of-ann"}).status_code == 403
    assert not issuer.codes


@pytest.mark.requirement("GOV-6")
def test_an_answer_counts_only_in_the_browser_that_asked(site: str, issuer: Issuer):
    with httpx2.Client() as ann, httpx2.Client() as bob:
        address = address_for(site, "ann")
        back = at_issuer(ann, go_on(ann, address, "ann"))
        stolen = bob.get(back)
        assert (stolen.status_code, "begun in another browser" in stolen.text) == (403, True)
        # Nor with the cookie of an attempt of bob's own.
        go_on(bob, address_for(site, "bob"), "bob")
        assert bob.get(back).status_code == 403
        assert ann.get(back).status_code == 200


@pytest.mark.requirement("GOV-6")
def test_a_code_of_somebody_else_is_worth_nothing(site: str, issuer: Issuer):
    with httpx2.Client() as ann, httpx2.Client() as bob:
        issuer.user = "bob"
        foreign = parse_qs(urlsplit(at_issuer(bob, go_on(bob, address_for(site, "bob"), "bob"))).query)["code"][0]
        issuer.user = "ann"
        back = at_issuer(ann, go_on(ann, address_for(site, "ann"), "ann"))
        own = parse_qs(urlsplit(back).query)["code"][0]
        injected = ann.get(back.replace(own, foreign))
    assert (injected.status_code, "does not accept the grant" in injected.text) == (400, True)
    assert "Sign in to 'docs' first" in call_who(site, "ann")["error"]


def test_an_answer_of_another_issuer_or_with_a_changed_state_is_refused(site: str, issuer: Issuer):
    with httpx2.Client() as ann:
        back = at_issuer(ann, go_on(ann, address_for(site, "ann"), "ann"))
        state = parse_qs(urlsplit(back).query)["state"][0]
        for changed in (state[:-1], f"{state}x", state.partition(".")[0], "", f"../{state}"):
            assert ann.get(back.replace(state, changed)).status_code == 404
        assert ann.get(f"{back}&state={state}").status_code == 404
        other = ann.get(back.replace(httpx2.QueryParams({"iss": issuer.url}).__str__(), "iss=https://evil.example"))
        assert (other.status_code, "came from another authorization server" in other.text) == (400, True)
        # The attempt is used up.
        assert ann.get(back).status_code == 404
    assert [form for form in issuer.forms if form["grant_type"] == "authorization_code"] == []


def test_the_error_of_an_issuer_is_shown_by_its_code_only(site: str):
    with httpx2.Client() as ann:
        back = at_issuer(ann, go_on(ann, address_for(site, "ann"), "ann"))
        query = parse_qs(urlsplit(back).query)
        answer = {"state": query["state"][0], "iss": query["iss"][0], "error": "access_denied"}
        refused = ann.get(f"{site}/govern/callback", params=answer | {"error_description": "<b>call 555</b>"})
    assert (refused.status_code, "access was not granted (access_denied)" in refused.text) == (400, True)
    assert "555" not in refused.text


def test_the_pages_lead_to_no_other_place(site: str):
    for path in (
        "/govern/sign-in/nothing",
        "/govern/sign-in/..%2f..%2fetc",
        "/govern/callback",
        "/govern/callback?state=x",
    ):
        answer = httpx2.get(f"{site}{path}&redirect=https://evil.example" if "?" in path else f"{site}{path}")
        assert (answer.status_code, "location" in answer.headers) == (404, False)


async def test_no_address_is_offered_where_the_browser_could_not_come_back_safely(folder: Path, server: HttpServer):
    sign_ins = sign_ins_of(write_charter(folder, server.url, "oauth = {}"))
    app = App("all", version="1", format="result")
    for public_url, owner in (("http://tools.example", "user:ann"), ("https://tools.example", "shared")):
        pages = SignInPages(app, {"docs": sign_ins}, public_url)
        assert await pages.invite(sign_ins, owner, Challenge()) is None


@pytest.mark.requirement("GOV-6")
def test_without_tokens_the_person_at_this_machine_only_confirms(
    tmp_path: Path, server: HttpServer, issuer: Issuer, running_site: str
):
    with governing(write_charter(tmp_path, server.url, "oauth = {}"), tokens=False) as site:
        for file in (tmp_path / "charter-sign-ins").glob("docs.*.json"):
            file.unlink()
        address = address_for(site, None)
        with httpx2.Client() as browser:
            assert "token" not in browser.get(address).text
            back = at_issuer(browser, go_on(browser, address, None))
            assert browser.get(back).status_code == 200
        assert call_who(site, None)["data"]["userId"] == "ann"
        # What the command of this machine shows is the same sign-in.
        assert SignInStore(tmp_path / "charter.toml").load("docs", "local") is not None
