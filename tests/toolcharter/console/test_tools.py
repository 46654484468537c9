"""Tools in a real browser: found, read about, and called from a form made from the schema."""

import asyncio
import json
import shlex
from importlib.metadata import version

import pytest

from tests.forkserver.commands import command_path
from tests.toolcharter.console.accessible import problems

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def answer(page, tab: str = "Value"):
    await page.locator(".answer").get_by_role("tab", name=tab).click()
    return await page.locator(".answer [role=tabpanel]:visible code").inner_text()


async def call(page, name: str = "Call"):
    await page.get_by_role("button", name=name, exact=True).click()
    await page.locator(".answer h3").wait_for()


@pytest.mark.requirement("WEB-1")
async def test_a_tool_is_found_by_a_word_read_about_and_called_from_its_form(page):
    await page.goto("/console/tools")
    await page.get_by_role("searchbox", name="Search").press_sequentially("exact sum")
    await page.wait_for_url("**/console/tools?q=exact+sum")
    assert await page.locator("#entries code").all_inner_texts() == ["add"]
    await page.get_by_role("link", name="add").click()
    await page.get_by_role("heading", name="add").wait_for()
    while await page.get_by_role("link", name="Load the page again").count():  # the checks run in a thread
        await page.get_by_role("link", name="Load the page again").click()
    documentation = await page.locator(".documentation").inner_text()
    for text in ("Add two whole numbers.", "integer, required", "The first number.", "math:use", "score 100", "tokens"):
        assert text in documentation
    await page.get_by_role("button", name="Two and three make five").click()
    await page.get_by_label("b", exact=True).fill("40")
    await call(page)
    assert await answer(page) == "42"
    assert json.loads(await answer(page, "As the agent reads it"))["data"] == 42
    assert json.loads(await answer(page, "Arguments")) == {"a": 2, "b": 40}
    assert json.loads(await answer(page, "JSON"))["isError"] is False


async def test_a_text_that_is_too_long_is_refused_and_not_cut(page):
    await page.goto("/console/tools/probe/take_all")
    text = page.locator("#try form").get_by_label("text", exact=True)
    await text.fill("")
    await text.press_sequentially("x" * 31)
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.get_by_text("text has 31 characters; at most 30 are allowed.").wait_for()
    assert await text.input_value() == "x" * 31


async def test_arguments_of_every_kind_arrive_as_they_were_written(page):
    await page.goto("/console/tools/probe/take_all")
    form = page.locator("#try form")
    await form.get_by_label("text", exact=True).fill("hello")
    await form.get_by_label("size").select_option("large")
    orders = form.locator("fieldset", has_text="orders").first
    await orders.get_by_role("button", name="Add an item").click()
    await orders.get_by_label("item", exact=True).fill("pen")
    await orders.get_by_role("button", name="Add an item").click()
    await orders.get_by_label("item", exact=True).nth(1).fill("ink")
    await orders.get_by_label("count optional").nth(1).fill("3")
    await form.get_by_label("share optional").fill("0.25")
    tags = form.locator("fieldset", has=page.locator("legend", has_text="tags"))
    for word in ("one", "two", "three"):
        await tags.get_by_role("button", name="Add an item").click()
        await tags.get_by_role("textbox").last.fill(word)
    await tags.get_by_role("button", name="Remove item 1 of tags").click()
    await form.get_by_label("city").fill("Zürich")
    await form.get_by_label("careful optional").select_option("true")
    await form.get_by_label("other optional").fill('{"deep": [1, null]}')
    await call(page)
    assert json.loads(await answer(page, "Arguments")) == {
        "text": "hello",
        "size": "large",
        "orders": [{"item": "pen"}, {"item": "ink", "count": 3}],
        "share": 0.25,
        "tags": ["one", "three"],
        "place": {"city": "Zürich"},
        "careful": True,
        "other": {"deep": [1, None]},
    }
    assert json.loads(await answer(page)) == {
        "text": "hello",
        "size": "large",
        "orders": [{"item": "pen", "count": 1}, {"item": "ink", "count": 3}],
        "share": 0.25,
        "tags": ["one", "three"],
        "place": {"city": "Zürich", "number": None},
        "careful": True,
        "other": {"deep": [1, None]},
    }


async def test_one_of_several_forms_is_chosen_by_what_tells_them_apart(page):
    await page.goto("/console/tools/probe/pick_pet")
    forms = page.get_by_role("combobox", name="Form of pet")
    assert await forms.locator("option").all_inner_texts() == ['kind: "cat"', 'kind: "dog"']
    await forms.select_option('kind: "dog"')
    await page.get_by_role("button", name="Add an item").click()
    await page.get_by_label("friends[0]", exact=True).fill('{"kind": "dog"}')
    await page.get_by_role("combobox", name="Form of day").select_option("string")
    await page.get_by_label("day optional").fill("Monday")
    await call(page)
    dog = {"kind": "dog", "friends": [{"kind": "dog", "friends": []}]}
    assert json.loads(await answer(page)) == {"pet": dog, "other": None, "day": "Monday"}
    await page.goto('/console/tools/probe/pick_pet#arguments={"pet":{"kind":"dog"}}')
    assert await page.get_by_role("combobox", name="Form of pet").input_value() == "1"


async def test_of_a_long_answer_the_beginning_is_shown_until_the_reader_wants_all(page):
    await page.goto("/console/tools/probe/answer_much")
    await call(page)
    shown = page.locator(".answer [role=tabpanel]:visible code")
    assert len(await shown.text_content()) == 100_000
    await page.get_by_role("button", name="Show all").click()
    assert len(json.loads(await shown.text_content())) == 10_000


async def test_what_is_missing_or_not_valid_is_said_before_the_call_and_has_the_focus(page):
    await page.goto("/console/tools/probe/take_all")
    await page.get_by_role("button", name="Call", exact=True).click()
    assert await page.locator("#try .problem").inner_text() == "text is required."
    assert await page.evaluate("document.activeElement.labels[0].textContent") == "text"
    await page.get_by_label("text", exact=True).fill("x")
    await page.get_by_label("size").select_option("small")
    await page.get_by_label("share optional").fill("7")
    await page.get_by_role("button", name="Call", exact=True).click()
    assert (await page.locator("#try .problem").inner_text()).startswith("share: ")
    assert await page.get_by_label("share optional").get_attribute("aria-invalid") == "true"
    assert await page.locator(".answer h3").count() == 0


async def test_arguments_can_be_written_as_json_and_the_server_says_what_is_wrong_with_them(page):
    await page.goto("/console/tools/demo/add")
    await page.get_by_label("a", exact=True).fill("1")
    await page.get_by_label("b", exact=True).fill("2")
    await page.get_by_role("button", name="Write JSON").click()
    raw = page.get_by_label("Arguments as JSON")
    assert json.loads(await raw.input_value()) == {"a": 1, "b": 2}
    await raw.fill('{"a": "x", "c": 1}')
    await call(page)
    assert "failed" in await page.locator(".answer").inner_text()
    assert "a: input should be a valid integer" in await page.locator(".answer .problem").inner_text()
    assert "For the agent: Correct the arguments" in await page.locator(".answer").inner_text()
    await raw.fill("{")
    await page.get_by_role("button", name="Use the form").click()
    assert "not valid JSON" in await page.locator("#try .problem").first.inner_text()


async def test_a_hint_fills_in_the_next_call(page):
    await page.goto("/console/tools/demo/list_notes")
    await call(page)
    await page.locator(".hints").get_by_role("button", name="get_note").click()
    await page.get_by_role("heading", name="get_note").wait_for()
    assert await page.get_by_label("note_id").input_value() == "note_1"
    await call(page)
    assert json.loads(await answer(page))["id"] == "note_1"


async def test_a_question_is_asked_in_the_page_and_the_answer_is_sent(page):
    await page.goto("/console/tools/probe/erase")
    await page.get_by_label("what").fill("the list")
    await page.get_by_role("button", name="Call", exact=True).click()
    dialog = page.get_by_role("dialog", name="The tool asks")
    assert "Erase the list for good?" in await dialog.inner_text()
    await dialog.get_by_role("button", name="No, do not").click()
    await page.locator(".answer h3").wait_for()
    assert "failed" in await page.locator(".answer").inner_text()
    await page.get_by_role("button", name="Call", exact=True).click()
    await dialog.get_by_role("button", name="Yes, go ahead").click()
    await page.locator(".answer .tag", has_text="ok").wait_for()
    assert await answer(page) == '"erased the list"'


async def test_a_tool_asks_for_values_and_gets_them(page):
    await page.goto("/console/tools/probe/bake_cake")
    await page.get_by_role("button", name="Call", exact=True).click()
    dialog = page.get_by_role("dialog", name="The tool asks")
    await dialog.get_by_role("button", name="Send").click()
    await dialog.get_by_text("size is required.").wait_for()
    assert await problems(page) == []
    await dialog.get_by_label("size").select_option("large")
    await dialog.get_by_label("number").fill("2")
    await page.keyboard.press("Enter")
    assert json.loads(await answer(page)) == {"size": "large", "number": 2}


async def test_progress_is_shown_and_a_call_that_is_cancelled_ends_in_the_server_too(page):
    await page.goto("/console/tools/probe/count_slowly")
    await call(page)
    assert await answer(page) == "3"
    await page.get_by_label("steps optional").fill("1000")
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.locator("[role=status]", has_text="step 100").wait_for()
    assert await page.locator("progress").get_attribute("max") == "1000"
    await page.get_by_role("button", name="Cancel").click()
    await page.locator(".answer", has_text="The call was cancelled.").wait_for()
    await page.goto("/console/live?q=count_slowly&outcome=cancelled")
    await page.locator("#calls tr .outcome", has_text="cancelled").first.wait_for()
    assert await page.locator("#calls tr .agent").first.inner_text() == f"toolcharter console {version('toolcharter')}"


async def test_the_same_call_in_a_terminal_gives_the_same_answer(page):
    await page.goto('/console/tools/demo/list_notes#arguments={"words":"it\'s"}')
    await page.get_by_text("The same call in a terminal").click()
    command, curl = await page.locator("details pre code").filter(has_text="/demo/mcp").all_inner_texts()
    words = shlex.split(command)
    done = await asyncio.create_subprocess_exec(command_path(words[0]), *words[1:], stdout=asyncio.subprocess.PIPE)
    output, _ = await asyncio.wait_for(done.communicate(), 60)
    assert json.loads(output)["data"] == []
    assert json.loads(shlex.split(curl)[-1])["params"]["arguments"] == {"words": "it's"}


async def test_an_argument_that_belongs_in_a_header_is_sent_there_too(page):
    for region in ("eu-west", "Zürich"):
        await page.goto(f'/console/tools/probe/ask_region#arguments={{"region":"{region}"}}')
        await page.get_by_role("button", name="Call", exact=True).click()
        await page.locator(".answer [role=tabpanel]:visible", has_text=f'"{region}"').wait_for()


async def test_prompts_and_resources_are_read_in_the_page(page, context):
    context.expected.append("Failed to load resource: the server responded with a status of 400")
    await page.goto("/console/tools?kind=prompt&server=demo")
    await page.get_by_role("link", name="review_notes").click()
    await page.get_by_label("tone optional").fill("cheerful")
    await call(page, "Get")
    assert "Review these notes in a cheerful tone:" in await answer(page, "As the agent reads it")
    await page.goto("/console/resources/demo")
    await page.get_by_label("uri").fill("note://note_1")
    await call(page, "Read")
    assert "# Welcome" in await answer(page, "As the agent reads it")
    await page.get_by_label("uri").fill("note://nothing")
    await page.get_by_role("button", name="Read", exact=True).click()
    await page.locator(".answer .problem").wait_for()
    assert "note://nothing" in await page.locator(".answer").inner_text()


async def test_documentation_is_read_without_javascript(browser, console):
    context = await browser.new_context(base_url=console, java_script_enabled=False)
    page = await context.new_page()
    await page.goto("/console/tools")
    await page.get_by_label("Search").fill("whole numbers")
    await page.get_by_role("button", name="Search").click()
    assert await page.locator("#entries code").all_inner_texts() == ["add"]
    await page.get_by_role("link", name="add").click()
    text = await page.locator("main").inner_text()
    await context.close()
    for words in ("Add two whole numbers.", "The first number.", "The form needs JavaScript.", "toolcharter call"):
        assert words in text
