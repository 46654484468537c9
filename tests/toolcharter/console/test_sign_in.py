"""Signing in, in a real browser."""

import json

import pytest

from mcp_core import Settings
from tests.conftest import free_port
from tests.mcp_core.auth.issuer import Issuer, serving
from tests.toolcharter.console.accessible import problems
from tests.toolcharter.console.served import served
from toolcharter.local import targets

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def sign_in(page, token: str) -> None:
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Sign in").click()


async def test_a_person_signs_in_is_refused_calls_with_their_rights_and_signs_out(page, context, guarded):
    context.expected.append("Failed to load resource: the server responded with a status of 401")
    await page.goto(f"{guarded}/console/tools/demo/list_notes")
    await sign_in(page, "wrong")
    assert "This token is not valid here." in await page.get_by_role("alert").inner_text()
    await sign_in(page, "ben-token")
    await page.wait_for_url(f"{guarded}/console/tools/demo/list_notes")
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.locator(".answer .tag", has_text="ok").wait_for()
    assert "--token YOUR_TOKEN" in await page.locator("noscript").inner_text()
    await page.goto(f"{guarded}/console/tools")
    assert "add" not in await page.locator("#entries code").all_inner_texts()
    assert await page.evaluate("document.cookie") == ""
    await page.get_by_role("button", name="Sign out").click()
    await page.get_by_label("Token").wait_for()
    await page.goto(f"{guarded}/console/tools/demo/list_notes")
    assert "/console/sign-in" in page.url


async def test_a_page_whose_session_has_ended_leads_to_the_form_and_back(page, context, guarded):
    context.expected.append("Failed to load resource: the server responded with a status of 401")
    await page.goto(f"{guarded}/console/tools/demo/digest_notes")
    await sign_in(page, "ana-token")
    await page.get_by_role("heading", name="digest_notes").wait_for()
    await context.clear_cookies()
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.get_by_label("Token").wait_for()
    await sign_in(page, "ana-token")
    await page.get_by_role("heading", name="digest_notes").wait_for()


async def test_what_was_typed_is_there_again_for_the_same_person_after_they_signed_in_but_no_secret(
    page, context, guarded
):
    context.expected.append("Failed to load resource: the server responded with a status of 401")
    given = {"name": "ana", "key": "k-secret", "password": "p-secret", "more": {"size": 3, "api_key": "a-secret"}}
    address = f"{guarded}/console/tools/probe/log_in"
    await page.goto(f"{address}#arguments={json.dumps(given)}")
    await sign_in(page, "ana-token")
    for person, typed in (("ana", ["ana", "", "", '{\n  "size": 3\n}']), ("ben", [""] * 4)):
        await page.get_by_role("heading", name="log_in").wait_for()
        await page.goto("about:blank")
        await page.goto(f"{address}#arguments={json.dumps(given)}")
        await context.clear_cookies()
        await page.get_by_role("button", name="Call", exact=True).click()
        await page.get_by_label("Token").wait_for()
        assert "secret" not in await page.evaluate("JSON.stringify(sessionStorage)")
        await sign_in(page, f"{person}-token")
        await page.get_by_role("button", name="Sign out").wait_for()
        await page.get_by_role("button", name="Call", exact=True).wait_for()
        fields = await page.get_by_role("textbox").evaluate_all("all => all.map((one) => one.value)")
        assert (person, fields) == (person, typed)
        assert await page.evaluate("sessionStorage.length") == 0


async def test_a_person_signs_in_at_the_identity_provider_on_another_site_and_goes_on(page, context):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with serving(Issuer()) as issuer:
        issuer.url = issuer.url.replace("127.0.0.1", "localhost")
        context.expected.append(f"asked {issuer.url}/authorize")
        settings = Settings(port=port, oidc=issuer.url, audience=(url,), oidc_client="console", scopes=("notes:read",))
        with served([targets.load("demo", settings)]):
            await page.goto(f"{url}/console/tools/demo/list_notes?from=here")
            await page.get_by_text("Use a token instead").click()
            assert await problems(page) == []
            await page.get_by_role("link", name="Sign in with localhost").click()
            await page.wait_for_url(f"{url}/console/tools/demo/list_notes?from=here")
            await page.get_by_role("button", name="Sign out").wait_for()
            await page.get_by_role("button", name="Call", exact=True).click()
            await page.locator(".answer .tag", has_text="ok").wait_for()
