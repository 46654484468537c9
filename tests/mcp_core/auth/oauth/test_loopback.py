"""The receiver of a redirect, and others who come to its port."""

import asyncio
from collections.abc import Mapping

import httpx2
import pytest

from mcp_core.auth.oauth.loopback import Completion, LoopbackReceiver, redirect_uri


async def complete(redirect: Mapping[str, str]) -> Completion[str] | None:
    await asyncio.sleep(0)
    return Completion(redirect["code"], "<done>") if "code" in redirect else None


async def statuses(port: str, *queries: str) -> list[int]:
    async with httpx2.AsyncClient(trust_env=False) as browser:
        return [(await browser.get(f"{port}{query}")).status_code for query in queries]


async def test_the_state_is_accepted_once_and_only_after_the_request():
    receiver = LoopbackReceiver[str]("test", complete)
    async with await receiver.listen(0) as server:
        uri = redirect_uri(server)
        early = await statuses(uri, "?code=1", "?code=1&state=")
        receiver.state = "s"
        others = await statuses(uri, "?code=1", "?code=1&state=t", "?code=1&state=s&state=s", "x?code=1&state=s")
        both = await asyncio.gather(*(statuses(uri, f"?code={number}&state=s") for number in (1, 2)))
        assert await receiver.wait(60) in ("1", "2")
    assert (early, others) == ([400, 400], [400, 400, 400, 404])
    assert sorted(both) == [[200], [400]]


async def test_the_page_shows_text_as_text_and_loads_nothing():
    receiver = LoopbackReceiver[str]("test", complete)
    async with await receiver.listen(0) as server, httpx2.AsyncClient(trust_env=False) as browser:
        receiver.state = "s"
        page = await browser.get(f"{redirect_uri(server)}?code=1&state=s")
        await receiver.wait(60)
    assert page.text == "<!doctype html><html lang=en><title>test</title><p>&lt;done&gt;</p>"
    assert page.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


async def test_an_error_is_raised_after_the_browser_has_its_page():
    async def refuse(_: Mapping[str, str]) -> Completion[str]:
        return Completion(ValueError("refused"), "Refused.", is_success=False)

    receiver = LoopbackReceiver[str]("test", refuse)
    async with await receiver.listen(0) as server:
        receiver.state = "s"
        assert await statuses(redirect_uri(server), "?state=s") == [400]
        with pytest.raises(ValueError, match="refused"):
            await receiver.wait(60)


async def test_nobody_is_waited_for_forever():
    with pytest.raises(TimeoutError):
        await LoopbackReceiver[str]("test", complete).wait(0.01)
