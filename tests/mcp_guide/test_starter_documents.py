"""A guide without documents of its own serves the starter documents, read-only, until `mcp-guide init` was run."""

from pathlib import Path

import pytest

from mcp_guide.app import build
from mcp_guide.commands import init as init_command
from mcp_guide.settings import STARTER_FOLDER, GuideSettings, default_docs_root
from tests.mcp_guide.guide_server import error, make_call, value


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A guide on a fresh machine."""
    monkeypatch.delenv("TOOLCHARTER_DOCS_ROOT", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("TOOLCHARTER_CONFIG", str(tmp_path / "guide.yaml"))
    return build(GuideSettings(deadline=30))


async def test_a_fresh_guide_reads_lists_and_searches_the_starter_documents_and_says_so(app):
    notice = f"These are the starter documents, read-only. `mcp-guide init` writes them to '{default_docs_root()}'."
    async with app:
        call = make_call(app)
        failed, answer = await call("get_content", expression="lang/python")
        assert (failed, answer["message"]) == (False, f"1 document. {notice}")
        assert "# Python" in answer["value"]["content"]
        assert (await value(call, "list_documents"))["total"] == 11
        assert (await call("search_content", query="python"))[1]["message"].endswith(notice)
    assert not default_docs_root().exists()


async def test_the_starter_documents_cannot_be_changed(app):
    before = {file: file.read_bytes() for file in STARTER_FOLDER.rglob("*.md")}
    way = f"Run `mcp-guide init` first: it writes them to '{default_docs_root()}', where they can be."
    refusal = ("ConflictError", f"The starter documents cannot be changed. {way}")
    async with app:
        call = make_call(app)
        for action in ("create", "update", "delete"):
            arguments = {"category_dir": "lang", "name": "go" if action == "create" else "python"}
            arguments |= {} if action == "delete" else {"content": "# Changed"}
            arguments["explicit_action"] = f"{action.upper()}_DOCUMENT"
            assert await error(call, f"{action}_document", **arguments) == refusal
    assert {file: file.read_bytes() for file in STARTER_FOLDER.rglob("*.md")} == before


async def test_after_init_the_documents_of_the_person_are_served_without_a_restart(app):
    async with app:
        call = make_call(app)
        await value(call, "get_content", expression="lang/python")
        assert init_command.command([]) == 0
        (default_docs_root() / "lang" / "python.md").write_text("# Mine\n", encoding="utf-8")
        failed, answer = await call("get_content", expression="lang/python")
    assert (failed, answer["message"]) == (False, "1 document.")
    assert "# Mine" in answer["value"]["content"]
