import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
import uvloop

from toolcharter.govern.upstream import stdio
from toolcharter.govern.upstream.errors import UpstreamUnavailable
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.stdio import StdioTransport, needed_environment
from toolcharter.govern.upstream.transport import OnNotification, Outgoing, ignore_notification

loops = pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
NewLoop = Callable[[], asyncio.AbstractEventLoop]


@asynccontextmanager
async def running(script: str, on_notification: OnNotification = ignore_notification) -> AsyncGenerator[StdioTransport]:
    groups = ProcessGroups()
    transport = StdioTransport("script", [sys.executable, "-c", script], needed_environment(), groups)
    transport.on_notification = on_notification
    await transport.open()
    try:
        async with asyncio.timeout(30):
            yield transport
    finally:
        await transport.close()
        groups.close()


IN_PIECES = """
import json, sys
for _ in range(3):
    number = json.loads(sys.stdin.readline())["id"]
    answer = json.dumps({"id": number, "result": {"text": "x" * 200_000 + str(number)}})
    for at in range(0, len(answer), 70_000):
        print(answer[at : at + 70_000], end="", flush=True)
    print(end="" if number == 3 else "\\n" + "not a message\\n", flush=True)
"""


@loops
def test_an_answer_that_comes_in_pieces_is_put_together(new_loop: NewLoop):
    async def scenario() -> list[str]:
        async with running(IN_PIECES) as transport:
            answers = [transport.request(Outgoing("a", {})) for _ in range(3)]
            return [answer["text"][200_000:] for answer in await asyncio.gather(*answers)]

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(scenario()) == ["1", "2", "3"]


CLOSES_INPUT = """
import os, sys, time
os.close(0)
print('{"method": "notifications/closed"}', flush=True)
time.sleep(60)
"""


async def test_a_call_to_a_process_that_has_closed_its_input_does_not_wait_for_an_answer():
    closed = asyncio.Event()
    async with running(CLOSES_INPUT, lambda method, params: closed.set()) as transport:
        await closed.wait()
        with pytest.raises(UpstreamUnavailable, match="closed its input"):
            await transport.request(Outgoing("a", {}))


async def test_what_is_sent_in_one_turn_arrives_in_order():
    script = """
import json, sys
heard = [json.loads(sys.stdin.readline()).get("method") for _ in range(2)]
print(json.dumps({"method": "notifications/heard", "params": {"methods": heard}}), flush=True)
sys.stdin.readline()
"""
    async with running(script) as transport:
        heard: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        transport.on_notification = lambda _, params: heard.set_result(params["methods"])
        asked = asyncio.ensure_future(transport.request(Outgoing("tools/call", {})))
        await asyncio.sleep(0)
        asked.cancel()
        assert await heard == ["tools/call", "notifications/cancelled"]


ASKS_AND_DOES_NOT_READ = """
import sys, time
while True:
    sys.stdout.write('{"id": "p", "method": "ping"}\\n' * 10_000)
"""


@loops
def test_what_a_process_asks_that_does_not_read_is_not_collected(new_loop: NewLoop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stdio, "_STOP_SECONDS", 0.05)

    async def scenario() -> int:
        async with running(ASKS_AND_DOES_NOT_READ) as transport:
            with pytest.raises(UpstreamUnavailable, match="did not answer"):
                await transport.request(Outgoing("a", {}, seconds=0.3))
            stdin = transport._process.stdin
            return stdin.transport.get_write_buffer_size() + sum(map(len, transport._unsent))

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert 0 < runner.run(scenario()) < 200_000
