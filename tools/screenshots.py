"""Take the pictures of the console for the README and the docs, in light and dark: docs/pictures/NAME-SCHEME.png.

    python tools/screenshots.py             all of them
    python tools/screenshots.py tool live   some of them

It serves all servers with data of their own, in a folder that is removed, and needs Chromium.
"""

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from playwright.async_api import Page, async_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
LARGEST = 150_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
VERSION = "2026-07-28"
TASKS = ("Write the release notes", "Answer Ben about the invoice", "Book the train to Zürich", "Water the plants")
WORDS = {
    "the milk": "le lait",
    "the bread": "le pain",
    "the cheese": "le fromage",
    "the station": "la gare",
    "tomorrow": "demain",
    "to look for": "chercher",
}


class Picture(NamedTuple):
    """A picture: its page, and what is done there before it is taken."""

    path: str
    prepare: Callable[[Page], Awaitable[Any]] | None = None
    height: int = HEIGHT


async def _call_a_tool(page: Page) -> None:
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.locator(".answer .tag").wait_for()


async def _ask(page: Page) -> None:
    await page.get_by_role("button", name="Call", exact=True).click()
    await page.get_by_role("dialog").wait_for()


async def _wait_for_calls(page: Page) -> None:
    await page.locator("#calls tr").first.wait_for()
    await page.locator(".plot").first.wait_for()


async def _show_the_answer(page: Page) -> None:
    await page.get_by_role("button", name="Show the answer").click()
    await page.get_by_role("button", name="Good").wait_for()


PICTURES = {
    "tools": Picture("/console/tools"),
    "tool": Picture("/console/tools/noema/list-decks", _call_a_tool),
    "question": Picture(
        '/console/tools/noema/delete-deck#arguments={"deckId":"deck_1","explicit_action":"DELETE_DECK"}', _ask
    ),
    "live": Picture("/console/live", _wait_for_calls, height=960),
    "approvals": Picture("/console/approvals"),
    "learn": Picture("/console/learn", _show_the_answer),
}


@contextmanager
def served() -> Iterator[str]:
    """Serve all servers, with a data folder of their own. The value is the address."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
        command = [str(Path(sys.executable).with_name("toolcharter")), "serve", "--port", "0"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            try:
                yield _address(process)
            finally:
                process.terminate()


def _address(process: "subprocess.Popen[str]") -> str:
    for line in process.stderr or ():
        if found := re.search(r"Console: (\S+)/$", line.strip()):
            return found[1]
    raise SystemExit("The server did not start.")


async def _call(http: httpx2.AsyncClient, server: str, tool: str, arguments: Mapping[str, Any]) -> None:
    prefix = "io.modelcontextprotocol/"
    meta = {
        f"{prefix}protocolVersion": VERSION,
        f"{prefix}clientCapabilities": {},
        f"{prefix}clientInfo": {"name": "desktop agent", "version": "4.2"},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = await http.post(f"/{server}/mcp", json=body, headers=headers)
    if "result" not in response.json():
        raise SystemExit(f"{tool}: {response.text}")


async def fill(url: str) -> None:
    """Give the servers something to show."""
    async with httpx2.AsyncClient(base_url=url, timeout=60) as http:
        for title in TASKS:
            await _call(http, "todo", "add_task", {"user_id": "local", "title": title})
        await _call(http, "noema", "create-deck", {"name": "Languages::French"})
        notes = [{"front": front, "back": back} for front, back in WORDS.items()]
        await _call(http, "noema", "create-notes", {"deckId": "deck_2", "notes": notes})
        for server, tool, arguments in 3 * (
            ("todo", "list_tasks", {"user_id": "local"}),
            ("guide", "list_documents", {}),
            ("atl", "atl_search", {"product": "jira", "subject": "project = APP", "parameters": {"limit": 5}}),
            ("atl", "atl_health_check", {}),
            ("noema", "review-next-card", {}),
            ("noema", "get-deck-stats", {"deckId": "deck_99"}),
        ):
            await _call(http, server, tool, arguments)


async def take(url: str, names: list[str]) -> None:
    """Take the pictures."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        raise SystemExit("No Chromium is installed (Debian: apt-get install chromium).")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_path, args=list(OPTIONS))
        for scheme in ("light", "dark"):
            size = {"width": WIDTH, "height": HEIGHT}
            context = await browser.new_context(base_url=url, viewport=size, color_scheme=scheme)
            page = await context.new_page()
            for name in names:
                await _take_one(page, PICTURES[name], FOLDER / f"{name}-{scheme}.png")
            await context.close()
        await browser.close()


async def _take_one(page: Page, picture: Picture, file: Path) -> None:
    await page.set_viewport_size({"width": WIDTH, "height": picture.height})
    response = await page.goto(picture.path)
    if response is None or not response.ok:
        print(f"{picture.path} does not exist here, and was left out.")
        return
    while await page.get_by_role("link", name="Load the page again").count():  # the checks run in a thread
        await page.reload()
    if picture.prepare is not None:
        await picture.prepare(page)
    await page.screenshot(path=file, animations="disabled")
    size = file.stat().st_size  # noqa: ASYNC240 - a script
    print(f"{file.relative_to(FOLDER.parent.parent)}: {size // 1000} KB")
    if size > LARGEST:
        raise SystemExit(f"{file} is larger than {LARGEST // 1000} KB.")


def main() -> None:
    """Take the pictures that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    names = parser.parse_args().names or list(PICTURES)
    if unknown := set(names) - set(PICTURES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(PICTURES)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with served() as url:
        asyncio.run(fill(url))
        asyncio.run(take(url, names))


if __name__ == "__main__":
    main()
