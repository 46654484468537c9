"""One caller with many calls leaves room for the calls of others."""

import asyncio
import json
import socket
from contextlib import AsyncExitStack, suppress

import httpx2
import pytest

from mcp_core import App, Settings
from tests.toolcharter.serving.raw_http import Parser, call_bytes, response, serving, until
from tests.toolcharter.serving.test_server import BASE, CALL, CALL_HEADERS
from toolcharter.serving.server import Site

pytestmark = pytest.mark.requirement("FAR-3")

GREEDY, OTHER = ("192.0.2.1", 4000), ("192.0.2.2", 4000)


def browse(site: Site, client: tuple[str, int]) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(site, client=client), base_url=BASE)


def errors(responses: list[httpx2.Response]) -> list[str]:
    found = [json.loads(one.json()["result"]["content"][0]["text"]) for one in responses if one.status_code == 200]
    return [one["error"] for one in found if not one["success"]]


@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_the_waiting_calls_of_one_caller_refuse_none_of_another(fast_path: str):
    app = App("slow", version="1", format="result", settings=Settings(fast_path=fast_path, max_calls=50))
    go, waiting = asyncio.Event(), asyncio.Semaphore(0)

    async def add(a: int, b: int) -> int:
        """Add."""
        waiting.release()
        await go.wait()
        return a + b

    app.tool(add)
    site = Site([app], BASE)
    async with site.open(), browse(site, GREEDY) as greedy, browse(site, OTHER) as other:
        post = {"json": CALL, "headers": CALL_HEADERS}
        first = [asyncio.ensure_future(greedy.post("/mcp", **post)) for _ in range(45)]
        for _ in range(40):
            await waiting.acquire()
        async with asyncio.timeout(60):
            while sum(one.done() for one in first) < 5:  # noqa: ASYNC110 - until those beyond the share are refused
                await asyncio.sleep(0)
        second = [asyncio.ensure_future(other.post("/mcp", **post)) for _ in range(10)]
        for _ in second:
            await waiting.acquire()
        metrics = (await other.get("/metrics")).text
        go.set()
        answers = await asyncio.gather(*first), await asyncio.gather(*second)
        alone = await asyncio.gather(*(greedy.post("/mcp", **post) for _ in range(40)))
    refused = (
        "'add' was refused: you have 41 calls in progress, and the rest of the limit is kept for other callers. "
        "Nothing was done. Wait until some of your calls have ended."
    )
    assert errors(answers[0]) == [refused] * 5
    assert [one.status_code for one in (*answers[1], *alone)] == [200] * 50
    assert errors([*answers[1], *alone]) == []
    assert 'toolcharter_share_refusals_total{server="slow",bound="calls"} 5' in metrics
    assert site.calls.shares.held == {}


@pytest.mark.parametrize("parser", ["httptools", "h11"])
async def test_the_unread_answers_of_one_address_cut_off_none_of_another(parser: Parser):
    app = App("long", version="1", format="result")

    async def repeat(words: str, times: int) -> str:
        """Repeat words."""
        return words * times

    app.tool(response_time="fast")(repeat)
    long = call_bytes("repeat", words="x" * 1000, times=4000)
    async with AsyncExitStack() as stack:
        site, port = await stack.enter_async_context(serving(app, parser))
        site.connections.max_unread = 5_000_000

        writers: list[asyncio.StreamWriter] = []

        async def ask(address: str) -> asyncio.StreamReader:
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # so that it leaves much to the server
            client.bind((address, 0))
            client.setblocking(False)
            await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
            reader, writer = await asyncio.open_connection(sock=client, limit=1000)
            stack.callback(writer.transport.abort)
            writers.append(writer)  # one that is not kept is closed
            writer.write(long)
            return reader

        small = await ask("127.0.0.2")
        await until(lambda: len(site.connections._unread) == 1)
        cut = site.counts.refusals
        greedy = [await ask("127.0.0.1") for _ in range(10)]
        await until(lambda: cut["too_much_unread"] > 0 and site.calls.running == 0)
        unread = sum(one.transport.get_write_buffer_size() for one in site.connections._unread)
        assert unread <= site.connections.max_unread
        status, _, body = await response(small)
        assert (status, len(body) > 4_000_000) == (200, True)
        for reader in greedy:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await response(reader)
        assert 0 < cut["too_much_unread"] < 10
