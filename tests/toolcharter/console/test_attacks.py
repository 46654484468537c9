"""What tools, prompts, resources and servers say is text, whatever they say."""

import pytest

from tests.toolcharter.console.probe import ATTACK

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = (
    *("/", "/console/servers/probe", "/console/tools?server=probe", "/console/tools/probe/attack"),
    *("/console/prompts/probe/say", "/console/resources/probe"),
    *(f"/console/tools?q={ATTACK}", f"/console/tools?server={ATTACK}", f"/console/tools/probe/{ATTACK}"),
    *(f"/console/servers/{ATTACK}", f"/console/tools/demo/add#arguments={ATTACK}"),
)
SAFE = ("http://127.0.0.1", "https://", "vscode:mcp/install?", "cursor://anysphere.cursor-deeplink/mcp/install?")


async def assert_harmless(page):
    """Nothing ran, and nothing of the attack became an element."""
    assert await page.evaluate("window.hit") is None
    found = "img:not([src^='data:image/']), svg, iframe, object, script:not([src]), b b, [onerror], [onload]"
    assert await page.locator(f"main :is({found})").count() == 0
    links = await page.locator("a").evaluate_all("all => all.map(one => one.href)")
    assert [link for link in links if not link.startswith(SAFE)] == []


async def assert_visible(part):
    """Control characters are written out, and none of them is there as itself."""
    text = await part.inner_text()
    assert "\\u001b[31mred" in text
    assert "\\u202eevil" in text
    assert not {"\x1b", "\u202e"} & set(text)


@pytest.mark.requirement("WEB-4")
async def test_nothing_in_a_page_or_an_address_becomes_markup(page, context):
    context.expected.append("Failed to load resource: the server responded with a status of 404")
    for path in PAGES:
        await page.goto(path)
        await assert_harmless(page)


@pytest.mark.requirement("WEB-4")
async def test_nothing_in_an_answer_becomes_markup_and_control_characters_are_seen(page):
    await page.goto("/console/tools/probe/attack")
    await assert_visible(page.locator(".prose"))
    await assert_visible(page.locator(".arguments"))
    await assert_visible(page.locator("#try .help").first)
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.locator(".answer h3").wait_for()
    await assert_harmless(page)
    assert ATTACK in await page.locator(".answer").inner_text()
    await assert_visible(page.locator(".answer .said").first)
    for tab in ("As the agent reads it", "JSON"):
        await page.get_by_role("tab", name=tab).click()
        await assert_harmless(page)
    await page.locator(".hints button").first.click()
    assert await page.get_by_label("text", exact=False).first.input_value() == ATTACK
    await assert_harmless(page)


async def test_a_link_in_a_description_goes_only_to_the_web_and_a_picture_is_not_loaded(page):
    await page.goto("/console/tools/probe/attack")
    links = page.locator(".prose a")
    assert await links.evaluate_all("all => all.map(one => [one.href, one.rel])") == [
        ["https://evil.example/p.png", "noreferrer noopener nofollow"],
        ["https://ok.example/", "noreferrer noopener nofollow"],
    ]
    assert "[click](javascript:window.hit=4)" in await page.locator(".prose").inner_text()


async def test_the_browser_itself_refuses_scripts_and_markup_that_a_page_would_add(page, context):
    context.expected += ["Refused", "This document requires", "Executing inline", "Applying inline"]
    await page.goto("/console/tools")
    refused = await page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.append("window.hit = 7");
          try { document.body.append(script); } catch { /* refused at once */ }
          try { document.body.innerHTML = "<img src=x onerror=window.hit=8>"; return false; } catch { return true; }
        }"""
    )
    assert refused
    assert await page.evaluate("window.hit") is None
