"""One browser and one server for all tests of the console; a page with its own cookies for each test.

A test in a browser takes `page`, and is marked with `pytestmark = pytest.mark.asyncio(loop_scope="session")` at the
top of its file, as the browser belongs to one event loop. `console` is the address of a server with the example, and
`page.goto("/console/tools")` a page of it. For other apps use `served` in served.py.
"""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from mcp_core import Settings
from tests.toolcharter.console import probe
from tests.toolcharter.console.served import served
from toolcharter.local import targets

BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
WITHOUT_BROWSER = "no Chromium is installed (Debian: apt-get install chromium)"
OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--disable-extensions"),
)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser. Without one, tests are skipped; where CI is set, they fail."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None and os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(WITHOUT_BROWSER)
    if found is None:
        pytest.skip(WITHOUT_BROWSER)
    return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=chromium, args=list(OPTIONS))
        yield opened
        await opened.close()


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Recent calls are kept in a folder of the tests, not in that of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session")
def console() -> Iterator[str]:
    """The address of the example and of the server in probe.py, which everyone may call."""
    settings = Settings(port=0)
    with served([targets.load("demo", settings), probe.build(settings)]) as url:
        yield url


@pytest.fixture(scope="session")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A token file: `ana-token` may do everything, `ben-token` may only read notes."""
    path = tmp_path_factory.mktemp("tokens") / "tokens.json"
    path.write_text(
        '{"ana-token": {"user": "ana", "grants": ["*"]}, "ben-token": {"user": "ben", "grants": ["notes:read"]}}'
    )
    return path


@pytest.fixture(scope="session")
def guarded(tokens: Path) -> Iterator[str]:
    """The address of the example and of the server in probe.py, whose callers need a token."""
    settings = Settings(port=0, tokens=tokens)
    with served([targets.load("demo", settings), probe.build(settings)]) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser, console: str) -> AsyncIterator[BrowserContext]:
    """A browser window without cookies. The test fails if a script fails, or a page asks another server."""
    opened = await browser.new_context(
        base_url=console, viewport={"width": 1100, "height": 800}, reduced_motion="reduce"
    )
    opened.set_default_timeout(60_000)
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("weberror", lambda error: problems.append(str(error.error)))
    opened.on("request", lambda one: None if "//127.0.0.1" in one.url else problems.append(f"asked {one.url}"))
    opened.expected = []  # beginnings of messages that a test expects
    yield opened
    await opened.close()
    assert [text for text in problems if not text.startswith(tuple(opened.expected))] == []


@pytest_asyncio.fixture(loop_scope="session")
async def page(context: BrowserContext) -> Page:
    return await context.new_page()
