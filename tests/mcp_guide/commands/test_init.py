from pathlib import Path

import pytest

from mcp_guide.commands import init
from mcp_guide.content.front_matter import split_front_matter
from mcp_guide.settings import STARTER_FOLDER

NAMES = {
    "checks/before-commit.md",
    "checks/review.md",
    "docs/api.md",
    "docs/readme.md",
    "guidelines/commits.md",
    "guidelines/errors.md",
    "guidelines/tests.md",
    "lang/java.md",
    "lang/python.md",
    "lang/rust.md",
    "lang/typescript.md",
}


def files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("TOOLCHARTER_DOCS_ROOT", raising=False)
    monkeypatch.setenv("TOOLCHARTER_CONFIG", str(tmp_path / "guide.yaml"))


def test_a_new_docs_root_gets_the_starter_set_and_a_report(tmp_path, capsys):
    root = tmp_path / "new" / "my guides"
    assert init.command(["--docs-root", str(root)]) == 0
    assert files(root) == NAMES
    assert capsys.readouterr().out == (
        f"Wrote 11 documents to {root}\n"
        "  checks: before-commit, review\n"
        "  docs: api, readme\n"
        "  guidelines: commits, errors, tests\n"
        "  lang: java, python, rust, typescript\n"
        "Each folder is a category. Edit the documents, add your own, and commit them like code.\n"
        "Try it:\n"
        f"  toolcharter call guide --docs-root '{root}' get_content expression=lang/python\n"
        "Add it to your client, such as claude-code, cursor or vscode:\n"
        f"  toolcharter install claude-code guide --docs-root '{root}'\n"
    )


def test_an_existing_file_is_never_changed(tmp_path, capsys):
    mine = tmp_path / "lang" / "python.md"
    mine.parent.mkdir()
    mine.write_text("mine", encoding="utf-8")
    (tmp_path / "lang" / "rust.md").symlink_to(tmp_path / "nowhere")
    assert init.write_starter(tmp_path) == init.StarterFiles(
        sorted(NAMES - {"lang/python.md", "lang/rust.md"}), ["lang/python.md", "lang/rust.md"]
    )
    assert mine.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "nowhere").exists()
    assert init.command(["--docs-root", str(tmp_path)]) == 0
    report = capsys.readouterr().out
    assert f"Wrote 0 documents to {tmp_path}\nAlready there, not changed: checks/before-commit.md, " in report


def test_it_is_written_where_the_server_reads(tmp_path, monkeypatch, capsys):
    (tmp_path / "guide.yaml").write_text(f"docs_root: {tmp_path / 'configured'}\n", encoding="utf-8")
    assert init.command([]) == 0
    assert files(tmp_path / "configured") == NAMES
    monkeypatch.setenv("TOOLCHARTER_DOCS_ROOT", str(tmp_path / "set"))
    assert init.command([]) == 0
    assert files(tmp_path / "set") == NAMES


def test_without_settings_it_is_written_to_the_data_folder_of_the_platform(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(init, "default_docs_root", lambda: tmp_path / "data" / "guide")
    assert init.command([]) == 0
    assert files(tmp_path / "data" / "guide") == NAMES
    assert "\n  toolcharter call guide get_content expression=lang/python\n" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_is_reported(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert init.command(["--docs-root", str(tmp_path / "file")]) == 1
    said = capsys.readouterr()
    folder = tmp_path / "file" / "checks"
    words = f"{folder}: Not a directory. Choose another folder with --docs-root."
    assert (said.out, said.err) == ("", f"mcp-guide init cannot write the documents: {words}\n")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_document_has_complete_front_matter(name):
    front, text, warnings = split_front_matter((STARTER_FOLDER / name).read_text(encoding="utf-8"))
    assert front.title
    assert front.description
    assert front.tags
    assert (front.type, bool(front.instruction)) == (
        ("instruction", True) if name.startswith("checks/") else ("agent", False)
    )
    assert text.startswith(f"# {front.title}\n")
    assert (dict(front.extra), warnings) == ({}, ())
