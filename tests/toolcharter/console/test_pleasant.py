"""For everyone: by keyboard, with a screen reader, on a phone, in light and dark."""

import pytest

from tests.toolcharter.console.accessible import problems
from tests.toolcharter.console.test_sign_in import sign_in

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = (
    "/",
    "/console/servers/demo",
    "/console/tools",
    "/console/tools?q=no-such-tool",
    "/console/tools/probe/take_all",
    "/console/tools/probe/pick_pet",
    "/console/tools/demo/delete_note",
    "/console/prompts/demo/review_notes",
    "/console/resources/demo",
)


@pytest.mark.requirement("WEB-5")
async def test_no_rule_of_axe_finds_anything_in_any_page(page):
    found = []
    for path in PAGES:
        await page.goto(path)
        found += await problems(page)
    await page.emulate_media(color_scheme="dark")
    found += await problems(page)
    assert found == []


async def test_no_page_is_wider_than_the_window(page):
    wider = {}
    for path in PAGES:
        await page.goto(path)
        for width in (360, 900, 1600):
            await page.set_viewport_size({"width": width, "height": 800})
            more = await page.evaluate("document.body.scrollWidth - document.documentElement.clientWidth")
            wider[path, width] = more
    assert {place: more for place, more in wider.items() if more > 0} == {}


async def test_no_rule_of_axe_finds_anything_in_forms_questions_and_answers(page):
    await page.goto("/console/tools/probe/take_all")
    for button in await page.get_by_role("button", name="Add an item").all():
        await button.click()
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.get_by_text("text is required.").wait_for()
    found = await problems(page, "a form with a missing value")
    await page.get_by_role("button", name="Write JSON").click()
    await page.get_by_label("Arguments as JSON").fill("{")
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.get_by_text("The arguments are not valid JSON").wait_for()
    found += await problems(page, "arguments as JSON")
    await page.goto('/console/tools/probe/erase#arguments={"what":"x"}')
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.get_by_role("dialog").wait_for()
    found += await problems(page, "a question")
    await page.get_by_role("button", name="Yes, go ahead").click()
    await page.locator(".answer h3").wait_for()
    await page.get_by_text("The same call in a terminal").click()
    found += await problems(page, "an answer")
    await page.emulate_media(color_scheme="dark")
    await page.goto("/console/tools/probe/fail_on_purpose")
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.locator(".answer .tag", has_text="failed").wait_for()
    found += await problems(page, "an error")
    await page.goto('/console/tools/probe/count_slowly#arguments={"steps":1000}')
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.get_by_text("step 100").wait_for()
    found += await problems(page, "progress")
    await page.get_by_role("button", name="Cancel").click()
    await page.get_by_text("The call was cancelled.").wait_for()
    assert found == []


async def test_no_rule_of_axe_finds_anything_in_pages_that_refuse_something(page, context, guarded):
    context.expected += ["Failed to load resource: the server responded with a status of 40"]
    await page.goto("/console/no-such-page")
    found = await problems(page)
    await page.goto(f"{guarded}/")
    found += await problems(page, "the form to sign in")
    await sign_in(page, "wrong")
    await page.get_by_role("alert").wait_for()
    found += await problems(page, "a wrong token")
    await sign_in(page, "ana-token")
    await page.get_by_role("button", name="Sign out").wait_for()
    found += await problems(page, "a person who has signed in")
    await page.locator("[name=csrf]").evaluate("one => { one.value = 'old' }")
    await page.get_by_role("button", name="Sign out").click()
    await page.get_by_role("heading", name="Not done").wait_for()
    found += await problems(page, "a form that is out of date")
    assert found == []


@pytest.mark.requirement("WEB-5")
async def test_a_tool_is_found_and_called_by_keyboard_alone(page):
    await page.goto("/console/tools")
    await page.keyboard.press("/")
    await page.keyboard.type("add two whole")
    await page.wait_for_url("**?q=add+two+whole")
    for _ in range(3):
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="add").wait_for()
    await page.get_by_label("a", exact=True).focus()
    await page.keyboard.type("20")
    await page.keyboard.press("Tab")
    await page.keyboard.type("22")
    await page.keyboard.press("Enter")
    await page.locator(".answer h3").wait_for()
    await page.get_by_role("tab", name="Value").focus()
    assert await page.locator("[role=tabpanel]:visible code").inner_text() == "42"
    await page.keyboard.press("ArrowRight")
    assert await page.evaluate("document.activeElement.textContent") == "As the agent reads it"
    assert '"data":42' in await page.locator("[role=tabpanel]:visible code").inner_text()


async def test_a_question_is_answered_by_keyboard_and_the_focus_returns(page):
    focused = "document.activeElement.textContent"
    await page.goto('/console/tools/probe/erase#arguments={"what":"x"}')
    call = page.get_by_role("button", name="Call", exact=True)
    await call.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("dialog").wait_for()
    assert await page.evaluate(focused) == "No, do not"  # a key that is still held down agrees to nothing
    await page.keyboard.press("Escape")
    await page.get_by_text("did not agree").first.wait_for()
    assert await page.evaluate(focused) == "Call"
    await page.keyboard.press("Enter")
    await page.get_by_role("dialog").wait_for()
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await page.locator(".answer .tag", has_text="ok").wait_for()
    assert await page.evaluate(focused) == "Call"


async def test_the_first_key_leads_past_the_navigation(page):
    await page.goto("/console/tools")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "Skip to the content"
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "content"


@pytest.mark.requirement("WEB-5")
async def test_a_tool_is_called_on_a_phone(page):
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto("/console/tools")
    await page.get_by_role("link", name="list_notes").click()
    await page.get_by_role("link", name="Try it").click()
    assert await page.locator("#try").evaluate("one => one.getBoundingClientRect().top") < 400
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.locator(".answer .tag", has_text="ok").wait_for()
    buttons = await page.locator("#try button.small:visible").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert min(buttons) >= 24  # WCAG 2.2, target size


async def test_light_and_dark_follow_the_reader(page):
    colours = []
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        await page.goto("/")
        colours.append(await page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(247, 248, 250)", "rgb(16, 20, 24)"]


SHIFTS = """new Promise((done) => {
  let sum = 0;
  const add = (list) => list.getEntries().forEach((one) => { sum += one.value; });
  new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(sum))));
})"""


async def test_nothing_moves_while_a_page_loads(page):
    shifts = {}
    for path in ("/console/tools", "/console/tools/probe/take_all"):
        await page.goto(path)
        shifts[path] = await page.evaluate(SHIFTS)
    assert {path: shift for path, shift in shifts.items() if shift > 0.05} == {}
