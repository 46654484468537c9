"""The package in examples/dice is a whole server that others can copy."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx2
import pytest

from tests.toolcharter.console.served import served
from toolcharter import Settings
from toolcharter.cli import main
from toolcharter.local import targets

DICE = Path(__file__).parents[2] / "examples" / "dice"


def test_its_own_tests_pass_and_include_its_examples_and_the_rules():
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=DICE, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout
    assert "roll_dice: Two dice PASSED" in done.stdout
    assert "test_a_call_needs_the_permission PASSED" in done.stdout


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The package as pip would install it: its modules, and the entry points of its pyproject.toml."""
    shutil.copytree(DICE / "src" / "mcp_dice", tmp_path / "mcp_dice")
    project = tomllib.loads((DICE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    about = tmp_path / "mcp_dice-1.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    groups = {**project["entry-points"], "console_scripts": project["scripts"]}
    lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in names.items()) for group, names in groups.items()]
    (about / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp_dice"]:
        del sys.modules[name]


def exit_code(*command: str) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(list(command))
    return ended.value.code


@pytest.mark.usefixtures("installed")
def test_its_entry_point_makes_it_known_to_every_command(capsys: pytest.CaptureFixture[str]):
    assert "dice" in targets.installed()
    assert exit_code("call", "dice", "roll_dice", "notation=3d1") == 0
    assert json.loads(capsys.readouterr().out) == {"rolls": [1, 1, 1], "total": 3}
    assert exit_code("verify", "dice", "--severity", "note") == 0
    assert exit_code("examples", "dice") == 0


@pytest.mark.usefixtures("installed")
def test_its_page_is_in_the_console():
    with served([targets.load("dice", Settings(port=0))]) as url, httpx2.Client(base_url=url) as browser:
        assert '<a href="/console/dice">Dice</a>' in browser.get("/").text
        assert "<p>1 + 1 + 1 = 3</p>" in browser.get("/console/dice?notation=3d1").text
        assert "<p>&#x27;six&#x27; is not a roll." in browser.get("/console/dice?notation=six").text


@pytest.mark.usefixtures("installed")
def test_an_argument_that_is_not_valid_is_explained(capsys: pytest.CaptureFixture[str]):
    assert exit_code("call", "dice", "roll_dice", "notation=six") == 1
    assert "'six' is not a roll. Write the number of dice" in capsys.readouterr().out
