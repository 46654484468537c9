"""Signing in, in a real browser."""

import pytest

from mcp_core import Settings
from tests.conftest import free_port
from tests.mcp_core.auth.issuer import Issuer, serving
from tests.toolcharter.console.served import served
from toolcharter import targets

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


async def test_a_person_signs_in_at_the_identity_provider_on_another_site_and_goes_on(page, context):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with serving(Issuer()) as issuer:
        issuer.url = issuer.url.replace("127.0.0.1", "localhost")
        context.expected.append(f"asked {issuer.url}/authorize")
        settings = Settings(port=port, oidc=issuer.url, audience=(url,), oidc_client="console", scopes=("notes:read",))
        with served([targets.load("demo", settings)]):
            await page.goto(f"{url}/console/tools/demo/list_notes?from=here")
            await page.get_by_role("link", name="Sign in with localhost").click()
            await page.wait_for_url(f"{url}/console/tools/demo/list_notes?from=here")
            await page.get_by_role("button", name="Sign out").wait_for()
            await page.get_by_role("button", name="Call", exact=True).click()
            await page.locator(".answer .tag", has_text="ok").wait_for()
