"""The threads of searches."""

import asyncio
import threading

import pytest

from mcp_core import Request, Unavailable
from mcp_guide.content.tree import DocumentTree
from mcp_guide.search import index as search
from mcp_guide.search import threads as threads_module
from mcp_guide.search.threads import MAX_SEARCHES, MAX_THREADS, SearchThreads
from tests.mcp_guide.guide_server import build_guide, make_call, value, write_documents


async def test_more_searches_than_fit_are_refused_and_those_that_wait_are_done():
    threads, may_go_on = SearchThreads(), threading.Event()
    running = [asyncio.ensure_future(threads.run(lambda: may_go_on.wait(60))) for _ in range(MAX_SEARCHES)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match=r"already has 32 searches to do. Search again in a moment"):
        await threads.run(lambda: True)
    may_go_on.set()
    assert await asyncio.gather(*running) == [True] * MAX_SEARCHES
    assert await threads.run(lambda: True)
    threads.close()


async def test_a_cancelled_search_counts_until_its_thread_is_free(monkeypatch):
    monkeypatch.setattr(threads_module, "MAX_SEARCHES", 1)
    threads, has_begun, may_end = SearchThreads(), threading.Event(), threading.Event()

    def work() -> bool:
        has_begun.set()
        return may_end.wait(60)

    running = asyncio.ensure_future(threads.run(work))
    assert await asyncio.to_thread(has_begun.wait, 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(Unavailable):
        await threads.run(lambda: True)
    may_end.set()
    threads.close()


async def test_reads_go_on_while_searches_hang(tmp_path, monkeypatch):
    may_go_on, begun = threading.Event(), threading.Semaphore(0)

    def hang(*_: object) -> search.SearchPage:
        begun.release()
        may_go_on.wait(60)
        return search.SearchPage([], 0)

    monkeypatch.setattr(search.SearchIndex, "find", hang)
    write_documents(tmp_path / "docs")
    async with build_guide(tmp_path) as app:
        call = make_call(app)
        searches = [asyncio.ensure_future(value(call, "search_content", query="x")) for _ in range(20)]
        for _ in range(MAX_THREADS):
            assert await asyncio.to_thread(begun.acquire, timeout=60)
        assert (await value(call, "get_content", expression="lang/java"))["content"] == "# Java\n"
        may_go_on.set()
        assert [found["total"] for found in await asyncio.gather(*searches)] == [0] * 20


async def test_a_search_reports_how_far_the_index_is(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "REPORT_SECONDS", 0.01)
    may_read, reports, is_reported = threading.Event(), [], asyncio.Event()
    read = DocumentTree.read

    def read_slowly(tree: DocumentTree, path: str) -> object:
        assert may_read.wait(60)
        return read(tree, path)

    async def report(done: float, total: float | None, message: str | None) -> None:
        reports.append((done, total, message))
        is_reported.set()

    write_documents(tmp_path / "docs")
    monkeypatch.setattr(DocumentTree, "read", read_slowly)
    async with build_guide(tmp_path) as app:
        request = Request("search_content", {"query": "java"}, app.local_caller, progress=report)
        answer = asyncio.ensure_future(app.answer(request))
        async with asyncio.timeout(60):
            await is_reported.wait()
        may_read.set()
        assert '"path":"lang/java.md"' in (await answer).text
    assert reports[0] == (0, 5, "Building the search index")
