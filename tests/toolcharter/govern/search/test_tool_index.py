import logging
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.word_vectors import WordVectors
from toolcharter.govern.search import tool_index
from toolcharter.govern.search.analysis import SearchedTool
from toolcharter.govern.search.query import parts, simplify
from toolcharter.govern.search.search_file import MAX_WORDS, SearchFile
from toolcharter.govern.search.tool_index import ToolIndex

pytestmark = pytest.mark.requirement("GOV-7")


def tool(server: str, name: str, description: str, *arguments: str) -> SearchedTool:
    schema = {"type": "object", "properties": {argument: {"type": "string"} for argument in arguments}}
    return SearchedTool(server, name, ListedTool(f"{server}_{name}", "", description, schema))


TOOLS = [
    tool("files", "read_file", "Return the text.", "path"),
    tool("github", "create_issue", "Open a ticket about a bug.", "repository"),
    tool("mail", "send", "Write to somebody.", "receiver"),
    tool("files", "search", "Look for a text in all files.", "words"),
]


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors()


def names(query: str, limit: int | None = 5, index: ToolIndex | None = None) -> list[str]:
    return [one.own_name for one in (index or ToolIndex(TOOLS)).search(query, limit)]


def test_a_word_is_found_in_every_field():
    assert names("github") == ["create_issue"]
    assert names("issues") == ["create_issue"]
    assert names("ticket") == ["create_issue"]
    assert names("repositories") == ["create_issue"]


def test_a_name_counts_more_than_a_description():
    assert names("file")[0] == "read_file"


def test_what_shares_no_word_is_not_found_without_vectors():
    assert names("weather in Paris") == []
    assert names("") == []
    assert ToolIndex([]).search("file", 5) == []


def test_meanings_find_what_shares_no_word(vectors: WordVectors):
    index = ToolIndex(TOOLS, vectors)
    assert names("letter", index=ToolIndex(TOOLS)) == []
    assert names("an email letter for my aunt", index=index)[0] == "send"
    assert names("", index=index) == []
    assert ToolIndex([], vectors).search("file", 5) == []


def test_the_limit_holds():
    assert len(names("file text issue send", limit=2)) == 2


def test_a_query_that_asks_for_several_things_finds_all_of_them():
    tools = [tool("web", f"search_{n}", "Search the web for news and reports.", "query") for n in range(20)]
    index = ToolIndex([*tools, tool("disk", "write_file", "Write text to a file.", "path")])
    query = "Search the web for news, search for reports on the web, and save it to /root/report.md"
    assert "write_file" in names(query, 10, index)


def test_an_address_and_a_path_stand_for_what_they_are():
    assert simplify("Read https://example.com/a?b=1 now").split() == ["Read", "url", "web", "page", "now"]
    assert simplify("save it as /root/out/list.xlsx").split() == ["save", "it", "as", "excel", "spreadsheet", "file"]
    assert simplify("open notes.md").split() == ["open", "markdown", "file"]
    assert simplify("in ~/work/site").split() == ["in", "file"]


def test_a_query_is_split_into_what_it_asks_for():
    assert parts("Find the trending repositories, read the first one and draft an introduction.") == [
        "Find the trending repositories",
        "read the first one",
        "draft an introduction",
    ]
    assert parts("find a file") == []


def test_each_line_of_a_query_is_one_step():
    assert parts("read a page and its comments\nhello\nwrite a file, then close it") == [
        "read a page and its comments",
        "write a file, then close it",
    ]
    assert len(parts("read a file\n" * 100)) == 6, "so that a search has a bounded cost"


def test_the_best_tool_of_each_step_is_among_the_first():
    similar = [tool("web", f"search_{n}", "Search the web for news and reports.", "query") for n in range(20)]
    others = [tool("disk", "write_file", "Write text to a file."), tool("mail", "send", "Send a letter to somebody.")]
    index = ToolIndex([*similar, *others])
    query = "search the web for news\nsearch the web for reports\nwrite a file\nsend somebody a letter"
    assert {"write_file", "send"} < set(names(query, 5, index))


def test_a_tool_is_found_by_the_words_for_which_it_was_used():
    index = ToolIndex(TOOLS)
    assert names("inform the landlord", index=index) == []
    words = index.known_words("write to the landlord")
    assert words.isdisjoint({"landlord"}), "words that no tool has are not kept"
    index.learn({("mail", "send"): Counter(["inform"])})
    assert names("inform the landlord", index=index) == ["send"]


# --- the file ----------------------------------------------------------------------------------------------


def count_analysed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    analysed: list[object] = []
    original = tool_index.words_of
    monkeypatch.setattr(tool_index, "words_of", lambda texts: analysed.append(texts) or original(texts))
    return analysed


def test_only_what_changed_is_analysed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vectors: WordVectors):
    analysed, file = count_analysed(monkeypatch), SearchFile(tmp_path / "search.db")
    first = ToolIndex(TOOLS, vectors, file)
    assert len(analysed) == 4
    assert (tmp_path / "search.db").stat().st_mode & 0o777 == 0o600
    again = ToolIndex(TOOLS, vectors, file)
    assert len(analysed) == 4
    for query in ("file", "write somebody about a bug", "look for text"):
        assert again.search(query) == first.search(query)
    changed = TOOLS[2]._replace(tool=replace(TOOLS[2].tool, description="Post a letter."))
    assert names("post", index=ToolIndex([*TOOLS[:2], changed, TOOLS[3]], vectors, file))[0] == "send"
    assert len(analysed) == 5
    assert len(file.read_analyses()) == 4, "what is no longer used is removed"
    ToolIndex(TOOLS[:1], None, file)
    assert len(analysed) == 6, "without vectors nothing has tokens"


@pytest.mark.parametrize(
    "content", [b"", b"not a database, but a text that is long enough" * 100, b"SQLite format 3\0" * 99]
)
def test_a_damaged_file_is_made_anew(tmp_path: Path, content: bytes):
    path = tmp_path / "search.db"
    path.write_bytes(content)
    assert names("github", index=ToolIndex(TOOLS, None, SearchFile(path))) == ["create_issue"]
    ToolIndex(TOOLS, None, SearchFile(path))
    assert len(SearchFile(path).read_analyses()) == 4


def test_rows_that_are_no_analyses_are_made_anew(tmp_path: Path):
    path = tmp_path / "search.db"
    ToolIndex(TOOLS, None, SearchFile(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for number, content in enumerate(("{", "[1]", "[[1], 2]", '[{"name": 1}, []]')):
            file.execute(
                "UPDATE analyses SET content = ? WHERE digest = (SELECT digest FROM analyses LIMIT 1 OFFSET ?)",
                (content, number),
            )
    file.close()
    assert names("github", index=ToolIndex(TOOLS, None, SearchFile(path))) == ["create_issue"]


def test_a_file_that_cannot_be_written_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING):
        file = SearchFile(tmp_path / "missing" / "search.db")
        assert names("github", index=ToolIndex(TOOLS, None, file)) == ["create_issue"]
        file.add_used_words("mail", "send", ["inform"])
        assert file.read_used_words() == {}
    assert caplog.messages == []


def test_the_words_of_use_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcharter.govern.search.search_file.MAX_TOOLS", 2)
    file = SearchFile(tmp_path / "search.db")
    for _ in range(2):
        file.add_used_words("mail", "send", ["inform"])
    file.add_used_words("mail", "send", [f"word{n}" for n in range(100)])
    file.add_used_words("files", "search", ["find"])
    file.add_used_words("files", "read_file", ["find"])
    used = file.read_used_words()
    assert len(used[("mail", "send")]) == MAX_WORDS
    assert used[("mail", "send")]["inform"] == 2
    assert list(used) == [("files", "read_file"), ("mail", "send")]


def test_a_search_among_5000_tools_is_quick(vectors: WordVectors):
    tools = [tool(f"server{n % 50}", f"tool_{n}", f"Read page {n} of report {n % 7}.", "path") for n in range(5_000)]
    started = time.process_time()
    index = ToolIndex(tools, vectors)
    assert time.process_time() - started < 5
    index.search("page")
    started = time.process_time()
    for number in range(10):
        assert index.search(f"read page {number} of the report, and send it", 5)
    assert (time.process_time() - started) / 10 < 0.05
