"""Which calls somebody sees in the console: in the list, one by one, in the figures and as they happen."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcp_core.process.install_command import install_command
from tests.toolcharter.console.live_app import call, live_app, visited
from tests.toolcharter.console.served import served
from toolcharter.call_log import CallLog
from toolcharter.call_log.store import CallStore

TOKENS = {
    "ana-token": {"user": "ana", "grants": ["notes:read", "console:calls"]},
    "ben-token": {"user": "ben", "grants": ["notes:read"]},
}


@pytest.fixture
def tokens_file(tmp_path: Path) -> Path:
    path = tmp_path / "live-tokens.json"
    path.write_text(json.dumps(TOKENS))
    return path


async def get(http: httpx2.AsyncClient, path: str, token: str = "") -> httpx2.Response:
    return await http.get(path, headers={"Authorization": f"Bearer {token}"} if token else {})


async def listed(http: httpx2.AsyncClient, query: str = "", token: str = "") -> list[dict[str, Any]]:
    return (await get(http, f"/console/live/calls?{query}", token)).json()["calls"]


def log_of(http: httpx2.AsyncClient) -> CallLog:
    """The record of recent calls of the site that a client visits."""
    return http._transport.app.call_log


async def written(http: httpx2.AsyncClient) -> None:
    await log_of(http).write()


@pytest.mark.requirement("WEB-2")
async def test_the_list_has_what_people_look_for_and_is_searched(tmp_path: Path):
    app = live_app(tmp_path)
    async with visited(app) as http:
        for number in (1, 0, -1):
            await call(http, "double", {"number": number})
        await written(http)
        calls = await listed(http)
        assert [(one["tool"], one["outcome"], one["error_type"], one["agent"]) for one in calls] == [
            ("double", "system", "SystemError", "claude 4"),
            ("double", "business", "ToolError", "claude 4"),
            ("double", "ok", None, "claude 4"),
        ]
        assert {"id", "time", "server", "caller", "ms", "tokens", "cached"} <= calls[0].keys()
        assert [one["id"] for one in await listed(http, "outcome=failed")] == [3, 2]
        assert [one["id"] for one in await listed(http, "q=cannot+be+doubled")] == [2]
        assert await listed(http, "server=other") == []
        assert [one["id"] for one in await listed(http, "before=3")] == [2, 1]


async def test_a_call_that_is_written_while_the_list_is_read_comes_with_the_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    app = live_app(tmp_path)
    async with visited(app) as http:
        await call(http, "double", {"number": 1})
        await written(http)
        find = log_of(http).store.find

        async def find_and_write(*arguments: Any) -> Any:
            found = await find(*arguments)
            await call(http, "double", {"number": 2})
            await written(http)
            return found

        monkeypatch.setattr(log_of(http).store, "find", find_and_write)
        answer = (await get(http, "/console/live/calls")).json()
    assert ([one["id"] for one in answer["calls"]], answer["last"]) == ([1], 1)


@pytest.mark.requirement("WEB-2")
async def test_with_tokens_callers_see_their_own_calls_and_those_with_the_permission_see_all(
    tmp_path: Path, tokens_file: Path
):
    app = live_app(tmp_path, tokens=tokens_file)
    async with visited(app) as http:
        await call(http, "double", {"number": 1}, token="ana-token")
        await call(http, "double", {"number": -1}, token="ben-token")
        await written(http)
        assert [one["caller"] for one in await listed(http, token="ana-token")] == ["user:ben", "user:ana"]
        assert [one["caller"] for one in await listed(http, token="ben-token")] == ["user:ben"]
        assert (await get(http, "/console/live/1", "ben-token")).status_code == 404
        assert (await get(http, "/console/live/99", "ben-token")).status_code == 404
        assert (await get(http, "/console/live/calls")).status_code == 401
        figures = [(await get(http, "/console/live/figures?span=hour", token)).json() for token in TOKENS]
        assert [one["total"]["calls"] for one in figures] == [2, 1]
        assert [[total["name"] for total in one["caller"]] for one in figures] == [
            ["user:ben", "user:ana"],
            ["user:ben"],
        ]
        own, all_of_it = (
            await get(http, "/console/live/2", "ben-token"),
            await get(http, "/console/live/2", "ana-token"),
        )
    # The stack is for those who run the server: a caller gets the id of the error, and no more.
    assert "/srv/secret/path" in all_of_it.text
    assert "/srv/secret/path" not in own.text
    assert "Error id" in own.text


@pytest.mark.requirement("WEB-2")
async def test_one_call_is_shown_in_full_without_secrets_and_can_be_tried_again(tmp_path: Path):
    app = live_app(tmp_path)
    async with visited(app) as http:
        await call(http, "send_note", {"note": "<b>hi</b>", "password": "hunter2hunter2"}, agent="<script>x</script>")
        await written(http)
        page = (await get(http, "/console/live/1")).text
    assert "hunter2" not in page
    assert "<b>hi" not in page
    assert "<script>x" not in page
    arguments = "%7B%22note%22%3A%20%22%3Cb%3Ehi%3C%2Fb%3E%22%7D"
    assert f'href="/console/tools/notes/send_note#arguments={arguments}"' in page
    assert "Secret values are not kept." in page


async def test_figures_need_a_span(tmp_path: Path):
    async with visited(live_app(tmp_path)) as http:
        assert (await get(http, "/console/live/figures?span=year")).status_code == 404
        assert len((await get(http, "/console/live/figures?span=day")).json()["slots"]) == 96


async def test_without_a_record_the_page_says_how_to_get_one(tmp_path: Path):
    async with visited(live_app(tmp_path, calls_keep=0)) as http:
        assert "--calls-keep 1d" in (await get(http, "/console/live")).text
        answers = [await get(http, f"/console/live/{name}") for name in ("calls", "events", "figures?span=hour", "1")]
    assert [answer.status_code for answer in answers] == [404] * 4


async def test_without_the_library_of_its_database_the_page_says_how_to_install_it_here(tmp_path: Path, monkeypatch):
    async def refuse(*_: object) -> None:
        raise ModuleNotFoundError(name="sqlalchemy")

    monkeypatch.setattr(CallStore, "open", refuse)
    async with visited(live_app(tmp_path)) as http:
        problem = (await get(http, "/console/live/calls")).json()["error"]
    assert problem == (
        f"Recent calls are not kept: --db needs a library that is missing. Run {install_command('sql')}, and start the "
        "server again."
    )


# ---- as they happen ------------------------------------------------------------------------------


async def events(response: httpx2.Response) -> AsyncIterator[list[dict[str, Any]]]:
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            yield json.loads(line[5:])


@pytest.mark.requirement("WEB-2")
async def test_new_calls_are_sent_to_who_may_see_them_and_streams_end_when_the_server_stops(
    tmp_path: Path, tokens_file: Path
):
    app = live_app(tmp_path, tokens=tokens_file, port=0)
    ana, ben = ({"Authorization": f"Bearer {token}"} for token in TOKENS)
    path = "/console/live/events?after=0"
    with ExitStack() as stack:
        url = stack.enter_context(served([app]))
        async with (
            asyncio.timeout(60),
            httpx2.AsyncClient(base_url=url, timeout=60) as http,
            http.stream("GET", path, headers=ana) as all_calls,
            http.stream("GET", path, headers=ben) as own_calls,
        ):
            assert all_calls.headers["content-type"].startswith("text/event-stream")
            first, second = events(all_calls), events(own_calls)
            await call(http, "double", {"number": 1}, token="ana-token")
            assert [one["caller"] for one in await anext(first)] == ["user:ana"]
            await call(http, "double", {"number": 2}, token="ben-token")
            assert [one["caller"] for one in await anext(first)] == ["user:ben"]
            assert [one["caller"] for one in await anext(second)] == ["user:ben"]
            stopped = asyncio.ensure_future(asyncio.to_thread(stack.close))
            assert [one async for one in first] == []
            assert [one async for one in second] == []
            await stopped


async def test_a_page_that_connects_again_gets_what_it_missed(tmp_path: Path):
    app = live_app(tmp_path, port=0)
    with served([app]) as url:
        async with asyncio.timeout(60), httpx2.AsyncClient(base_url=url, timeout=60) as http:
            async with http.stream("GET", "/console/live/events?after=0&outcome=ok") as response:
                for number in (1, 0, 2):
                    await call(http, "double", {"number": number})
                seen: list[int] = []
                async for calls in events(response):
                    seen += [one["id"] for one in calls]
                    if seen[-1] == 3:
                        break
            assert seen == [1, 3]
            headers = {"Last-Event-ID": "2"}
            async with http.stream("GET", "/console/live/events?after=0", headers=headers) as response:
                assert [one["id"] for one in await anext(events(response))] == [3]
