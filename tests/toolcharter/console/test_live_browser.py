"""Live calls and approvals in a real browser."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.mcp_core.audited import audited
from tests.toolcharter.console.accessible import problems
from tests.toolcharter.console.live_app import call, live_app
from tests.toolcharter.console.served import served
from toolcharter.call_log.feed import CallFeed

pytestmark = pytest.mark.asyncio(loop_scope="session")

expect.set_options(timeout=60_000)

RIGHT_ENDS = "cells => cells.map((one) => one.getBoundingClientRect().right)"
HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e\x1b[31m[a](javascript:alert(3))'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    app = live_app(folder, port=0, confirm_in_console="5m", audit=str(folder / "audit.jsonl"), user="ana")
    with served([app]) as address:
        yield address


@pytest.mark.requirement("WEB-2")
async def test_a_call_is_seen_as_it_happens_filtered_opened_and_tried_again(page: Page, url: str):
    await page.goto(f"{url}/console/live")
    await expect(page.locator("#state")).to_have_text("No calls yet. New calls appear here.")
    await expect(page.locator(".plot")).to_have_count(5)
    assert await problems(page) == []
    async with httpx2.AsyncClient(base_url=url) as http:
        await call(http, "double", {"number": 21}, agent="claude")
        row = page.locator("#calls tr")
        await expect(row).to_have_count(1)
        await expect(row.locator(".outcome")).to_have_text("ok")
        await expect(row.locator(".agent")).to_have_text("claude 4")
        await page.get_by_role("combobox", name="Outcome").select_option("failed")
        await expect(row).to_have_count(0)
        await call(http, "double", {"number": 22}, agent="claude")
        await call(http, "double", {"number": -1}, agent="cursor")
        await expect(row.locator(".outcome")).to_have_text("failed")  # only what is filtered for arrives
        await page.get_by_role("combobox", name="Outcome").select_option("")
        await page.get_by_role("heading", level=1).click()
        await page.keyboard.press("/")
        await page.keyboard.type("cursor")
        await expect(row).to_have_count(1)
        await expect(page.locator(".plot svg[role=img]")).to_have_count(4)
        await page.get_by_text("The same as a table").click()
        await expect(page.locator("#figures tbody tr").first).to_be_visible()
        assert await problems(page) == []
        await row.get_by_role("link", name="double").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("double failed")
    await expect(page.get_by_text("ValueError: /srv/secret/path is broken by -1")).to_be_visible()
    assert await problems(page) == []
    await page.get_by_role("link", name="Try it again").click()
    await expect(page.get_by_label("number")).to_have_value("-1")


@pytest.mark.requirement("WEB-3")
async def test_a_confirmation_is_answered_once_and_the_audit_says_by_whom(page: Page, url: str, folder: Path):
    await page.goto(f"{url}/console/approvals")
    await expect(page.locator("#state")).to_have_text("Nothing waits for you.")
    async with httpx2.AsyncClient(base_url=url) as http:
        arguments = {"note": HOSTILE, "password": "hunter2hunter2"}
        sent = asyncio.ensure_future(call(http, "send_note", arguments, agent="codex"))
        card = page.locator(".approval")
        # It is shown at once, not with the next sign of life, which comes after 15 seconds.
        await expect(card.get_by_role("heading", level=2)).to_have_text("send_note")
        await expect(card.locator("pre")).to_contain_text('"password": "[redacted]"')
        assert await page.title() == "(1) Approvals · toolcharter"
        badge = page.get_by_role("link", name="Approvals 1 waiting")
        await expect(badge).to_be_visible()
        other = await page.context.new_page()
        await other.goto(f"{url}/console/tools")
        await expect(other.get_by_role("link", name="Approvals 1 waiting")).to_be_visible()
        assert await problems(other) == []
        assert await problems(page) == []
        await card.get_by_role("button", name="Confirm").click()
        await expect(card).to_contain_text("You have confirmed this call.")
        await expect(card.get_by_role("button", name="Decline")).to_be_disabled()
        await expect(badge).to_have_count(0)
        assert "sent " in (await sent)["result"]["content"][0]["text"]
    await expect(page.locator("#state")).to_have_text("Nothing waits for you.")
    await card.get_by_role("link", name="See the call").click()
    await expect(page.locator("#calls tr .tool")).to_contain_text("send_note")
    records = audited(folder / "audit.jsonl")
    assert [record["caller"] for record in records if record["method"] == "console/confirm"] == ["user:ana"]
    assert [record["answeredBy"] for record in records if "answeredBy" in record] == ["user:ana"]


async def test_a_card_that_waits_again_after_its_process_was_silent_can_be_answered(page: Page, url: str):
    await page.goto(f"{url}/console/approvals")
    await expect(page.locator("#state")).to_have_text("Nothing waits for you.")
    cards = page.locator(".approval")
    async with httpx2.AsyncClient(base_url=url) as http:
        sent = [asyncio.ensure_future(call(http, "send_note", {"note": "first"}))]
        await expect(cards).to_have_count(1)
        await page.route("**/console/approvals/list", lambda route: route.fulfill(json={"waiting": []}))
        sent.append(asyncio.ensure_future(call(http, "send_note", {"note": "second"})))
        await expect(cards).to_contain_text("This call does not wait any more.")
        await page.unroute("**/console/approvals/list")
        sent.append(asyncio.ensure_future(call(http, "send_note", {"note": "third"})))
        await expect(cards).to_have_count(3)
        await page.get_by_role("button", name="Decline").last.click()
        await expect(cards.last).to_contain_text("You have declined this call.")
        assert await problems(page) == []
        for number in range(2):
            await cards.nth(number).get_by_role("button", name="Decline").click()
        assert [one["result"]["isError"] for one in await asyncio.gather(*sent)] == [True] * 3


@pytest.mark.requirement("WEB-4")
async def test_what_callers_and_agents_say_is_text_on_every_page(page: Page, url: str):
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    async with httpx2.AsyncClient(base_url=url) as http:
        await call(http, "<b>unknown</b>", {}, agent=HOSTILE)
        sent = asyncio.ensure_future(call(http, "send_note", {"note": HOSTILE}, agent=HOSTILE))
        await page.goto(f"{url}/console/approvals")
        await expect(page.locator(".approval")).to_contain_text("<script>alert(2)</script>\\u202e")
        await page.get_by_role("button", name="Decline").click()
        await sent
        await page.goto(f"{url}/console/live?q=unknown")
        await expect(page.locator("#calls .tool").first).to_contain_text("<b>unknown</b>")
        await page.goto(f"{url}/console/live?q=alert(2)")
        await expect(page.locator("#calls tr").first).to_contain_text("<img src=x")
        await page.locator("#calls a").first.click()
        await expect(page.locator("main pre").first).to_contain_text("<script>alert(2)</script>")
    assert await page.locator("main img, main script").count() == 0
    assert dialogs == []


@pytest.mark.requirement("WEB-5")
async def test_the_pages_fit_and_can_be_read(page: Page, url: str):
    async with httpx2.AsyncClient(base_url=url) as http:
        await call(http, "a_very_long_name_of_a_tool_" * 7, {}, agent="a-very-long-name-of-an-agent-" * 4)
    await page.emulate_media(color_scheme="dark")
    for path in ("/console/live", "/console/live/1", "/console/approvals"):
        await page.goto(url + path)
        if path == "/console/live":
            await expect(page.locator("#calls tr").first).to_be_visible()
        for width in (1400, 360):
            await page.set_viewport_size({"width": width, "height": 800})
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
            cells = page.locator("#calls tr:first-child td")
            assert [one for one in await cells.evaluate_all(RIGHT_ENDS) if one > width] == []
        assert await problems(page) == []  # in the dark, on a phone; the other tests look at the rest


async def test_a_paused_list_stands_still_and_goes_on(page: Page, url: str):
    await page.goto(f"{url}/console/live?q=agent-to-wait-for")
    await expect(page.locator("#state")).to_have_text("No call matches. New calls that match appear here.")
    await page.get_by_role("button", name="Pause").click()
    async with httpx2.AsyncClient(base_url=url) as http:
        await call(http, "double", {"number": 7}, agent="agent-to-wait-for")
    await expect(page.locator("#state")).to_have_text("Paused. 1 new call.")
    assert await problems(page) == []
    assert await page.locator("#calls tr").count() == 0
    await page.get_by_role("button", name="Go on").click()
    await expect(page.locator("#calls tr")).to_have_count(1)
    await expect(page.locator("#state")).to_have_text("New calls appear at the top.")


async def test_a_tab_that_nobody_sees_keeps_no_connection_and_catches_up_when_it_is_seen(page: Page, url: str):
    hide = "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); }"
    tell = "document.dispatchEvent(new Event('visibilitychange'))"
    async with page.expect_response("**/console/live/events*"):
        await page.goto(f"{url}/console/live?q=agent-of-the-tab")
    await page.evaluate(hide, True)
    async with page.expect_event("requestfailed", lambda ended: "/console/live/events" in ended.url):
        await page.evaluate(tell)
    async with httpx2.AsyncClient(base_url=url) as http:
        await call(http, "double", {"number": 7}, agent="agent-of-the-tab")
    await page.evaluate(hide, False)
    await page.evaluate(tell)
    await expect(page.locator("#calls tr")).to_have_count(1)


async def test_pages_that_are_open_while_the_server_restarts_say_so_and_go_on(context: BrowserContext, tmp_path: Path):
    context.expected += ["Failed to load resource: net::ERR_", "Failed to load resource: the server responded with"]
    live, approvals, tool = [await context.new_page() for _ in range(3)]
    with served([live_app(tmp_path, port=0)]) as url:
        await tool.goto(f'{url}/console/tools/notes/double#arguments={{"number":4}}')
        await approvals.goto(f"{url}/console/approvals")
        await expect(approvals.locator("#state")).to_have_text("Nothing waits for you.")
        await live.goto(f"{url}/console/live")
        await expect(live.locator("#state")).to_have_text("No calls yet. New calls appear here.")
        await expect(live.locator(".plot")).to_have_count(5)
    for page in (live, approvals):
        await expect(page.locator("#state")).to_contain_text("Trying again.")
    assert await live.locator(".plot").count() == 5
    await tool.get_by_role("button", name="Call", exact=True).click()
    await expect(tool.locator(".answer .problem")).to_have_text("The server does not answer. Is it running?")
    with served([live_app(tmp_path, port=urlsplit(url).port)]):
        async with httpx2.AsyncClient(base_url=url) as http:
            await call(http, "double", {"number": 21})
        await expect(live.locator("#calls tr")).to_have_count(1)
        await expect(live.locator("#state")).to_have_text("New calls appear at the top.")
        await expect(approvals.locator("#state")).to_have_text("Nothing waits for you.")
        await tool.get_by_role("button", name="Call", exact=True).click()
        await expect(tool.locator(".answer [role=tabpanel]:visible code")).to_have_text("8")
        for page in (live, approvals, tool):
            await page.goto("about:blank")


async def test_a_page_that_the_server_refuses_to_keep_open_says_why_and_goes_on_later(
    page: Page, context: BrowserContext, url: str, monkeypatch: pytest.MonkeyPatch
):
    context.expected.append("Failed to load resource: the server responded with a status of 503")
    await page.clock.install()
    with monkeypatch.context() as patch:
        patch.setattr(CallFeed, "is_full", True)
        async with page.expect_response("**/console/live/events*"):
            await page.goto(f"{url}/console/live?q=no-such-call")
        await page.clock.run_for(2500)
        words = "Too many pages with live calls or approvals are open. Close some. Trying again."
        await expect(page.locator("#state")).to_have_text(words)
    await page.clock.run_for(2500)
    await expect(page.locator("#state")).to_have_text("No call matches. New calls that match appear here.")
