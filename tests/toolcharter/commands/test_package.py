"""The command `toolcharter package`."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.toolcharter.command_line import run

NAMESPACE = ("--namespace", "io.github.toolcharter")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_a_folder_for_each_server_and_says_what_to_do_with_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    code, out, error = run(capsys, "package", "todo", "guide", *NAMESPACE)
    assert (code, error) == (0, "")
    assert sorted(place.name for place in (folder / "dist").iterdir()) == [
        ".claude-plugin",
        "guide",
        "plugins",
        "todo",
    ]
    assert sorted(file.name for file in (folder / "dist" / "todo").iterdir()) == [
        "Dockerfile",
        "badges.md",
        "compose.yaml",
        "llms.txt",
        "mcp-todo-0.1.0.mcpb",
        "server.json",
        "tools.md",
    ]
    lines = out.splitlines()
    assert lines[0] == "dist/todo: io.github.toolcharter/todo 0.1.0"
    assert lines[1].startswith("  bundle: dist/todo/mcp-todo-0.1.0.mcpb, sha256 ")
    assert lines[2] == "  plugin: claude plugin marketplace add ./dist && claude plugin install todo@toolcharter"


def test_what_is_written_depends_on_nothing_but_the_server(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    run(capsys, "package", "todo", *NAMESPACE, "--output", "once")
    monkeypatch.setenv("TOOLCHARTER_USER", "ana")
    monkeypatch.setenv("MCP_TOOL_PREFIX", "mine")
    run(capsys, "package", "todo", *NAMESPACE, "--output", "again")
    files = [file.relative_to("once") for file in Path("once").rglob("*") if file.is_file()]
    assert len(files) > 8
    assert [file for file in files if Path("once", file).read_bytes() != Path("again", file).read_bytes()] == []


def test_the_documents_of_a_team_become_the_skills_of_its_plugin(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "ours").mkdir()
    (folder / "ours" / "names.md").write_text("---\ndescription: How we name things.\n---\nShort.\n")
    assert run(capsys, "package", "guide", *NAMESPACE, "--docs-root", "ours")[0] == 0
    assert [file.parent.name for file in Path("dist").rglob("SKILL.md")] == ["names"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["storm"], "'storm' is neither an installed server nor the folder of a project. Installed: "),
        ([], "pyproject.toml does not exist. Give the folder of a project, or an installed server: "),
        (["todo", "--namespace", "me"], "'me' is not a namespace. Write a domain of yours in reverse"),
        (["todo", *NAMESPACE, "--output", "file"], "cannot be written: "),
    ],
)
def test_what_cannot_be_packaged_is_explained_and_nothing_is_written(
    words: list[str], reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    (folder / "file").write_text("")
    code, _, error = run(capsys, "package", *words)
    assert code != 0
    assert reason in error
    assert "Traceback" not in error
    assert not (folder / "dist").exists()


def test_a_bundle_with_libraries_has_what_pip_installs(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def install(server: object, place: Path) -> None:
        (place / "library").mkdir(parents=True)
        (place / "library" / "code.py").write_text("x = 1\n")

    monkeypatch.setattr("toolcharter.commands.package.install_libraries", install)
    assert run(capsys, "package", "todo", *NAMESPACE, "--bundle", "python")[0] == 0
    with zipfile.ZipFile("dist/todo/mcp-todo-0.1.0.mcpb") as bundle:
        assert bundle.namelist() == ["manifest.json", "server/lib/library/code.py", "server/main.py"]
        server = json.loads(bundle.read("manifest.json"))["server"]
    assert server["mcp_config"]["env"]["PYTHONPATH"] == "${__dirname}/server/lib"


def test_libraries_that_cannot_be_installed_are_explained(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    code, _, error = run(capsys, "package", "todo", *NAMESPACE, "--bundle", "python")
    assert code == 1
    assert error.startswith("The libraries of 'todo' cannot be installed for its bundle. ERROR: ")
