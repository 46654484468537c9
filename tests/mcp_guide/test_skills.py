"""The documents of the guide as skills of a plugin."""

import re
from pathlib import Path

import pytest

from mcp_core import Request
from mcp_core.auth import Caller
from mcp_core.errors import Refused
from mcp_guide.settings import STARTER_FOLDER
from mcp_guide.skills import left_out, skills_of
from tests.mcp_guide.guide_server import build_guide
from toolcharter.declarations import Skill
from toolcharter.packaging.launch import app_of
from toolcharter.packaging.plugin import marketplace_files
from toolcharter.packaging.published import read_server

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def write(folder: Path, documents: dict[str, str]) -> None:
    for name, text in documents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_a_document_with_a_description_is_a_skill_that_says_when_to_use_it(tmp_path: Path):
    write(
        tmp_path,
        {
            "lang/Go.md": "---\ntitle: Go\ndescription: How we write Go.\ntags: [go, style]\n---\n# Go\n",
            "checks/done.md": "---\ndescription: What is done.\ninstruction: Check it.\n---\n# Done\n",
            "notes.md": "# No description\n",
        },
    )
    assert list(skills_of(tmp_path)) == [
        Skill("checks-done", "What is done. Use this when the work is about done.", "Check it.\n\n# Done\n"),
        Skill("lang-go", "How we write Go. Use this when the work is about go, style.", "# Go\n"),
    ]


def test_names_are_those_that_a_skill_may_have_and_no_two_are_the_same(tmp_path: Path):
    text = "---\ndescription: Something.\n---\n"
    write(tmp_path, dict.fromkeys(["a b.md", "a-b.md", "a_b.md", f"{'long-' * 20}x.md", f"{'long-' * 20}y.md"], text))
    names = [skill.name for skill in skills_of(tmp_path)]
    assert sorted(names)[:3] == ["a-b", "a-b-2", "a-b-3"]
    assert len(set(names)) == 5
    assert all(NAME.fullmatch(name) and len(name) <= 64 for name in names)


def test_the_plugin_of_the_guide_has_the_starter_documents_or_those_of_the_team(tmp_path: Path):
    write(tmp_path, {"ours.md": "---\ndescription: Ours.\n---\nText\n"})
    starters = [skill.name for skill in app_of("guide").skills()]
    assert len(starters) == len(list(STARTER_FOLDER.rglob("*.md"))) == 11
    assert [skill.name for skill in app_of("guide", {"docs_root": tmp_path}).skills()] == ["ours"]


def test_the_documents_that_are_no_skill_are_named_with_the_reason(tmp_path: Path):
    gated = "---\ndescription: C.\nrequires: x\n---\n"
    write(tmp_path, {"a.md": "---\ndescription: A.\n---\nA\n", "b.md": "B\n", "c.md": gated})
    assert left_out(tmp_path) == {
        "b.md": "It has no `description` in its front matter, so an agent would not know when to read it.",
        "c.md": "It requires a flag, and a skill is there for every project.",
    }
    assert [skill.name for skill in skills_of(tmp_path)] == ["a"]
    server = read_server("guide", given={"docs_root": tmp_path})
    page = marketplace_files([server])["plugins/guide/README.md"]
    assert "## Not among the skills\n\n- `b.md`: It has no `description`" in page


async def test_gated_documents_and_those_behind_links_are_no_skills_and_reading_needs_the_permission(tmp_path: Path):
    head = "---\ndescription: About it.\n"
    write(tmp_path, {"secret.md": f"{head}---\nA secret.\n"})
    write(
        tmp_path / "docs", {"a/open.md": f"{head}---\nOpen.\n", "a/gated.md": f"{head}requires: [beta]\n---\nGated.\n"}
    )
    (tmp_path / "docs" / "a" / "link.md").symlink_to(tmp_path / "secret.md")
    async with build_guide(tmp_path) as app:
        assert [skill.name for skill in app.skills()] == ["a-open"]
        listed = await app.library.answer_skills("skills/list", {}, Request("skills/list", {}, app.local_caller))
        assert "a-open" in str(listed)
        stranger = Caller("user:eve", user_id="eve", grants=frozenset({"flags:read"}))
        with pytest.raises(Refused):
            await app.library.answer_skills("skills/get", {"name": "a-open"}, Request("skills/get", {}, stranger))
