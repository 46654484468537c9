import os
import random
import sqlite3
import struct
import threading
import time
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments, Unavailable
from mcp_guide.content.tree import DocumentTree
from mcp_guide.search import index as search_module
from mcp_guide.search import ranking
from mcp_guide.search.index import SearchIndex
from mcp_guide.search.ranking import Hit
from tests.thorough import examples


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    for path, text in {
        "lang/python.md": "---\ntitle: Python style\ntags: [naming]\n---\nModules have short names. Handle errors.",
        "lang/java.md": "# Java style\n\nClasses have long names. Errors are exceptions. Naïve résumé.",
        "docs/api.md": "The API names its errors. It mentions python once.",
        "docs/deep/more.txt": "Error handling is here: error handling everywhere.",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "docs" / "logo.png").write_bytes(b"\x89PNG\x00")
    return root


@pytest.fixture(params=["watched", "unwatched"])
def search(root, tmp_path, request, monkeypatch):
    if request.param == "unwatched":
        monkeypatch.setattr(search_module.FolderWatch, "watch", lambda *_: False)
    index = SearchIndex(DocumentTree(root), tmp_path / "index" / "guide.db")
    yield index
    index.close()


def found(search, query, folders=None):
    return [hit.path for hit in search.find(query, folders).hits]


def test_documents_are_found_by_their_words_the_best_first(search):
    assert found(search, "python") == ["lang/python.md", "docs/api.md"]  # in the title it weighs more
    assert found(search, "naming")[0] == "lang/python.md"  # a tag
    assert found(search, "naming") == found(search, "names") == found(search, "name")
    assert found(search, "names errors")[3:] == ["docs/deep/more.txt"]  # only one of the words
    assert found(search, "logo") == ["docs/logo.png"]  # by its name, although it is not text
    assert found(search, "nothing") == []


def test_a_hit_has_a_title_a_snippet_and_a_score(search):
    page = search.find("exceptions")
    assert page.total == 1
    assert page.hits == [
        Hit(
            "lang/java.md",
            "Java style",
            "Classes have long names. Errors are exceptions. Naïve résumé.",
            page.hits[0].score,
            heading="Java style",
            text="\nClasses have long names. Errors are exceptions. Naïve résumé.",
        )
    ]
    assert page.hits[0].score > 0


def test_a_word_repeated_in_one_document_does_not_make_searches_slow(root, search):
    (root / "docs" / "repeated.md").write_text("bomb " * 300_000)
    search.refresh()
    before = time.process_time()
    (hit,) = search.find("bomb").hits
    assert (hit.path, hit.snippet[:10], len(hit.snippet) < 200) == ("docs/repeated.md", "bomb bomb ", True)
    assert time.process_time() - before < 2


def test_a_search_that_takes_long_is_interrupted_and_the_next_one_works(search, monkeypatch):
    search.refresh()
    monkeypatch.setattr(ranking, "MAX_SECONDS", -1.0)
    monkeypatch.setattr(ranking, "_STEPS_BETWEEN_CHECKS", 1)
    with pytest.raises(Unavailable, match=r"took longer than .* Use fewer or rarer words"):
        search.find("names")
    monkeypatch.undo()
    assert found(search, "python") == ["lang/python.md", "docs/api.md"]


def test_words_are_found_by_their_start_and_without_accents(search):
    assert found(search, "excep") == ["lang/java.md"]
    assert found(search, "naive RESUME") == ["lang/java.md"]


@pytest.mark.parametrize(
    ("text", "queries", "other_queries"),
    [
        ("日本語の検索エンジン", ["日本語", "検索", "語", "ン", "エンジン", '"検索"', "日"], ["日語", "本の", "中"]),
        ("全文搜索引擎的设计。很好。", ["搜索", "引擎的设计", "设计", "计", '"很好"'], ["索擎", "好很", "计很"]),
        ("設計APIを読む", ["API", "設計", "設計API", "APIを", '"設計API"'], ["計設"]),
        ("ﾃﾞｰﾀ 全角ＡＰＩ", ["データ", "API", "全角"], ["データベース"]),
        ("We use C++17 and C#, not F#.", ["c++", "C#", "f#", "C++17", "use -d++"], ["d++", "g#", "c"]),
        ("Target .NET 8 with ASP.NET.", [".net", ".NET", "asp.net"], []),
        ("The network and the net.", ["net"], [".NET"]),
        ("Install node.js first; see page#part and a++b.", ["node.js", "page", "part", "page#part"], ["node.py"]),
    ],
)
def test_words_without_spaces_and_with_symbols_are_found(tmp_path, text, queries, other_queries):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.md").write_text(f"Before {text}", encoding="utf-8")
    search = SearchIndex(DocumentTree(tmp_path / "root"))
    assert [query for query in queries if search.find(query).total != 1] == []
    assert [query for query in other_queries if search.find(query).total] == []
    search.close()


def test_a_snippet_shows_such_words(search, root):
    (root / "docs" / "ja.md").write_text(
        f"{'前' * 200} {'x ' * 300}日本語の検索。{'y ' * 300} We like c++.", encoding="utf-8"
    )
    assert "日本語の検索" in search.find("検索").hits[0].snippet
    assert "c++" in search.find("c++").hits[0].snippet


def test_phrases_and_exclusions_are_understood(search):
    assert found(search, '"error handling"') == ["docs/deep/more.txt"]
    assert found(search, '"handling error everywhere"') == []
    assert sorted(found(search, "errors -java")) == ["docs/api.md", "docs/deep/more.txt", "lang/python.md"]


def test_where_no_document_has_all_words_those_with_some_are_shown(search):
    page = search.find("exceptions mentions")
    assert (sorted(hit.path for hit in page.hits), page.total, page.is_relaxed) == (
        ["docs/api.md", "lang/java.md"],
        2,
        True,
    )
    assert search.find("nowhere neither") == search.find("nowhere")


def test_only_the_given_folders_are_searched(search):
    assert found(search, "python", ["docs"]) == ["docs/api.md"]
    assert found(search, "error", ["docs/deep", "lang"]) == found(search, "error -api")
    assert found(search, "error", []) == []
    assert found(search, "python", ["doc"]) == []


def test_pages_of_hits_follow_each_other(search):
    whole = search.find("error", limit=10)
    assert whole.total == len(whole.hits) == 4
    parts = [search.find("error", limit=3, offset=offset) for offset in (0, 3, 6)]
    assert [hit for part in parts for hit in part.hits] == whole.hits
    assert [part.total for part in parts] == [4, 4, 4]


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (201, 0), (10, -1)])
def test_an_invalid_page_is_refused(search, limit, offset):
    with pytest.raises(InvalidArguments):
        search.find("error", limit=limit, offset=offset)


def test_words_in_too_many_documents_to_score_show_titles_first_and_lose_none(search, monkeypatch):
    monkeypatch.setattr(ranking, "MAX_RANKED", 1)
    assert sorted(found(search, "error")) == ["docs/api.md", "docs/deep/more.txt", "lang/java.md", "lang/python.md"]
    titled = search.find("python")
    assert [(hit.path, hit.score > 0) for hit in titled.hits] == [("lang/python.md", True), ("docs/api.md", False)]
    parts = [search.find("python", limit=1, offset=offset).hits for offset in (0, 1, 2)]
    assert parts == [titled.hits[:1], titled.hits[1:], []]
    assert found(search, "error names exceptions nowhere") == ["lang/java.md"]  # the rarer word


def test_every_change_of_a_file_is_seen_by_the_next_search(search, root):
    assert found(search, "zebra") == []
    (root / "lang" / "new.md").write_text("zebra")
    assert found(search, "zebra") == ["lang/new.md"]
    (root / "lang" / "new.md").write_text("tiger")  # as long, within the same tick
    assert (found(search, "zebra"), found(search, "tiger")) == ([], ["lang/new.md"])
    with (root / "lang" / "new.md").open("r+") as file:
        file.write("okapi")
        file.flush()
        assert found(search, "okapi") == ["lang/new.md"]
    (root / "lang" / "new.md").rename(root / "docs" / "moved.md")
    assert found(search, "okapi") == ["docs/moved.md"]
    (root / "docs").rename(root / "papers")
    assert found(search, "okapi") == ["papers/moved.md"]
    (root / "papers" / "moved.md").write_text("lemur")
    assert (found(search, "okapi"), found(search, "lemur")) == ([], ["papers/moved.md"])
    (root / "papers" / "moved.md").unlink()
    assert found(search, "lemur") == []


def test_a_change_through_a_hard_link_is_seen(search, root, tmp_path):
    os.link(root / "lang" / "java.md", tmp_path / "other")
    age(root, *root.rglob("*"))
    assert found(search, "zebra") == []
    (tmp_path / "other").write_text("zebra")
    assert found(search, "zebra") == ["lang/java.md"]


def test_many_changes_at_once_are_all_seen(search, root):
    assert found(search, "zebra") == []
    for number in range(300):
        (root / "lang" / f"n{number}.md").write_text("zebra")
    assert search.find("zebra").total == 300


def test_a_text_changed_in_a_folder_that_did_not_change_is_seen(search, root):
    age(root, *root.rglob("*"))
    assert found(search, "zebra") == []
    (root / "docs" / "deep" / "more.txt").write_text("zebra")
    assert found(search, "zebra") == ["docs/deep/more.txt"]


def test_after_lost_events_everything_is_checked(search, root, monkeypatch):
    age(root, *root.rglob("*"))
    assert found(search, "zebra") == []
    (root / "lang" / "java.md").write_text("zebra")
    lost = struct.pack("iIII", -1, 0x4000, 0, 0)  # IN_Q_OVERFLOW
    monkeypatch.setattr(search._watch, "_folders", {})
    real, answers = os.read, [lost]
    monkeypatch.setattr(os, "read", lambda fd, size: answers.pop() if answers and size == 65_536 else real(fd, size))
    assert found(search, "zebra") == ["lang/java.md"]


def test_an_index_is_used_again_and_only_changes_are_read(search, root, tmp_path, monkeypatch):
    assert found(search, "java") == ["lang/java.md"]
    search.close()
    age(*root.rglob("*"))
    second = SearchIndex(DocumentTree(root), tmp_path / "index" / "guide.db")
    second.find("java")  # now all stamps in it are reliable
    second.close()
    (root / "lang" / "java.md").write_text("zebra")
    tree, read = DocumentTree(root), list[str]()
    monkeypatch.setattr(tree, "read", lambda path: (read.append(path), DocumentTree(root).read(path))[1])
    third = SearchIndex(tree, tmp_path / "index" / "guide.db")
    assert (found(third, "zebra"), read) == (["lang/java.md"], ["lang/java.md"])
    third.close()


def age(*paths):
    newest = max(os.lstat(path).st_ctime_ns for path in paths)
    while search_module.time.time_ns() - newest <= 100_000_000:
        os.sched_yield()


@pytest.mark.parametrize("damage", ["garbage", "emptied", "cut", "no table", "another version", "copies"])
def test_a_broken_index_is_rebuilt(search, root, tmp_path, damage):
    assert found(search, "java") == ["lang/java.md"]
    search.close()
    path = tmp_path / "index" / "guide.db"
    if damage in ("garbage", "emptied", "cut"):
        path.write_bytes({"garbage": b"no database" * 1_000, "emptied": b"", "cut": path.read_bytes()[:5_000]}[damage])
    else:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(
                {
                    "no table": "DROP TABLE words",
                    "another version": "PRAGMA user_version = 99",
                    "copies": "UPDATE sections SET texts = x'00'",
                }[damage]
            )
        connection.close()
    second = SearchIndex(DocumentTree(root), path)
    assert found(second, "java") == ["lang/java.md"]
    second.close()


def test_an_index_of_another_version_is_rebuilt_while_another_process_reads_it(search, root, tmp_path):
    assert found(search, "java") == ["lang/java.md"]
    search.close()
    path = tmp_path / "index" / "guide.db"
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("PRAGMA user_version = 2")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM documents").fetchone()
    second = SearchIndex(DocumentTree(root), path)
    assert found(second, "java") == ["lang/java.md"]
    second.close()
    reader.close()


SYLLABLES = [f"{a}{b}{c}" for a in "bdfklmnprst" for b in ("a", "e", "ing", "or") for c in ("", "r", "tion", "ly", "m")]
IDEOGRAPHS = [chr(0x4E00 + 7 * number) for number in range(2000)]


@pytest.mark.parametrize(
    ("words", "weights", "separator", "largest"),
    [(SYLLABLES, None, " ", 1.5), (IDEOGRAPHS, [1 / (10 + number) for number in range(2000)], "", 2.4)],
    ids=["spaced", "unspaced"],
)
def test_the_index_of_small_documents_is_little_larger_than_they_are(tmp_path, words, weights, separator, largest):
    dice, root = random.Random(1), tmp_path / "root"
    root.mkdir()
    for number in range(1_000):
        text = separator.join(dice.choices(words, weights, k=150 if separator else 400))
        (root / f"{number}.md").write_text(
            f"---\ntitle: Document {number}\ntags: [a, b]\n---\n# Heading\n\n{text}\n", encoding="utf-8"
        )
    age(*root.iterdir())
    search = SearchIndex(DocumentTree(root), tmp_path / "index.db")
    search.refresh()
    search.close()
    size = sum(path.stat().st_size for path in root.iterdir())
    assert (tmp_path / "index.db").stat().st_size <= largest * size


def test_an_index_of_another_root_is_not_used(search, root, tmp_path):
    assert found(search, "java") == ["lang/java.md"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.md").write_text("java")
    other = SearchIndex(DocumentTree(tmp_path / "other"), tmp_path / "index" / "guide.db")
    assert found(other, "java") == ["a.md"]
    other.close()


def test_the_index_is_for_its_owner_alone(search, tmp_path):
    search.find("java")
    assert (tmp_path / "index" / "guide.db").stat().st_mode & 0o777 == 0o600


def test_an_index_that_cannot_be_written_is_an_error(root, tmp_path):
    (tmp_path / "folder.db").mkdir()
    search = SearchIndex(DocumentTree(root), tmp_path / "folder.db")
    with pytest.raises(Unavailable, match=r"cannot be written to '.*folder.db': Is a directory. Make the folder"):
        search.find("java")
    search.close()


def test_an_index_in_memory_needs_no_file(root):
    search = SearchIndex(DocumentTree(root))
    assert found(search, "java") == ["lang/java.md"]
    search.close()


def test_an_index_can_be_made_before_the_first_search(search, root, monkeypatch):
    age(root, *root.rglob("*"))
    search.refresh()
    monkeypatch.setattr(search._tree, "read", None)
    assert found(search, "java") == ["lang/java.md"]


def test_two_processes_share_an_index(search, root, tmp_path):
    other = SearchIndex(DocumentTree(root), tmp_path / "index" / "guide.db")
    assert found(search, "zebra") == found(other, "zebra") == []
    (root / "lang" / "java.md").write_text("zebra")
    assert found(other, "zebra") == found(search, "zebra") == ["lang/java.md"]
    (root / "lang" / "java.md").unlink()
    assert found(search, "zebra") == found(other, "zebra") == []
    other.close()


def test_threads_may_search_at_once(search, root):
    answers, lock = list[list[str]](), threading.Lock()

    def ask() -> None:
        for _ in range(10):
            answer = found(search, "naming")
            with lock:
                answers.append(answer)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [["lang/python.md", "docs/api.md", "lang/java.md"]] * 40


@settings(max_examples=examples(60))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a.md", "b/c.md", "b/d.md"]), st.sampled_from(["red", "green", "blue", "red green", None])
        ),
        max_size=6,
    )
)
def test_after_any_changes_the_index_is_what_the_files_say(tmp_path_factory, changes):
    root = tmp_path_factory.mktemp("changing")
    search, texts = SearchIndex(DocumentTree(root)), dict[str, str]()
    for path, text in changes:
        if text is None:
            (root / path).unlink(missing_ok=True)
            texts.pop(path, None)
        else:
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
            texts[path] = text
        for word in ("red", "green", "blue"):
            assert sorted(found(search, word)) == sorted(path for path, text in texts.items() if word in text)
    search.close()


class SlowTree(DocumentTree):
    """A tree that reads only as many documents as are `allowed`."""

    def __init__(self, root, allowed=0):
        super().__init__(root)
        self.allowed = threading.Semaphore(allowed)
        self.reads = list[str]()

    def read(self, path):
        assert self.allowed.acquire(timeout=60)
        self.reads.append(path)
        return super().read(path)


def test_a_search_does_not_wait_for_the_index_and_says_how_much_there_is(root, monkeypatch):
    monkeypatch.setattr(search_module, "WAIT", 0.01)
    tree = SlowTree(root)
    search = SearchIndex(tree)
    page = search.find("java")
    assert (page.hits, page.total, page.progress) == ([], 0, (0, 5))
    tree.allowed.release(100)
    search.refresh()
    page = search.find("java")
    assert ([hit.path for hit in page.hits], page.progress) == (["lang/java.md"], None)
    search.close()


def test_the_index_is_committed_in_batches_and_a_restart_continues(root, tmp_path, monkeypatch):
    monkeypatch.setattr(search_module, "WAIT", 0.01)
    monkeypatch.setattr(search_module, "_BATCH_SECONDS", 0.0)
    age(*root.rglob("*"))
    tree = SlowTree(root, allowed=2)
    search = SearchIndex(tree, tmp_path / "index.db")
    while search.find("java").progress != (2, 5):
        pass
    search._closing.set()
    tree.allowed.release()
    search.close()
    second = SlowTree(root, allowed=100)
    search = SearchIndex(second, tmp_path / "index.db")
    search.refresh()
    assert len(second.reads) == 3
    assert sorted(tree.reads[:2] + second.reads) == [
        "docs/api.md",
        "docs/deep/more.txt",
        "docs/logo.png",
        "lang/java.md",
        "lang/python.md",
    ]
    search.close()


def test_a_failure_of_the_update_is_an_error_of_the_search(tmp_path):
    search = SearchIndex(DocumentTree(tmp_path / "missing"))
    with pytest.raises(Unavailable, match=r"The document root '.*missing' does not exist"):
        search.find("java")
    search.close()
