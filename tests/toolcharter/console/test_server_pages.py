"""The pages that our servers bring along, in a real browser."""

import json
from pathlib import Path
from urllib.parse import urljoin

import pytest
import pytest_asyncio
from mcp import Client

from mcp_core import Settings
from mcp_core.auth import Caller
from mcp_core.settings.model import settings_type
from tests.toolcharter.console.accessible import problems
from tests.toolcharter.console.served import served
from toolcharter import App, Example, tool
from toolcharter.console import ToolFailed
from toolcharter.console.calls import call_tool
from toolcharter.local import targets

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"


LINKS = f"""# Links

[the same](#more-words) [another](./python.md#python) [out](../../etc/passwd) [root](/etc) [code](javascript:alert(1))

## More words!

```python
print("{"x" * 300}")
```

| a | b |
|---|---|
| 1 | {"w" * 300} |

## More words!
"""


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """The address of the three servers, each with a database of its own; ana is the only user."""
    folder: Path = tmp_path_factory.mktemp("servers")
    documents = folder / "documents" / "lang"
    documents.mkdir(parents=True)
    (documents / "python.md").write_text("# Python\n\nRun the type checker.\n\n- one\n- two\n")
    (documents / "links.md").write_text(LINKS)
    (documents / "odd.md").write_text(f"# Odd\n\n{SCRIPT}\n\n[link](javascript:alert(1)) [good](https://example.com)\n")
    todo = targets.load("todo", Settings(port=0, user="ana", db=f"sqlite:///{folder / 'todo.db'}"))
    noema = targets.load("noema", Settings(port=0, user="ana", db=f"sqlite:///{folder / 'noema.db'}", deadline=60))
    guide_settings = settings_type(targets.find("guide"))
    guide = targets.load("guide", guide_settings(port=0, docs_root=folder / "documents", user="ana"))
    with served([todo, guide, noema]) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def tab(context, servers):
    """A tab of the browser at these servers."""
    opened = await context.new_page()
    opened.address = servers
    return opened


async def create_deck(client, name):
    answer = await client.call_tool("create-deck", {"name": name})
    return json.loads(answer.content[0].text)["data"]["deckId"]


async def go(tab, path):
    await tab.goto(urljoin(tab.address, path))


async def test_tasks_are_added_completed_edited_and_deleted(tab):
    await go(tab, "/console/todo")
    await tab.get_by_label("New task").fill("Buy milk")
    await tab.get_by_role("button", name="Add").click()
    await tab.get_by_text("1 task", exact=True).wait_for()
    await tab.get_by_label("Edit: Buy milk").click()
    await tab.get_by_label("Title").fill("Buy oat milk")
    await tab.get_by_role("button", name="Save").click()
    await tab.get_by_role("button", name="Done: Buy oat milk").click()
    await tab.get_by_text("Nothing is left to do.").wait_for()
    await tab.get_by_role("navigation", name="Which tasks").get_by_role("link", name="Done").click()
    await tab.get_by_label("Edit: Buy oat milk").click()
    await tab.get_by_role("button", name="Delete for good").click()
    await tab.get_by_text("Nothing is done yet.").wait_for()


async def test_tasks_are_added_and_edited_by_keyboard_and_a_change_is_undone(tab):
    await go(tab, "/console/todo")
    await tab.keyboard.press("n")
    for number, title in enumerate(("Buy bread", "Buy salt"), 1):
        await tab.keyboard.type(title)
        await tab.keyboard.press("Enter")
        await tab.locator(".tasks > li").nth(number - 1).wait_for()
        await tab.locator("#title:focus").wait_for()  # for the next task
    edit = tab.get_by_label("Edit: Buy bread")
    await edit.focus()
    await tab.keyboard.press("Enter")
    await tab.locator("[open] [name=title]:focus").wait_for()
    assert await problems(tab) == []
    await tab.keyboard.press("Escape")
    await tab.locator("summary:focus").wait_for()
    assert await tab.locator("details[open]").count() == 0
    await edit.click()
    await tab.get_by_role("button", name="Delete for good").click()
    await tab.get_by_text("“Buy bread” was deleted.").wait_for()
    assert await problems(tab) == []
    await tab.get_by_role("button", name="Add it again").click()
    await tab.get_by_text("2 tasks", exact=True).wait_for()
    await tab.get_by_role("button", name="Done: Buy salt").click()
    await tab.get_by_text("1 task", exact=True).wait_for()
    await tab.get_by_role("button", name="Undo").click()
    await tab.get_by_text("2 tasks", exact=True).wait_for()
    for title in ("Buy bread", "Buy salt"):
        await tab.get_by_label(f"Edit: {title}").click()
        await tab.get_by_role("button", name="Delete for good").click()
        await tab.get_by_text(f"“{title}” was deleted.").wait_for()


async def test_a_change_without_the_csrf_token_is_refused(tab):
    await go(tab, "/console/todo")
    origin = {"Origin": urljoin(tab.url, "/").rstrip("/")}
    answer = await tab.request.post(tab.url, form={"change": "add", "title": "Forged"}, headers=origin)
    assert answer.status == 403
    await tab.reload()
    assert await tab.get_by_text("Forged").count() == 0


async def test_what_a_tool_refuses_is_shown_on_the_page(tab):
    await go(tab, "/console/todo")
    await tab.get_by_label("New task").evaluate("field => { field.removeAttribute('required'); field.value = '  ' }")
    tab.context.expected.append("Failed to load resource: the server responded with a status of 400")
    await tab.get_by_role("button", name="Add").click()
    assert await tab.get_by_role("alert").inner_text() == "Task title cannot be empty"


@pytest.mark.requirement("WEB-4")
async def test_markup_in_tasks_and_documents_stays_text(tab):
    await go(tab, "/console/todo")
    await tab.get_by_label("New task").fill(SCRIPT)
    await tab.get_by_role("button", name="Add").click()
    assert await tab.locator(".tasks strong").inner_text() == SCRIPT
    await tab.get_by_label("Edit: ").click()
    await tab.get_by_role("button", name="Delete for good").click()
    await go(tab, "/console/guide/read?expression=lang/odd")
    assert await tab.title() == "lang/odd.md · toolcharter"
    assert await tab.locator("article script, article img").count() == 0
    assert await tab.locator("article p a").evaluate_all("links => links.map((one) => one.href)") == [
        "https://example.com/"
    ]


async def test_a_document_is_found_by_its_words_and_read(tab):
    await go(tab, "/console/guide")
    await tab.get_by_label("Search the text").fill("type checker")
    await tab.get_by_role("button", name="Search").click()
    await tab.get_by_role("link", name="Python").click()
    assert await tab.locator("article h1").inner_text() == "Python"
    assert await tab.locator("article li").all_inner_texts() == ["one", "two"]
    assert (
        "about 12 tokens.\n\nFor the person: 1 document."
        in await tab.get_by_label("What an agent is told").inner_text()
    )


async def test_a_document_has_links_addresses_of_its_sections_and_code_to_copy(tab):
    await tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await go(tab, "/console/guide/read?expression=lang/links")
    headings = tab.locator("article :is(h1, h2)")
    assert await headings.evaluate_all("all => all.map((one) => one.id)") == ["links", "more-words", "more-words-1"]
    links = await tab.locator("article p a").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert links == ["#more-words", "/console/guide/read?expression=lang%2Fpython.md#python", None]
    await tab.get_by_role("link", name="Link to: More words!").first.click()
    assert tab.url.endswith("#more-words")
    await tab.locator("article .copy").get_by_role("button").click()
    await tab.get_by_role("button", name="Copied").wait_for()
    assert await tab.evaluate("navigator.clipboard.readText()") == f'print("{"x" * 300}")'
    await tab.get_by_role("link", name="another").click()
    await tab.get_by_role("heading", name="Python").wait_for()


async def test_the_page_shows_what_an_expression_selects_and_costs(tab):
    await go(tab, "/console/guide?expression=lang/py*")
    assert await tab.get_by_role("heading", level=2).inner_text() == "1 document, about 12 tokens"
    await go(tab, "/console/guide?expression=nothing/here")
    assert "nothing" in await tab.get_by_role("alert").inner_text()


@pytest.mark.requirement("WEB-5")
async def test_five_cards_are_reviewed_by_keyboard_and_one_answer_is_taken_back(tab, servers):
    notes = [{"front": f"question {number}", "back": f"answer {number}"} for number in range(1, 6)]
    await go(tab, "/console/learn")
    await tab.get_by_text("The collection has no cards yet.").wait_for()
    async with Client(f"{servers}/noema/mcp") as client:
        await client.call_tool("create-notes", {"deckId": await create_deck(client, "Numbers"), "notes": notes})
    await tab.reload()
    for number in range(1, 6):
        await tab.get_by_text(f"question {number}", exact=True).wait_for()
        assert await tab.get_by_text(f"answer {number}", exact=True).count() == 0
        await tab.keyboard.press("Space")
        await tab.get_by_text(f"answer {number}", exact=True).wait_for()
        if number == 2:
            assert await problems(tab) == []
            await tab.keyboard.press("1")
            await tab.get_by_text("question 3", exact=True).wait_for()
            await tab.keyboard.press("u")
            await tab.get_by_text("answer 2", exact=True).wait_for()
        await tab.keyboard.press("4")
    await tab.get_by_text("Nothing").wait_for()
    await tab.get_by_role("link", name="Statistics").click()
    assert "5 reviews" in await tab.locator("dl.facts").inner_text()
    assert await tab.locator(".bars text:first-of-type").all_text_contents() == ["5 cards", "100%"]  # of the scales
    tab.context.expected.append("Failed to load resource: the server responded with a status of 400")
    await go(tab, "/console/learn/statistics?deck=deck_99")
    assert "deck_99 was not found" in await tab.get_by_role("alert").inner_text()
    assert await problems(tab) == []
    await tab.get_by_role("link", name="All decks").click()


async def test_a_card_is_edited_looked_at_and_put_aside_with_the_keys_of_anki(tab, servers):
    async with Client(f"{servers}/noema/mcp") as client:
        deck = await create_deck(client, "Keys")
        notes = [{"front": f"front {number}", "back": f"back {number}"} for number in (1, 2)]
        await client.call_tool("create-notes", {"deckId": deck, "notes": notes})
    await go(tab, f"/console/learn?deck={deck}")
    first, second = (tab.get_by_text(f"front {number}", exact=True) for number in (1, 2))
    await first.wait_for()
    await tab.keyboard.press("i")
    await tab.get_by_role("dialog").get_by_text("Keys").wait_for()
    assert await problems(tab) == []
    await tab.keyboard.press("Escape")
    await tab.locator(".show:focus").wait_for()
    await tab.keyboard.press("e")
    await tab.get_by_label("Back").fill("another answer")
    assert await problems(tab) == []
    await tab.keyboard.press("Control+Enter")
    await tab.locator(".show:focus").wait_for()
    await tab.keyboard.press("Enter")
    await tab.get_by_text("another answer", exact=True).wait_for()
    await tab.locator("h1").click()  # nothing has the focus
    await tab.keyboard.press("Space")
    await second.wait_for()
    await tab.keyboard.press("Control+z")
    await tab.get_by_text("another answer", exact=True).wait_for()
    for key in ("-", "@"):
        await tab.keyboard.press(key)
        await second.wait_for()
        await tab.keyboard.press("u")
        await first.wait_for()
    await tab.keyboard.press("@")
    await second.wait_for()
    async with Client(f"{servers}/noema/mcp") as client:
        suspended = await client.call_tool("search-cards", {"query": "is:suspended"})
    assert [card["front"] for card in json.loads(suspended.content[0].text)["data"]["cards"]] == ["front 1"]


@pytest.mark.requirement("WEB-5")
@pytest.mark.parametrize(
    "path",
    [
        "todo",
        "guide",
        "guide?q=type",
        "guide?q=nothing-has-this",
        "guide/read?expression=lang",
        "guide/read?expression=x",
    ],
)
async def test_the_pages_are_accessible_on_a_phone_in_the_dark(tab, path):
    await tab.set_viewport_size({"width": 360, "height": 740})
    await tab.emulate_media(color_scheme="dark")
    tab.context.expected.append("Failed to load resource: the server responded with a status of 404")
    await go(tab, f"/console/{path}")
    assert await problems(tab) == []
    assert await tab.evaluate("document.documentElement.scrollWidth") <= 360


async def test_statistics_of_a_deck_are_accessible(tab, servers):
    async with Client(f"{servers}/noema/mcp") as client:
        deck = await create_deck(client, "Letters")
    await tab.set_viewport_size({"width": 360, "height": 740})
    await go(tab, f"/console/learn/statistics?deck={deck}")
    assert await tab.locator("figure").count() == 5
    assert await problems(tab) == []


async def test_a_page_calls_tools_with_the_rights_of_the_viewer():
    @tool.query(
        permissions=["secrets:read"], tags=["secrets"], open_world=False, examples=[Example("The secret", {}, "42")]
    )
    async def read_secret() -> str:
        """Read the secret.

        Use it when somebody asks for the secret of the day.

        Returns:
            The secret.
        """
        return "42"

    async with App("one", version="1.0.0", tools=[read_secret]) as app:
        assert (await call_tool(app, app.local_caller, "read_secret", {})).value == "42"
        with pytest.raises(ToolFailed, match="secrets:read"):
            await call_tool(app, Caller(), "read_secret", {})
