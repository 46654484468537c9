import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mcp_core import Caller, Settings
from mcp_core.calling.records import Answer, Question, Reply, Request, VerbatimResult
from mcp_core.context import ToolContext
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.spec import RateLimit, ToolSpec
from toolcharter.govern.policies import EffectivePolicy
from toolcharter.govern.remote_tool import remote_tool
from toolcharter.govern.search import search_app
from toolcharter.govern.search.analysis import SearchedTool
from toolcharter.govern.search.learning import Learning
from toolcharter.govern.search.search_app import SearchApp
from toolcharter.govern.search.search_file import SearchFile
from toolcharter.govern.search.tool_index import ToolIndex

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


async def answer(arguments: Mapping[str, Any], _: ToolContext) -> VerbatimResult:
    return VerbatimResult([{"type": "text", "text": json.dumps(dict(arguments))}])


def remote(name: str, description: str, **policy: Any) -> tuple[str, ToolSpec]:
    tool = ListedTool(name, "", description, SCHEMA)
    return "files", remote_tool("files", tool, EffectivePolicy(**policy), answer)


TOOLS = [
    remote("files_read", "Read the text of a file."),
    remote("files_delete", "Delete a file for good.", consent="required"),
    remote("mail_send", "Send a letter to somebody.", permissions=("mail:send",)),
    remote("web_search", "Find pages on the web.", rate_limit=RateLimit(1, 3_600_000)),
]
ANN = Caller("ann", "ann", frozenset({"mail:send"}))
BOB = Caller("bob", "bob", frozenset())


def app(budget: int, *always_listed: str, file: SearchFile | None = None, learns: bool = True) -> SearchApp:
    made = SearchApp(
        "all", format="result", list_budget=budget, version="1", settings=Settings(), file=file, learns=learns
    )
    made.replace_governed(TOOLS, always_listed)
    return made


async def call(target: SearchApp, tool: str, caller: Caller = ANN, **arguments: Any) -> Any:
    got = await target.answer(Request(tool, arguments, caller))
    assert isinstance(got, Answer)
    (block,) = got.content()
    return json.loads(block["text"])


async def found(target: SearchApp, query: str, caller: Caller = ANN) -> list[str]:
    return [one["name"] for one in (await call(target, "search_tools", caller, query=query))["value"]]


def test_a_list_within_the_budget_is_listed():
    assert [tool.name for tool in app(10_000).list_tools()] == [spec.name for _, spec in TOOLS]


@pytest.mark.requirement("GOV-7")
def test_a_list_beyond_the_budget_becomes_a_search():
    assert [tool.name for tool in app(10).list_tools()] == ["search_tools", "call_tool"]
    assert [tool.name for tool in app(10, "web_search").list_tools()] == ["search_tools", "call_tool", "web_search"]


@pytest.mark.requirement("GOV-7")
async def test_every_tool_is_found_and_called_through_the_search():
    async with app(10) as made:
        for words, name in (("read a file", "files_read"), ("send a letter", "mail_send"), ("the web", "web_search")):
            found = (await call(made, "search_tools", query=words))["value"]
            assert (found[0]["name"], found[0]["inputSchema"]) == (name, SCHEMA)
            assert await call(made, "call_tool", name=name, arguments={"path": "a"}) == {"path": "a"}


@pytest.mark.requirement("GOV-7")
async def test_gates_hold_for_what_is_called_through_the_search():
    async with app(10) as made:
        assert "mail_send" not in await found(made, "send a letter", BOB)
        refused = await call(made, "call_tool", BOB, name="mail_send", arguments={"path": "a"})
        assert refused["error_type"] == "PermissionError"
        wrong = await call(made, "call_tool", name="files_read", arguments={"path": 1})
        assert wrong["error_type"] == "ValidationError"
        await call(made, "call_tool", name="web_search", arguments={"path": "a"})
        limited = await call(made, "call_tool", name="web_search", arguments={"path": "b"})
        assert limited["error_type"] == "RateLimitError"
        unknown = await call(made, "call_tool", name="files_reed", arguments={})
        assert unknown["error"] == "No tool has the name 'files_reed'. Find one with search_tools."
        assert unknown["instruction"] == "Find the tool with search_tools, and call it by the name that you get."
        assert await call(made, "call_tool", name="search_tools", arguments={"query": "read"})
        empty = await call(made, "call_tool", name="files_read", arguments=None)
        assert empty["error_type"] == "ValidationError"
        shape = await call(made, "call_tool", name="files_read", arguments=[])
        assert shape["error_type"] == "ValidationError"


@pytest.mark.requirement("GOV-7")
async def test_a_confirmation_is_about_the_tool_that_is_called():
    arguments = {"name": "files_delete", "arguments": {"path": "a"}}
    async with app(10) as made:
        asked = await made.answer(Request("call_tool", arguments, ANN, can_return_questions=True))
        assert isinstance(asked, Question)
        assert asked.text == 'Delete a file for good. (files_delete with {"path":"a"}) Go ahead?'
        reply = Reply(asked.state, accepted=True)
        other = {"name": "files_delete", "arguments": {"path": "b"}}
        moved = await made.answer(Request("call_tool", other, ANN, can_return_questions=True, reply=reply))
        assert isinstance(moved, Answer)
        assert moved.is_error
        done = await made.answer(Request("call_tool", arguments, ANN, can_return_questions=True, reply=reply))
        assert isinstance(done, Answer)
        assert done.content() == [{"type": "text", "text": '{"path": "a"}'}]


# --- learning from use -------------------------------------------------------------------------------------


@pytest.mark.requirement("GOV-7")
async def test_a_tool_that_was_found_and_called_is_found_better_the_next_time(tmp_path: Path):
    words = "text for somebody"
    file = SearchFile(tmp_path / "search.db")
    async with app(10, file=file) as made:
        before = await found(made, words)
        assert before.index("mail_send") > 0
        for _ in range(3):
            await found(made, words)
            await call(made, "call_tool", name="mail_send", arguments={"path": "a"})
        assert (await found(made, words))[0] == "mail_send"
    async with app(10, file=SearchFile(tmp_path / "search.db")) as later:
        assert (await found(later, words, BOB))[0] != "mail_send", "BOB may not use it"
        assert (await found(later, words))[0] == "mail_send"
    assert file.read_used_words()["files", "mail_send"].keys() <= {"text", "somebody"}


@pytest.mark.requirement("GOV-7")
async def test_nothing_is_learned_from_a_call_that_fails_or_was_not_searched_for(tmp_path: Path):
    file = SearchFile(tmp_path / "search.db")
    async with app(10, file=file) as made:
        await call(made, "call_tool", name="files_read", arguments={"path": "a"})
        await found(made, "read text")
        await call(made, "call_tool", name="files_read", arguments={"path": 1})
        await call(made, "call_tool", BOB, name="files_read", arguments={"path": "a"})
    assert file.read_used_words() == {}
    async with app(10, file=file, learns=False) as made:
        await found(made, "read text")
        await call(made, "call_tool", name="files_read", arguments={"path": "a"})
    assert file.read_used_words() == {}


async def test_searches_of_many_callers_are_forgotten():
    learning = Learning(None)
    for number in range(2_000):
        learning.searched(f"caller {number}", {"word"}, [])
    assert len(learning._recent) == 500


async def test_a_list_that_changes_while_it_is_indexed_is_indexed_again(monkeypatch: pytest.MonkeyPatch):
    built: list[int] = []
    original = search_app._build

    def build(tools: Sequence[SearchedTool], file: SearchFile | None) -> ToolIndex:
        built.append(len(tools))
        if len(built) == 1:
            made.replace_governed(TOOLS[:2], ())
        return original(tools, file)

    monkeypatch.setattr(search_app, "_build", build)
    async with app(10) as made:
        assert set(await found(made, "file letter web")) <= {"files_read", "files_delete"}
    assert built == [4, 2]


async def test_words_alone_are_searched_without_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "toolcharter.evaluate.word_vectors", None)
    search_app._load_vectors.cache_clear()
    try:
        async with app(10) as made:
            assert (await found(made, "send a letter"))[0] == "mail_send"
            assert await found(made, "weather") == []
    finally:
        search_app._load_vectors.cache_clear()
