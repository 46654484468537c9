"""What axe-core finds in a page."""

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page


async def problems(page: Page, state: str = "") -> list[str]:
    """The rules that the page breaks as it is now, with the first elements that do. `state` says what is shown."""
    found = await Axe().run(page)
    return [
        f"{page.url} {state} {rule['id']}: {[node['html'][:120] for node in rule['nodes']][:3]}"
        for rule in found.response["violations"]
    ]
