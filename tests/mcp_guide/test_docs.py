"""The examples on the page about the guide are real."""

import json
import re
import shlex
from pathlib import Path

from mcp_guide.commands import init
from mcp_guide.model import MODES
from tests.mcp_guide.guide_server import build_guide
from tests.toolcharter.command_line import run

PAGE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
INIT = "mcp-guide init --docs-root ~/guides"
SESSION = re.findall(r"^\$ toolcharter (call guide .*) \| cat\n(.*)$", PAGE, re.MULTILINE)


def test_the_session_on_the_page_is_real(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    written = PAGE.partition(f"$ {INIT}\n")[2].partition("```")[0].replace("/home/ana", str(tmp_path))
    assert init.command(words_of(INIT)[2:]) == 0
    assert written
    assert capsys.readouterr().out.startswith(written)
    assert len(SESSION) == 4
    for command, documented in SESSION:
        _, out, err = run(capsys, *words_of(command))
        assert (json.loads(out), err) == (json.loads(documented), ""), command


def words_of(command: str) -> list[str]:
    """The words of a command, as a shell passes them."""
    return [str(Path(word).expanduser()) if word.startswith("~") else word for word in shlex.split(command)]


def test_the_page_names_only_existing_tools_and_every_mode(tmp_path):
    names = {tool.name for tool in build_guide(tmp_path).list_tools()}
    verbs = "get|set|list|add|change|remove|clone|create|update|delete|search|export"
    named = set(re.findall(rf"`((?:{verbs})_[a-z_]+|client_info)`", PAGE)) - {"export_folders"}
    assert named <= names
    assert len(named) > 15
    assert [mode for mode in MODES if f"| `{mode}` |" not in PAGE] == []


def test_the_page_says_what_the_list_of_tools_costs(tmp_path):
    for descriptions, before in (("compact", "in every request: about "), ("full", "full` it is about ")):
        tools = [tool.for_model() for tool in build_guide(tmp_path, descriptions=descriptions).list_tools()]
        size = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode())
        written = PAGE.partition(before)[2].partition(" bytes")[0]
        assert abs(int(written.replace(",", "")) - size) <= 500, f"{descriptions}: {size:,} bytes"
