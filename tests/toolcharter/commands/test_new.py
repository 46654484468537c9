"""The command `toolcharter new`: what it writes, and what it refuses."""

import sys
from pathlib import Path

import pytest

from mcp_core.process.install_command import SourceFolder
from tests.toolcharter.command_line import run
from tests.toolcharter.packaging.test_new_server import FILES
from toolcharter.commands import new


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("mcp_weather", "mcp_my_notes")]:
        del sys.modules[name]


def files_in(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def test_it_writes_a_project_and_says_how_to_go_on(folder: Path, capsys: pytest.CaptureFixture[str]):
    code, out, _ = run(capsys, "new", "weather")
    assert code == 0
    assert files_in(folder / "mcp-weather") == FILES
    assert "  .venv/bin/toolcharter call weather get_weather name=first\n" in out
    assert "<<" not in "".join(file.read_text() for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("source", "words"),
    [(None, ""), (SourceFolder(Path("/home/ana/my clone"), is_editable=True), "'/home/ana/my clone' ")],
)
def test_the_steps_install_toolcharter_from_where_it_came(capsys, monkeypatch, source: SourceFolder | None, words: str):
    monkeypatch.setattr(new, "source_folder", lambda: source)
    code, out, error = run(capsys, "new", "weather")
    assert (code, error) == (0, "")
    assert f"  .venv/bin/pip install {words}--editable '.[test]'\n" in out


def test_a_name_of_several_words_a_folder_and_a_namespace_can_be_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(capsys, "new", "my-notes", "--path", "work/notes", "--namespace", "com.acme")[0] == 0
    project = folder / "work" / "notes"
    assert "async def get_my_notes(" in (project / "src/mcp_my_notes/tools.py").read_text()
    assert "<!-- mcp-name: com.acme/my-notes -->" in (project / "README.md").read_text()
    assert (project / "contracts/mcp-my-notes.json").exists()


def test_an_empty_folder_is_filled_and_any_other_is_left_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "empty").mkdir()
    assert run(capsys, "new", "weather", "--path", "empty")[0] == 0
    before = {name: (folder / "empty" / name).read_text() for name in files_in(folder / "empty")}
    code, out, error = run(capsys, "new", "weather", "--path", "empty")
    assert (code, out) == (2, "")
    assert error == "empty exists already, and nothing in it was changed. Choose another --path.\n"
    assert {name: (folder / "empty" / name).read_text() for name in files_in(folder / "empty")} == before


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("My Server", "my-server"),
        ("mcp-weather", "weather"),
        ("2do", "do"),
        ("../etc", "etc"),
        ("class_", "class"),
        ("é", "weather"),
        ("a" * 33, "a" * 32),
    ],
)
def test_a_name_that_is_not_valid_is_refused_with_one_that_is(
    name: str, suggestion: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    code, _, error = run(capsys, "new", name)
    assert code == 2
    assert error.startswith(f"{name!r} is not a name for a server. Use small letters,")
    assert error.endswith(f": toolcharter new {suggestion}\n")
    assert files_in(folder) == []


def test_the_name_of_an_installed_server_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]):
    code, _, error = run(capsys, "new", "todo")
    assert (code, error) == (2, "A server 'todo' is installed here already. Choose another name.\n")


@pytest.mark.parametrize("namespace", ["ana", "io.github.ana/weather", "https://example.com", "io..ana", "-a.b"])
def test_a_namespace_that_the_registry_would_not_accept_is_refused(
    namespace: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    code, _, error = run(capsys, "new", "weather", f"--namespace={namespace}")
    assert code == 2
    assert error.startswith(f"{namespace!r} is not a namespace. Write a domain of yours in reverse")
    assert files_in(folder) == []


def test_a_place_that_cannot_be_written_is_named(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "file").write_text("")
    code, _, error = run(capsys, "new", "weather", "--path", "file/weather")
    assert code == 1
    assert error.startswith("file/weather")
    assert "cannot be written: Not a directory." in error
