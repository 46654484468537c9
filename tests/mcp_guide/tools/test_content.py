"""Reading, searching and listing documents."""

import base64
import errno
import json
import os
import shutil

import pytest

from mcp_guide.content.tokens import count_tokens
from tests.mcp_guide.guide_server import DOCUMENTS, build_guide, error, make_call, value, write_documents

PYTHON = {
    "success": True,
    "value": {"content": "# Python\n", "documents": ["lang/python.md"]},
    "message": "1 document.",
    "instruction": "Run ruff before you show code.",
}


async def paths(call, expression: str) -> list[str]:
    return (await value(call, "get_content", expression=expression))["documents"]


# ---- expressions ---------------------------------------------------------------------------------


@pytest.mark.requirement("GUI-1")
async def test_a_slash_is_the_same_as_two_arguments(call):
    assert await call("get_content", expression="lang/python") == (False, PYTHON)
    assert await call("get_content", expression="lang", pattern="python") == (False, PYTHON)


@pytest.mark.requirement("GUI-2")
async def test_a_plus_gives_the_documents_in_the_order_of_the_patterns_each_once(call):
    assert await paths(call, "lang/rust+python") == ["lang/rust.md", "lang/python.md"]
    assert await paths(call, "lang/python+py*+*.md") == ["lang/python.md", "lang/java.md", "lang/rust.md"]


@pytest.mark.requirement("GUI-3")
async def test_a_comma_gives_several_specifications_in_their_order(call):
    expected = ["lang/python.md", "docs/api.md", "guidelines/review.md"]
    assert await paths(call, "lang/python,docs/api,guidelines") == expected
    assert await paths(call, "guidelines,docs/api,lang/python,docs") == expected[::-1]


async def test_a_collection_gives_what_it_names(call):
    await value(call, "add_collection", name="start", expressions=["docs/api", "lang/python"])
    await value(call, "add_collection", name="all", expressions=["start", "guidelines"])
    assert await paths(call, "all") == ["docs/api.md", "lang/python.md", "guidelines/review.md"]


# ---- what comparable servers get wrong -----------------------------------------------------------


async def test_braces_keep_their_commas_and_a_folder_after_two_stars_matches(call, root):
    write_documents(root, {"docs/a/dir/x.md": "X\n", "docs/dir/y.md": "Y\n"})
    assert await paths(call, "lang/{python,rust}.md,docs/**/dir/*.md") == [
        "lang/python.md",
        "lang/rust.md",
        "docs/a/dir/x.md",
        "docs/dir/y.md",
    ]


async def test_no_match_is_an_error_that_suggests_similar_names(call):
    assert await error(call, "get_content", expression="lang/pyton") == (
        "NotFoundError",
        "No document matches 'lang/pyton' in the project 'default'. Did you mean 'lang/python.md'?",
    )
    assert await error(call, "get_content", expression="lnag") == (
        "NotFoundError",
        "The project 'default' has no category or collection 'lnag'. Did you mean 'lang'?",
    )


async def test_a_part_that_matches_nothing_is_named_in_the_message(call):
    failed, answer = await call("get_content", expression="lang/python,docs/nothing")
    assert (failed, answer["message"]) == (False, "1 document. Nothing matches docs/nothing.")
    _, answer = await call("get_content", expression="docs/api,lang/pyton")
    assert answer["message"] == "1 document. Nothing matches lang/pyton (did you mean 'lang/python.md'?)."


async def test_many_documents_come_in_pages_and_none_is_lost(call, root):
    names = [f"many/n{number:04}.md" for number in range(250)]
    write_documents(root, {name: f"{name}\n" for name in names})
    seen, cursor, remaining = [], None, []
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        failed, answer = await call("get_content", expression="many", budget=20_000, **more)
        assert not failed, answer
        seen += answer["value"]["documents"]
        remaining.append(answer["value"].get("remaining"))
        cursor = answer["value"].get("next_cursor")
        if cursor is None:
            break
        assert "remain: call again with the cursor" in answer["message"]
    assert (seen, remaining) == (names, [150, 50, None])


async def test_a_folder_of_more_than_4096_documents_loses_none(call, root):
    write_documents(root, {f"many/n{number}.md": "" for number in range(5_000)})
    listed = await value(call, "list_documents", expression="many", limit=1)
    assert listed["total"] == 5_000


async def test_a_file_in_another_encoding_does_not_fail_the_others(call, root):
    write_documents(root, {"lang/latin.md": "Größe\n".encode("cp1252"), "lang/logo.png": b"\x89PNG\x00\x01"})
    failed, answer = await call("get_content", expression="lang/latin+logo.png+python")
    assert not failed
    assert answer["value"]["documents"] == ["lang/latin.md", "lang/python.md"]
    assert "Größe" in answer["value"]["content"]
    assert answer["value"]["left_out"] == [{"path": "lang/logo.png", "reason": "The document is not text: 6 bytes."}]
    assert "1 cannot be shown." in answer["message"]
    listed = await value(call, "list_documents", expression="lang/logo.png")
    assert listed["documents"][0]["is_text"] is False


async def test_a_body_is_returned_as_written(call, root):
    body = "---\n# A rule, no YAML: <b>&amp;</b>\n---\n{{ name }} & <tag>\n"
    write_documents(root, {"docs/raw.md": body})
    assert (await value(call, "get_content", expression="docs/raw"))["content"] == body


# ---- front matter --------------------------------------------------------------------------------


async def test_instructions_of_documents_reach_the_agent_once_each(call, root):
    write_documents(
        root,
        {
            "rules/a.md": "---\ntype: instruction\ninstruction: Be brief.\n---\nA\n",
            "rules/b.md": "---\ntype: user\ninstruction: Be brief.\n---\nB\n",
            "rules/c.md": "---\ntype: agent\n---\nC\n",
        },
    )
    _, answer = await call("get_content", expression="rules")
    assert answer["instruction"] == (
        "Be brief. Follow the instructions in rules/a.md. Show rules/b.md to the user. "
        "rules/c.md is for you, not for the user."
    )


async def test_a_document_that_requires_a_flag_is_left_out_with_the_reason(call, root):
    write_documents(root, {"lang/tdd.md": "---\nrequires: [tdd]\n---\nTests first.\n"})
    reason = "It requires the flag tdd, which is not set."
    got = await value(call, "get_content", expression="lang/tdd+rust")
    assert (got["documents"], got["left_out"]) == (["lang/rust.md"], [{"path": "lang/tdd.md", "reason": reason}])
    kind, words = await error(call, "get_content", expression="lang/tdd")
    assert (kind, reason in words) == ("NotFoundError", True)
    for flag, shown in ((True, True), (False, False), ("yes", True), (None, False)):
        await value(call, "set_project_flag", flag="tdd", value=flag)
        failed, _ = await call("get_content", expression="lang/tdd")
        assert failed is not shown, flag


# ---- formats -------------------------------------------------------------------------------------


async def test_the_three_formats_have_the_same_documents(call):
    both = "lang/python,docs/api"
    plain = await value(call, "get_content", expression=both)
    mime = await value(call, "get_content", expression=both, format="mime")
    listed = await value(call, "get_content", expression=both, format="json")
    assert plain["documents"] == mime["documents"] == listed["documents"] == ["lang/python.md", "docs/api.md"]
    for text in (plain["content"], mime["content"]):
        assert text.index("# Python") < text.index("# API")
    assert "multipart/mixed" in mime["content"]
    assert [(one["path"], one["text"]) for one in listed["content"]] == [
        ("lang/python.md", "# Python\n"),
        ("docs/api.md", "# API\n"),
    ]


# ---- lists and search ----------------------------------------------------------------------------


async def test_without_an_expression_all_documents_are_listed_in_pages(call):
    first = await value(call, "list_documents", limit=3)
    rest = await value(call, "list_documents", limit=3, cursor=first["next_cursor"])
    assert (first["total"], rest["total"], "next_cursor" in rest) == (5, 5, False)
    listed = [one["path"] for one in (*first["documents"], *rest["documents"])]
    assert sorted(listed) == sorted(DOCUMENTS)


async def test_a_search_that_finds_nothing_says_what_to_try(call):
    failed, answer = await call("search_content", query="zebra")
    assert (failed, answer["message"]) == (
        False,
        "No document contains 'zebra'. Try other words, or list_documents.",
    )


async def test_several_documents_for_the_agent_are_named_in_the_plural(tmp_path):
    async with build_guide(tmp_path) as app:
        for name in ("a", "b"):
            (tmp_path / "docs" / "rules").mkdir(parents=True, exist_ok=True)
            (tmp_path / "docs" / "rules" / f"{name}.md").write_text("---\ntype: agent\n---\nText", encoding="utf-8")
        _, answer = await make_call(app)("get_content", expression="rules")
    assert answer["instruction"].startswith("rules/a.md, rules/b.md are for you, not for the user.")


async def test_an_empty_list_of_documents_says_what_to_do(tmp_path):
    async with build_guide(tmp_path) as app:
        call = make_call(app)
        _, answer = await call("list_documents")
        init = f"`mcp-guide init --docs-root {tmp_path / 'docs'}`"
        assert answer["message"] == f"No category exists yet. Create one with add_category, or run {init}."
        await value(call, "add_category", name="lang")
        _, answer = await call("list_documents")
        assert answer["message"].startswith("No document exists yet. Create one with create_document")
        assert answer["message"].endswith(f"or run {init}.")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_content", {"expression": "lang"}),
        ("list_documents", {"expression": "lang"}),
        ("list_documents", {}),
        ("search_content", {"query": "zebra"}),
        ("list_categories", {}),
        ("list_categories", {"name": "lang"}),
        ("change_category", {"name": "lang", "description": "x"}),
        (
            "create_document",
            {"category_dir": "lang", "name": "a", "content": "b", "explicit_action": "CREATE_DOCUMENT"},
        ),
        ("add_collection", {"name": "all", "expressions": ["lang"]}),
    ],
)
async def test_an_empty_guide_always_names_the_command_that_fills_this_folder(tmp_path, tool, arguments):
    root = tmp_path / "my docs"
    root.mkdir()
    async with build_guide(tmp_path, docs_root=root) as app:
        _, answer = await make_call(app)(tool, **arguments)
    said = answer.get("error") or answer["message"]
    assert said.endswith(
        f"No category exists yet. Create one with add_category, or run `mcp-guide init --docs-root '{root}'`."
    )


async def test_a_search_finds_words_and_sees_changes_at_once(call, root):
    assert [hit["path"] for hit in (await value(call, "search_content", query="review"))["hits"]] == [
        "guidelines/review.md"
    ]
    write_documents(root, {"docs/zebra.md": "All about zebras.\n"})
    assert [hit["path"] for hit in (await value(call, "search_content", query="zebras"))["hits"]] == ["docs/zebra.md"]
    (root / "docs" / "zebra.md").unlink()
    assert await value(call, "search_content", query="zebras") == {"hits": [], "total": 0}


async def test_a_search_continues_with_its_cursor(call, root):
    write_documents(root, {f"docs/z{number}.md": f"zebra {number}\n" for number in range(5)})
    first = await value(call, "search_content", query="zebra", limit=3)
    rest = await value(call, "search_content", query="zebra", limit=3, cursor=first["next_cursor"])
    found = {hit["path"] for hit in (*first["hits"], *rest["hits"])}
    assert (found, first["total"], "next_cursor" in rest) == ({f"docs/z{n}.md" for n in range(5)}, 5, False)


@pytest.mark.parametrize("cursor", ["x", "-1", "9" * 400, base64.b64encode(b"[]").decode()])
async def test_an_invalid_cursor_is_refused(call, cursor):
    for tool, more in (
        ("get_content", {"expression": "lang"}),
        ("list_documents", {}),
        ("search_content", {"query": "a"}),
    ):
        kind, words = await error(call, tool, cursor=cursor, **more)
        assert (tool, kind) == (tool, "ValidationError"), words


async def test_a_folder_in_another_unicode_form_is_a_category(call, root):
    write_documents(root, {"Cafe\u0301/the\u0301.md": "Tea\n"})
    assert (await value(call, "get_content", expression="Caf\u00e9/th\u00e9"))["content"] == "Tea\n"


# ---- paths and errors ----------------------------------------------------------------------------


async def test_every_path_that_is_returned_can_be_read(call, root, tmp_path):
    (tmp_path / "guide.yaml").write_text(
        "projects: {default: {folders: false, categories: {rules: {dir: team/rules}, other: {dir: lang}}}}"
    )
    names = ["a.md", "c++.md", "a,b.md", "[x].md", "{y}.md", "deep/z.md"]
    write_documents(root, {f"team/rules/{name}": f"zebra {name}\n" for name in names})
    listed = [one["path"] for one in (await value(call, "list_documents"))["documents"]]
    hits = [hit["path"] for hit in (await value(call, "search_content", query="zebra", limit=10))["hits"]]
    assert sorted(hits) == sorted(f"rules/{name}" for name in names) == sorted(p for p in listed if "rules" in p)
    for path in hits:
        got = await value(call, "get_content", expression=path)
        assert (got["documents"], got["content"]) == ([path], f"zebra {path.removeprefix('rules/')}\n")
    created = await value(
        call, "create_document", category_dir="rules", name="new", content="New", explicit_action="CREATE_DOCUMENT"
    )
    assert (await value(call, "get_content", expression=created["path"]))["content"] == "New"


async def test_documents_directly_in_the_root_are_reached(call, root):
    write_documents(
        root, {"README.md": "# Readme zebra\n", "lang.md": "# All languages\n", "deep.d/x!/y.md": "zebra\n"}
    )
    for expression in ("./README.md", "./README", ".", "./README+lang"):
        got = await value(call, "get_content", expression=expression)
        assert got["documents"] == ["./README.md", "./lang.md"][: 2 if expression in (".", "./README+lang") else 1]
    assert (await value(call, "get_content", expression="./lang"))["content"] == "# All languages\n"
    assert (await value(call, "get_content", expression="lang/python"))["documents"] == ["lang/python.md"]
    listed = await value(call, "list_documents")
    assert [one["path"] for one in listed["documents"]].count("./README.md") == 1
    assert listed["total"] == len(DOCUMENTS) + 3
    assert (await value(call, "get_content", expression="README"))["documents"] == ["./README.md"]
    for hit in (await value(call, "search_content", query="zebra"))["hits"]:
        assert (await value(call, "get_content", expression=hit["path"]))["documents"] == [hit["path"]]
    made = {"category_dir": ".", "name": "new", "content": "New\n", "explicit_action": "CREATE_DOCUMENT"}
    assert (await value(call, "create_document", **made))["path"] == "./new.md"
    assert (root / "new.md").read_text() == "New\n"
    categories = (await value(call, "list_categories"))["categories"]
    assert categories[-1] == {"name": ".", "dir": ".", "patterns": ["*"], "description": "The documents in no folder."}


async def test_a_category_can_have_the_root_as_its_folder(call, root):
    write_documents(root, {"README.md": "# Readme\n"})
    await value(call, "add_category", name="all", dir=".", patterns=["*", "lang/*"])
    got = await value(call, "get_content", expression="all")
    assert got["documents"] == ["all/README.md", "all/lang/java.md", "all/lang/python.md", "all/lang/rust.md"]
    assert (await value(call, "get_content", expression="all/README.md"))["content"] == "# Readme\n"
    (hit,) = (await value(call, "search_content", query="readme"))["hits"]
    assert (await value(call, "get_content", expression=hit["path"]))["content"] == "# Readme\n"


async def test_a_missing_document_root_is_an_error_everywhere(call, root):
    shutil.rmtree(root)
    for tool, more in (
        ("get_content", {"expression": "lang"}),
        ("list_documents", {}),
        ("list_documents", {"expression": "lang"}),
        ("search_content", {"query": "python"}),
        ("list_categories", {}),
    ):
        kind, words = await error(call, tool, **more)
        assert (kind, words.startswith(f"The document root '{root}' does not exist.")) == ("UnavailableError", True)
        assert f"mcp-guide init --docs-root {root}" in words


@pytest.mark.parametrize("place", ["document", "folder", "category"])
async def test_what_cannot_be_read_is_named_and_nothing_else_fails(call, root, monkeypatch, place):
    write_documents(root, {"lang/deep/x.md": "X\n"})
    blocked = {"document": "java.md", "folder": "deep", "category": "lang"}[place]
    real = os.open

    def open_unless_blocked(path, flags, *arguments, **named):
        if path == blocked:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, flags, *arguments, **named)

    monkeypatch.setattr(os, "open", open_unless_blocked)
    path = {"document": "lang/java.md", "folder": "lang/deep/", "category": "lang/"}[place]
    for tool, more in (("get_content", {"expression": "lang,docs"}), ("list_documents", {})):
        got = await value(call, tool, **more)
        assert [(one["path"], "ermission" in one["reason"]) for one in got["left_out"]] == [(path, True)]
        assert "docs/api.md" in str(got["documents"])
        assert ("lang/python.md" in str(got["documents"])) == (place != "category")
    assert (await value(call, "search_content", query="api"))["total"] == 1


async def test_an_unknown_part_is_named_while_the_rest_comes(call):
    failed, answer = await call("get_content", expression="lang/python,nothing,docs")
    assert (failed, answer["value"]["documents"]) == (False, ["lang/python.md", "docs/api.md"])
    assert answer["message"] == "2 documents. Nothing matches nothing."


async def test_the_name_or_the_title_of_a_document_alone_is_enough_if_it_is_the_only_one(call, root):
    for guess in ("python", "Python", "PYTHON", "python.md", "guide://lang/python.md", str(root / "lang/python.md")):
        assert (await value(call, "get_content", expression=guess))["documents"] == ["lang/python.md"], guess
    write_documents(root, {"docs/python.md": "# API\n"})
    kind, words = await error(call, "get_content", expression="python")
    assert (kind, "'docs/python.md' or 'lang/python.md'" in words) == ("NotFoundError", True)


@pytest.mark.parametrize("format", ["plain", "mime", "json"])
async def test_an_answer_never_exceeds_its_budget_and_nothing_is_lost(tmp_path, root, format):
    large = "".join(f'line {number} "quoted" \\ ä\n' for number in range(3_000)) + "x" * 30_000
    write_documents(root, {"big/a.md": "first\n", "big/b.md": large, "big/c.md": "last\n", "big/b.png": b"\x89\0"})
    async with build_guide(tmp_path) as app:
        texts, cursor, pages = {}, {}, 0
        while cursor is not None:
            answer = await app.call("get_content", {"expression": "big", "budget": 2_000, "format": "json", **cursor})
            sized = await app.call("get_content", {"expression": "big", "budget": 2_000, "format": format, **cursor})
            assert count_tokens(sized.text) <= 2_000
            got = json.loads(answer.text)["value"]
            for one in got["content"]:
                texts[one["path"]] = texts.get(one["path"], "") + one["text"]
            cursor = {"cursor": got["next_cursor"]} if "next_cursor" in got else None
            pages += 1
        assert texts == {"big/a.md": "first\n", "big/b.md": large, "big/c.md": "last\n"}
        assert pages < 80


async def test_documents_that_cannot_be_shown_take_no_place_on_a_page(call, root):
    write_documents(root, {f"many/a{number:02}.png": b"\x89\0" for number in range(60)})
    write_documents(root, {f"many/b{number:02}.md": "text\n" for number in range(60)})
    got = await value(call, "get_content", expression="many", budget=8_000)
    assert (len(got["documents"]), len(got["left_out"]), "next_cursor" in got) == (60, 60, False)


async def test_a_part_that_matches_nothing_is_named(call):
    failed, answer = await call("get_content", expression="lang/swift+rust")
    assert (failed, answer["value"]["documents"]) == (False, ["lang/rust.md"])
    assert answer["message"] == "1 document. Nothing matches lang/swift."


async def test_a_list_shows_the_first_heading_of_a_document_without_a_title(call, root):
    write_documents(root, {"plain/a.md": "Text\n\n# The heading\n", "plain/b.txt": "No heading\n"})
    listed = await value(call, "list_documents", expression="plain")
    assert [document["title"] for document in listed["documents"]] == ["The heading", "b"]


LONG = "# Guide\n\nAbout.\n\n" + "".join(
    f"## Part {number}\n\n{'Something else entirely. ' * 60}\n\n" for number in range(40)
).replace("Something", "Retry with a backoff. Something", 1)


@pytest.mark.requirement("GDL-1")
async def test_sections_are_read_by_their_ids_and_headings(call, root):
    write_documents(root, {"docs/long.md": LONG, "docs/c#.md": "# C sharp\n\n## Part\n"})
    part = f"## Part 7\n\n{'Something else entirely. ' * 60}".rstrip() + "\n"
    for arguments in (
        {"expression": "docs/long#part-7"},
        {"expression": "docs/long.md#Part 7"},
        {"path": "docs/long", "section": "Part 7"},
        {"expression": "long#part-7"},
    ):
        got = await value(call, "get_content", **arguments)
        assert got == {"content": part, "documents": ["docs/long.md#part-7"]}, arguments
    both = await value(call, "get_content", expression="docs/long#part-7#part-9,lang/rust")
    assert both["documents"] == ["docs/long.md#part-7#part-9", "lang/rust.md"]
    assert (await value(call, "get_content", expression="docs/c#"))["documents"] == ["docs/c#.md"]
    kind, words = await error(call, "get_content", expression="docs/long#partt-7")
    assert (kind, "'#part-7'" in words) == ("NotFoundError", True)


@pytest.mark.requirement("GDL-1")
async def test_a_long_document_comes_as_its_outline_or_its_best_parts(call, root):
    write_documents(root, {"docs/long.md": LONG})
    got = await value(call, "get_content", expression="docs/long")
    assert count_tokens(got["content"]) < 1_500
    assert "About." in got["content"]
    assert "#part-39 Part 39 (" in got["content"]
    got = await value(call, "get_content", expression="docs/long", query="how do I retry?")
    assert got["documents"] == ["docs/long.md#part-0"]
    text, cursor = "", (await value(call, "get_content", expression="docs/long"))["next_cursor"]
    while cursor:
        got = await value(call, "get_content", expression="docs/long", cursor=cursor)
        text, cursor = text + got["content"], got.get("next_cursor")
    assert text == LONG


@pytest.mark.requirement("GDL-1")
async def test_a_search_finds_the_section_that_can_be_read_as_it_is(call, root):
    write_documents(root, {"docs/long.md": LONG})
    hit = (await value(call, "search_content", query="retries with backoffs"))["hits"][0]
    assert (hit["path"], hit["title"], hit["heading"]) == ("docs/long.md#part-0", "Guide", "Part 0")
    got = await value(call, "get_content", expression=hit["path"])
    assert got["documents"] == [hit["path"]]
    assert "backoff" in got["content"]


async def test_a_page_is_filled_with_the_beginning_of_the_next_document(call, root):
    write_documents(
        root,
        {"packed/a.md": "word " * 500, "packed/b.md": "## One\n\n" + "word " * 400 + "\n\n## Two\n\n" + "word " * 900},
    )
    got = await value(call, "get_content", expression="packed", budget=1_600)
    assert got["documents"] == ["packed/a.md", "packed/b.md"]
    assert got["content"].endswith("word")
    assert "## Two" not in got["content"]


async def test_markdown_is_a_block_of_its_own(app, call):
    answer = await app.call("get_content", {"expression": "docs/api", "format": "markdown"})
    blocks = answer.content()
    assert [block["type"] for block in blocks] == ["text", "text"]
    assert (json.loads(blocks[0]["text"])["value"], blocks[1]["text"]) == ({"documents": ["docs/api.md"]}, "# API\n")


async def test_a_search_without_hits_says_which_word_is_near(call, root):
    write_documents(root, {"docs/more.md": "The zebra.\n"})
    _, answer = await call("search_content", query="zebrra")
    assert (answer["value"]["total"], answer["message"]) == (0, "No document contains 'zebrra'. Did you mean 'zebra'?")
