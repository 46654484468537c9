"""Creating, updating and deleting documents."""

import json

import pytest

from mcp_core import Request
from tests.mcp_guide.guide_server import error, value

CREATE = {"category_dir": "lang", "name": "go", "content": "# Go\n", "explicit_action": "CREATE_DOCUMENT"}


@pytest.mark.requirement("GUI-5")
async def test_a_document_is_created_updated_and_deleted_as_a_file(call, root):
    file = root / "lang" / "go.md"
    assert await value(call, "create_document", **CREATE) == {"path": "lang/go.md", "size": 5}
    assert file.read_text() == "# Go\n"
    assert (await value(call, "get_content", expression="lang/go"))["content"] == "# Go\n"
    changed = {"path": "lang/go.md", "old_text": "Go", "new_text": "Go 2", "explicit_action": "UPDATE_DOCUMENT"}
    assert (await value(call, "update_document", **changed))["diff"] == "-# Go\n+# Go 2"
    assert (await value(call, "get_content", expression="lang/go"))["content"] == "# Go 2\n"
    gone = {"category_dir": "lang", "name": "go.md", "explicit_action": "DELETE_DOCUMENT"}
    assert await value(call, "delete_document", **gone) == {"path": "lang/go.md"}
    assert not file.exists()
    assert (await error(call, "get_content", expression="lang/go"))[0] == "NotFoundError"


@pytest.mark.requirement("GUI-5")
@pytest.mark.parametrize("tool", ["create_document", "update_document", "delete_document"])
async def test_nothing_happens_without_the_exact_literal(call, root, tool):
    before = {path: path.read_bytes() for path in root.rglob("*.md")}
    arguments = {"category_dir": "lang", "name": "python.md"} | (
        {} if tool == "delete_document" else {"content": "gone"}
    )
    for words in ({}, {"explicit_action": "yes"}, {"explicit_action": tool}, {"explicit_action": "DELETE_PROJECT"}):
        kind, said = await error(call, tool, **arguments, **words)
        assert (kind, "explicit_action" in said) == ("ValidationError", True)
    assert {path: path.read_bytes() for path in root.rglob("*.md")} == before


async def test_creating_never_overwrites_a_document(call, root):
    kind, words = await error(call, "create_document", **{**CREATE, "name": "python"})
    assert (kind, "lang/python.md" in words) == ("ConflictError", True)
    assert (root / "lang" / "python.md").read_text().endswith("# Python\n")


async def test_a_category_is_found_by_its_name_or_its_folder(call, root):
    await value(call, "add_category", name="decisions", dir="docs/adr")
    for number, named in enumerate(("decisions", "docs/adr", "docs/adr/")):
        made = await value(call, "create_document", **{**CREATE, "category_dir": named, "name": f"{number}.md"})
        assert made["path"] == f"decisions/{number}.md"
    assert len(list((root / "docs" / "adr").iterdir())) == 3
    kind, words = await error(call, "create_document", **{**CREATE, "category_dir": "lnag"})
    assert (kind, "'lang'" in words) == ("NotFoundError", True)


async def test_updating_or_deleting_a_missing_document_suggests_similar_ones(call):
    for tool, more in (("update_document", {"content": "x"}), ("delete_document", {})):
        words = {"explicit_action": tool.upper()}
        kind, said = await error(call, tool, category_dir="lang", name="pyton", **more, **words)
        assert (kind, "lang/python.md" in said) == ("NotFoundError", True)


async def test_a_missing_document_is_an_error_before_anybody_is_asked(app):
    asked: list[str] = []

    async def ask(question: str) -> bool:
        asked.append(question)
        return True

    arguments = {"category_dir": "lang", "name": "pyton", "explicit_action": "DELETE_DOCUMENT"}
    answer = await app.answer(Request("delete_document", arguments, app.local_caller, ask=ask))
    assert ("lang/python.md" in answer.text, answer.is_error, asked) == (True, True, [])
    answer = await app.answer(Request("delete_document", {**arguments, "name": "python"}, app.local_caller, ask=ask))
    assert (answer.is_error, asked) == (
        False,
        ["Delete the document lang/python.md of the project default permanently?"],
    )


GUIDE = """\
---
title: Style
requires: [strict]
---
# Style

## Naming

Short names.

## Errors

Raise early. Raise early.
"""
EDIT = {"path": "lang/style.md", "explicit_action": "UPDATE_DOCUMENT"}


@pytest.mark.requirement("GDL-1")
async def test_an_edit_changes_words_or_a_section_and_nothing_else(call, root):
    file = root / "lang" / "style.md"
    file.write_text(GUIDE)
    changed = await value(call, "update_document", **EDIT, old_text="Short", new_text="Telling")
    assert changed["diff"] == "-Short names.\n+Telling names."
    assert file.read_text() == GUIDE.replace("Short", "Telling")
    await value(call, "update_document", **EDIT, section="Naming", content="Any names.")
    assert file.read_text() == GUIDE.replace("Short", "Any")
    await value(call, "update_document", **EDIT, section="errors", old_text="Raise early. ", new_text="")
    assert file.read_text() == GUIDE.replace("Short", "Any").replace("Raise early. R", "R")
    await value(call, "update_document", **EDIT, old_text="title: Style", new_text="title: Our style")
    assert file.read_text().startswith("---\ntitle: Our style\nrequires: [strict]\n---\n# Style\n")


@pytest.mark.requirement("GDL-1")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"old_text": "Raise early", "new_text": "x"}, "occurs 2 times"),
        ({"old_text": "raise", "new_text": "x"}, "does not occur"),
        ({"old_text": "Short"}, "old_text and new_text together"),
        ({"section": "Naem", "content": "x"}, "#naming"),
        ({"content": "x"}, "send the `version` that you read"),
        ({}, "Nothing to change"),
    ],
)
async def test_an_edit_that_is_not_certain_changes_nothing(call, root, arguments, problem):
    (root / "lang" / "style.md").write_text(GUIDE)
    _, words = await error(call, "update_document", **EDIT, **arguments)
    assert problem in words
    assert (root / "lang" / "style.md").read_text() == GUIDE


@pytest.mark.requirement("GDL-1")
async def test_a_whole_text_keeps_the_front_matter_and_never_overwrites_a_later_version(call, root):
    file = root / "lang" / "style.md"
    file.write_text(GUIDE)
    await value(call, "set_project_flag", flag="strict", value=True)
    version = (await value(call, "get_outline", expression="lang/style"))["documents"][0]["version"]
    changed = await value(call, "update_document", **EDIT, content="# New\n", version=version)
    assert file.read_text() == GUIDE.partition("# Style")[0] + "# New\n"
    for edit in ({"content": "# Other\n"}, {"old_text": "New", "new_text": "Other"}):
        kind, words = await error(call, "update_document", **EDIT, **edit, version=version)
        assert (kind, f"its version is {changed['version']}, not {version}" in words) == ("ConflictError", True)
    await value(call, "update_document", **EDIT, content="---\ntitle: X\n---\nText\n", version=changed["version"])
    assert file.read_text() == "---\ntitle: X\n---\nText\n"


async def test_the_edit_of_a_word_in_a_long_document_costs_few_bytes(app, root):
    (root / "docs" / "long.md").write_text("word " * 22_000 + "A misstake here. " + "word " * 1_000)
    arguments = {**EDIT, "path": "docs/long.md", "old_text": "misstake", "new_text": "mistake"}
    answer = await app.call("update_document", arguments)
    assert len(json.dumps(arguments)) + len(answer.text) < 500, answer.text
