import os
import threading
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_core.errors import Conflict, InvalidArguments, NotFound, PermissionDenied, ToolError, Unavailable
from mcp_guide.content import files as files_module
from mcp_guide.content import folders as folders_module
from mcp_guide.content import tree as tree_module
from mcp_guide.content.files import Stamp
from mcp_guide.content.patterns import compile_patterns
from mcp_guide.content.tree import DocumentTree
from tests.thorough import examples


@pytest.fixture
def tree(tmp_path):
    for path in ("lang/python.md", "lang/java.md", "lang/web/css.md", "docs/api/v1/users.md", "docs/api/index.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"This is {path}")
    return DocumentTree(tmp_path)


def paths(tree, folder, *patterns):
    return [entry.path for entry in tree.match(folder, patterns)]


def age(*paths):
    """Wait until these have been unchanged for a while: the change time of a file cannot be set."""
    newest = max(max(os.lstat(path).st_ctime_ns, os.lstat(path).st_mtime_ns) for path in paths)
    while time.time_ns() - newest <= 100_000_000:
        os.sched_yield()


def test_documents_are_matched_below_their_folder(tree):
    assert paths(tree, "lang", "python") == ["lang/python.md"]
    assert paths(tree, "lang", "*.md") == ["lang/java.md", "lang/python.md"]
    assert paths(tree, "lang", "**/*.md", "python") == ["lang/java.md", "lang/python.md", "lang/web/css.md"]
    assert paths(tree, "docs", "**/users") == ["docs/api/v1/users.md"]
    assert paths(tree, "docs", "api/") == ["docs/api/index.md", "docs/api/v1/users.md"]
    assert paths(tree, "docs/api", "*/users", "index") == ["docs/api/v1/users.md", "docs/api/index.md"]
    assert paths(tree, "", "**/css") == ["lang/web/css.md"]
    assert paths(tree, ".", "missing/x", "**/nothing") == []
    assert tree.folders() == ["docs", "lang"]
    assert tree.folders("docs") == ["docs/api"]


def test_an_entry_says_how_large_and_how_old_it_is(tree, tmp_path):
    entry = tree.entry("lang/python.md")
    assert (entry.path, entry.size, entry.is_text) == ("lang/python.md", 22, True)
    assert entry.modified == (tmp_path / "lang/python.md").stat().st_mtime
    assert tree.entry("lang/python") == entry


def test_an_entry_that_is_gone_is_not_found(tree, tmp_path):
    entry = tree.entry("lang/python.md")
    (tmp_path / "lang/python.md").unlink()
    with pytest.raises(NotFound):
        _ = entry.size


def test_a_document_is_read_by_its_path_or_stem(tree):
    assert tree.read("lang/python.md").text == "This is lang/python.md"
    assert tree.read("lang/python") == tree.read("lang/python.md")


def test_a_stem_of_two_documents_is_a_conflict(tree, tmp_path):
    (tmp_path / "lang/python.txt").write_text("")
    with pytest.raises(Conflict) as refused:
        tree.read("lang/python")
    assert str(refused.value) == (
        "Several documents are named 'lang/python': 'lang/python.md', 'lang/python.txt'. "
        "Use the name with its extension."
    )


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("lang/pyhton", "The document 'lang/pyhton' does not exist. Did you mean 'lang/python.md'?"),
        ("lang/css", "The document 'lang/css' does not exist. Did you mean 'lang/web/css.md'?"),
        ("lang/web", "The document 'lang/web' does not exist. Did you mean 'lang/web/'?"),
        ("nowhere/x", "The document 'nowhere/x' does not exist. The folder 'nowhere' does not exist."),
        (
            "lang/python.md/x",
            "The document 'lang/python.md/x' does not exist: a part of its path is a link or not a folder.",
        ),
    ],
)
def test_a_missing_document_suggests_similar_ones(tree, path, error):
    with pytest.raises(NotFound) as refused:
        tree.read(path)
    assert str(refused.value) == error


@pytest.mark.parametrize(
    ("wanted", "similar"),
    [
        ("pyhton*", ["lang/python.md"]),
        ("api/usres.md", ["docs/api/v1/users.md"]),
        ("web", ["lang/web/"]),
        ("ind", ["docs/api/index.md"]),
        ("**", []),
        ("zzz", []),
    ],
)
def test_similar_names_are_found_at_any_depth(tree, wanted, similar):
    assert tree.similar(wanted) == similar


def test_a_missing_folder_suggests_similar_ones(tree):
    with pytest.raises(NotFound) as refused:
        tree.match("lnag", ["*"])
    assert str(refused.value) == "The document folder 'lnag' does not exist. Did you mean 'lang'?"


def test_a_missing_root_is_not_an_empty_one(tmp_path):
    tree = DocumentTree(tmp_path / "none")
    for look in (lambda: tree.match("", ["*"]), lambda: tree.read("x"), tree.folders):
        with pytest.raises(Unavailable, match=r"does not exist\. Create it with `mcp-guide init --docs-root /.*/none`"):
            look()


def test_changes_are_seen_on_the_next_call(tree, tmp_path):
    lang = tmp_path / "lang"
    age(lang, tmp_path, lang / "web", lang / "python.md")
    assert paths(tree, "lang", "**") == ["lang/java.md", "lang/python.md", "lang/web/css.md"]
    assert tree.read("lang/python.md").text == "This is lang/python.md"
    (lang / "new.md").write_text("new")
    (lang / "java.md").unlink()
    (lang / "web" / "css.md").rename(lang / "web" / "style.md")
    (lang / "more").mkdir()
    (lang / "more" / "x.md").write_text("x")
    (lang / "python.md").write_text("This is lang/PYTHON.md")  # as long as before
    assert paths(tree, "lang", "**") == ["lang/more/x.md", "lang/new.md", "lang/python.md", "lang/web/style.md"]
    assert tree.read("lang/python.md").text == "This is lang/PYTHON.md"


def test_changes_within_a_tick_of_the_clock_are_seen(tree, tmp_path):
    for number in range(300):
        (tmp_path / "lang" / f"{number}.md").write_text("a")
        assert paths(tree, "lang", str(number)) == [f"lang/{number}.md"]
        assert tree.read(f"lang/{number}.md").text == "a"
        (tmp_path / "lang" / f"{number}.md").write_text("b")
        assert tree.read(f"lang/{number}.md").text == "b"
        (tmp_path / "lang" / f"{number}.md").unlink()
        assert paths(tree, "lang", str(number)) == []


def test_changes_that_leave_no_trace_in_the_times_are_seen(tree, tmp_path, monkeypatch):
    def of_a_stopped_clock(status):
        return Stamp(0, 0, status.st_size, status.st_ino, status.st_dev)

    monkeypatch.setattr(tree_module, "stamp", of_a_stopped_clock)
    monkeypatch.setattr(files_module, "stamp", of_a_stopped_clock)
    monkeypatch.setattr(folders_module, "stamp", of_a_stopped_clock)
    path = tmp_path / "lang" / "new.md"
    assert paths(tree, "lang", "new") == []
    path.write_text("a")
    assert (paths(tree, "lang", "new"), tree.read("lang/new.md").text) == (["lang/new.md"], "a")
    path.write_text("b")
    assert tree.read("lang/new.md").text == "b"
    path.unlink()
    assert paths(tree, "lang", "new") == []


def test_a_folder_with_a_reliable_stamp_is_not_listed_again(tree, tmp_path, monkeypatch):
    age(tmp_path, *(path for path in tmp_path.rglob("*")))
    first = paths(tree, "", "**")
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", None)
        assert paths(tree, "", "**") == first
        assert tree.read("lang/python") == tree.read("lang/python.md")


def test_old_temporary_files_of_a_killed_process_are_deleted_and_no_others(tree, tmp_path):
    ours, new, others = f".mcp-guide-{'a' * 24}.tmp", f".mcp-guide-{'b' * 24}.tmp", (".mcp-guide-x.tmp", ".x.tmp")
    for name in (ours, new, *others):
        (tmp_path / "lang" / name).write_text("half")
        if name != new:
            os.utime(tmp_path / "lang" / name, (0, 0))
    tree.match("lang", ("*",))
    assert {path.name for path in (tmp_path / "lang").iterdir() if path.name[0] == "."} == {new, *others}


def test_links_hidden_names_and_devices_are_ignored(tree, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "folder" / "x.md").write_text("secret")
    (tmp_path / "lang" / "out.md").symlink_to(outside / "folder" / "x.md")
    (tmp_path / "lang" / "in.md").symlink_to(tmp_path / "lang" / "python.md")
    (tmp_path / "lang" / "outside").symlink_to(outside)
    (tmp_path / "lang" / "loop").symlink_to(tmp_path / "lang")
    (tmp_path / "lang" / ".hidden.md").write_text("hidden")
    (tmp_path / "lang" / ".git").mkdir()
    (tmp_path / "lang" / ".git" / "x.md").write_text("hidden")
    os.mkfifo(tmp_path / "lang" / "pipe.md")
    (tmp_path / "lang" / "line\nbreak.md").write_text("x")
    os.close(os.open(os.fsencode(tmp_path / "lang") + b"/\xff.md", os.O_CREAT | os.O_WRONLY))
    assert paths(tree, "", "**") == [
        "docs/api/index.md",
        "docs/api/v1/users.md",
        "lang/java.md",
        "lang/python.md",
        "lang/web/css.md",
    ]
    for path in ("lang/out.md", "lang/in.md", "lang/outside/folder/x.md", "lang/loop/python.md", "lang/pipe.md"):
        with pytest.raises(NotFound):
            tree.read(path)
    for path in ("lang/.hidden.md", "lang/.git/x.md", "../x", "/etc/passwd", "lang/line\nbreak.md"):
        with pytest.raises(InvalidArguments):
            tree.read(path)
    for folder in ("lang/outside", "lang/loop"):
        with pytest.raises(NotFound):
            tree.match(folder, ["**"])
    assert paths(tree, "lang", "outside/folder/*", "loop/*") == []


def test_a_folder_that_became_a_link_is_ignored(tree, tmp_path):
    age(tmp_path, *(path for path in tmp_path.rglob("*")))
    assert paths(tree, "", "lang/web/*", "**/css") == ["lang/web/css.md"]
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    (tmp_path / "lang").rename(elsewhere)  # the same folders, with the same inodes and times
    (tmp_path / "lang").symlink_to(elsewhere)
    assert paths(tree, "", "lang/web/*", "**/css") == []


def test_an_unreadable_folder_is_reported_and_the_others_are_listed(tree, tmp_path, monkeypatch):
    real = os.open

    def refusing(path, flags, *rest, **more):
        if path == "web":
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refusing)  # the tests may run as root, who may read everything
    assert paths(tree, "lang", "**") == ["lang/java.md", "lang/python.md"]
    assert tree.unreadable() == {"lang/web": "Permission denied"}
    with pytest.raises(PermissionDenied):
        tree.read("lang/web/css.md")


def test_documents_are_created_replaced_and_deleted(tree, tmp_path):
    tree.create("notes/deep/new.md", "one")
    assert tree.read("notes/deep/new").text == "one"
    with pytest.raises(Conflict) as refused:
        tree.create("notes/deep/new.md", "two")
    assert str(refused.value) == "'notes/deep/new.md' already exists. Replace it, or choose another name."
    tree.replace("notes/deep/new.md", "three é")
    assert tree.read("notes/deep/new.md").text == "three é"
    tree.delete("notes/deep/new.md")
    assert paths(tree, "notes", "**") == []
    for change in (lambda: tree.replace("notes/deep/new.md", "x"), lambda: tree.delete("notes/deep/new.md")):
        with pytest.raises(NotFound):
            change()
    assert list((tmp_path / "notes" / "deep").iterdir()) == []


@pytest.mark.parametrize("text", ["x" * 4_000_001, "half a character: \ud800"])
def test_a_text_that_cannot_be_written_is_refused(tree, text):
    with pytest.raises(InvalidArguments):
        tree.create("lang/new.md", text)
    assert paths(tree, "lang", "new") == []


def test_a_folder_of_many_documents_loses_none(tmp_path):
    for number in range(5_000):
        (tmp_path / f"n{number}.md").touch()
    assert len(DocumentTree(tmp_path).match("", ["*.md"])) == 5_000


def test_a_document_too_large_to_read_says_so(tree, tmp_path):
    with (tmp_path / "lang" / "huge.md").open("wb") as file:
        file.truncate(5_000_000)
    document = tree.read("lang/huge")
    assert (document.text, document.is_text, document.size) == (None, None, 5_000_000)
    assert document.warnings == ("The document has 5,000,000 bytes, more than the limit of 4,000,000.",)


@settings(max_examples=examples(300))
@given(
    st.lists(
        st.sampled_from(["..", ".", "", "lang", "python.md", "root", ".git", "~", "\0", "\\", "n" * 300]), max_size=6
    )
    .map("/".join)
    .flatmap(lambda path: st.sampled_from([path, f"/{path}", f"{path}/"]))
)
@pytest.mark.requirement("GUI-11")
def test_no_path_reaches_outside(hostile_tree, path):
    tree, outside, before = hostile_tree
    for attempt in (
        lambda: tree.read(path),
        lambda: tree.match(path, ["**"]),
        lambda: tree.match("", [path]),
        lambda: tree.match("lang", [f"{path}**"]),
        lambda: tree.delete(path),
        lambda: tree.replace(path, "x"),
    ):
        try:
            found = attempt()
        except ToolError:
            continue
        for entry in found if isinstance(found, list) else [found] if found else []:
            assert entry.path in ("lang/python.md", "root/python.md")
    assert {p: p.read_bytes() for p in outside.rglob("*") if p.is_file()} == before
    for missing in ("lang/python.md", "root/python.md"):
        try:
            tree.create(missing, "public")
        except Conflict:
            tree.replace(missing, "public")


@pytest.fixture(scope="module")
def hostile_tree(tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    for path in ("python.md", "lang/python.md", ".git"):
        (outside / path).parent.mkdir(exist_ok=True)
        (outside / path).write_text("secret")
    (outside / "lang" / "root").mkdir()
    inner = tmp_path_factory.mktemp("inner") / "root"
    inner.mkdir()
    tree = DocumentTree(inner)
    tree.create("lang/python.md", "public")
    tree.create("root/python.md", "public")
    return tree, outside, {p: p.read_bytes() for p in outside.rglob("*") if p.is_file()}


@settings(max_examples=examples(150))
@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "c.md", "a.md"]), min_size=1, max_size=4).map("/".join), max_size=8),
    st.lists(
        st.lists(st.sampled_from(["a", "*", "**", "c.md", "?", "{a,b}", "*.md"]), min_size=1, max_size=4).map("/".join),
        min_size=1,
        max_size=3,
    ),
)
def test_a_tree_finds_exactly_the_documents_that_match(tmp_path_factory, documents, patterns):
    root = tmp_path_factory.mktemp("laws")
    for path in documents:
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch()
        except OSError:  # a document where another needs a folder
            continue
    matches = compile_patterns(tuple(patterns)).matches
    everything = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    assert sorted(paths(DocumentTree(root), "", *patterns)) == sorted(path for path in everything if matches(path))


def test_threads_may_share_a_tree(tree, tmp_path):
    failures = list[BaseException]()

    def work(number: int) -> None:
        try:
            for turn in range(30):
                path = f"t{number}/n{turn}.md"
                tree.create(path, "text")
                assert paths(tree, "", f"**/t{number}/n{turn}") == [path]
                assert tree.read(path).text == "text"
                tree.delete(path)
        except BaseException as failure:  # noqa: BLE001 - carried to the thread that asserts
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_stem_with_a_dot_is_found_and_an_exact_name_comes_alone(tmp_path):
    (tmp_path / "lang").mkdir()
    (tmp_path / "lang" / "node.js.md").write_text("md")
    tree = DocumentTree(tmp_path)
    assert [entry.path for entry in tree.match("lang", ("node.js",))] == ["lang/node.js.md"]
    assert tree.read("lang/node.js").path == "lang/node.js.md"
    (tmp_path / "lang" / "node.js").write_text("js")
    assert [entry.path for entry in tree.match("lang", ("node.js",))] == ["lang/node.js"]


def test_documents_come_in_the_order_of_the_patterns(tmp_path):
    for name in ("java", "python", "rust", "zig"):
        (tmp_path / f"{name}.md").write_text("")
    tree = DocumentTree(tmp_path)
    for patterns, names in (
        (("rust", "python"), ["rust.md", "python.md"]),
        (("rust", "*.md"), ["rust.md", "java.md", "python.md", "zig.md"]),
        (("z*", "[j-r]*", "zig"), ["zig.md", "java.md", "python.md", "rust.md"]),
    ):
        assert [entry.path for entry in tree.match("", patterns)] == names


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("typed", ["NFC", "NFD"])
def test_names_are_compared_in_one_unicode_form(tmp_path, stored, typed):
    folder, name = (unicodedata.normalize(stored, text) for text in ("Größe", "café.md"))
    (tmp_path / "lang" / folder).mkdir(parents=True)
    (tmp_path / "lang" / folder / name).write_text("au lait")
    tree = DocumentTree(tmp_path)
    path = f"lang/{folder}/{name}"
    for pattern in ("Größe/café", "Größe/café.md", "Größe/c?f[é]*", "**/café", "Größe/"):
        assert [entry.path for entry in tree.match("lang", (unicodedata.normalize(typed, pattern),))] == [path], pattern
    for text in ("lang/Größe/café", "lang/Größe/café.md"):
        assert tree.read(unicodedata.normalize(typed, text)).path == path
        assert tree.entry(unicodedata.normalize(typed, text)).path == path
