"""Creating, updating and deleting documents."""

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
    changed = {"category_dir": "lang", "name": "go", "content": "# Go 2\n", "explicit_action": "UPDATE_DOCUMENT"}
    assert await value(call, "update_document", **changed) == {"path": "lang/go.md", "size": 7}
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
