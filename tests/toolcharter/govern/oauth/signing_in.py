"""What tests of sign-ins share: a browser, a charter, and calls through its governor."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import httpx2

from mcp_core import Settings
from mcp_core.auth import Caller, user
from mcp_core.calling.records import Answer, Request
from tests.toolcharter.command_line import run
from toolcharter.govern.charter import read_charter
from toolcharter.govern.governor import Governor
from toolcharter.govern.oauth.attempts import SignIns
from toolcharter.govern.oauth.loopback import sign_in_here
from toolcharter.govern.oauth.probe import probe
from toolcharter.govern.oauth.signing import SignedIn

LOCAL = Caller(grants=frozenset({"*"}))


class Browser:
    """A person's browser. It follows redirects and keeps cookies; the person is signed in at the issuer already."""

    def __init__(self) -> None:
        self.visits: list[str] = []
        self.pages: list[httpx2.Response] = []
        self.threads: list[threading.Thread] = []

    def open(self, address: str) -> bool:
        """As `webbrowser.open` does: returns at once."""
        self.visits.append(address)
        self.threads.append(threading.Thread(target=self.visit, args=(address,)))
        self.threads[-1].start()
        return True

    def visit(self, address: str) -> None:
        self.pages.append(httpx2.get(address, follow_redirects=True, timeout=60))


def write_charter(folder: Path, url: str, more: str = "") -> Path:
    charter = folder / "charter.toml"
    charter.write_text(f'[upstream.docs]\nurl = "{url}"\n{more}\n', encoding="utf-8")
    return charter


def open_governor(charter: Path) -> Governor:
    return Governor(charter, read_charter(charter), Settings(), "1")


async def approve(charter: Path) -> None:
    governor = open_governor(charter)
    try:
        governor.approve("docs", await governor.look("docs"), [])
    finally:
        await governor.close()


def sign_ins_of(charter: Path) -> SignIns:
    signing = open_governor(charter).sign_ins.signing["docs"]
    assert isinstance(signing, SignedIn)
    return signing.sign_ins


async def sign_in_without_browser(charter: Path, owner: str = "local") -> None:
    """What the command does, where a test has no terminal."""
    browser = Browser()
    sign_ins = sign_ins_of(charter)
    await sign_in_here(sign_ins, owner, await probe(sign_ins.address), browser.open)
    for thread in browser.threads:
        thread.join()


def signed_in(capsys, charter: Path, *more: str) -> str:
    """Sign in with the command, and approve the tools."""
    code, out, err = run(capsys, "govern", "login", "docs", "--charter", str(charter), *more)
    assert (code, err) == (0, "")
    asyncio.run(approve(charter))
    return out


async def call(governor: Governor, tool: str, caller: str | None = None, **arguments: Any) -> dict[str, Any]:
    """The answer to a call of a user, or of the person at this machine."""
    request = Request(f"docs_{tool}", arguments, caller=user(caller, ["*"]) if caller else LOCAL)
    answer = await governor.all_tools.answer(request)
    assert isinstance(answer, Answer)
    return json.loads(answer.content()[0]["text"])


async def call_who(charter: Path, *callers: str | None) -> list[str]:
    """Who the server says that each caller is, or the error."""
    governor = open_governor(charter)
    async with governor.all_tools:
        answers = [await call(governor, "who", caller) for caller in callers]
    return [answer["error"] if "error" in answer else answer["data"]["userId"] for answer in answers]


def who(charter: Path, *callers: str | None) -> list[str]:
    return asyncio.run(call_who(charter, *callers))
