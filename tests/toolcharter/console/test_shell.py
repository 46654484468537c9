"""The frame of all pages in a real browser."""

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_first_page_shows_what_is_served_and_the_navigation(page):
    await page.goto("/")
    assert await page.title() == "Servers · toolcharter"
    assert (await page.locator("header nav a").all_inner_texts())[:2] == ["Servers", "Tools"]
    assert await page.locator("nav a[aria-current=page]").inner_text() == "Servers"
    await page.get_by_role("link", name="Notebook").click()
    assert await page.title() == "Notebook · toolcharter"


async def test_text_to_copy_has_a_button(page, context, console):
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto("/console/servers/demo")
    await page.locator(".copy").first.get_by_role("button").click()
    await page.get_by_role("button", name="Copied").wait_for()
    assert await page.evaluate("navigator.clipboard.readText()") == f"{console}/demo/mcp"
