"""What the pages say about the Atlassian server is real."""

import json
import re
import shlex
from pathlib import Path

import pytest

from mcp_atl.app import build
from mcp_atl.client import errors
from mcp_atl.settings import AtlSettings
from mcp_core.settings import model as core_settings
from tests.toolcharter.command_line import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "atl.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def consoles(text: str) -> list[tuple[str, str]]:
    """The commands of a page with what it says that they print."""
    return re.findall(r"^\$ toolcharter (call atl .*) \| cat\n(.*)$", text, re.MULTILINE)


def test_there_are_examples_on_both_pages():
    assert [len(consoles(text)) for text in (PAGE, README)] == [7, 2]


@pytest.mark.parametrize(("command", "documented"), consoles(PAGE) + consoles(README))
def test_a_command_on_the_page_prints_what_the_page_says(command, documented, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    _, out, err = run(capsys, *shlex.split(command))
    assert (json.loads(out), err) == (json.loads(documented), "")


def test_the_page_names_every_command_and_no_other():
    rows = re.findall(r"^\| (?:read|write) \| (.*) \|$", PAGE, re.MULTILINE)
    named = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(named) == sorted(tool.name.removeprefix("atl_") for tool in build(AtlSettings()).list_tools())


def test_the_page_names_options_and_error_types_that_exist():
    for option, variable in re.findall(r"^\| `--([a-z-]+)[^`]*` \| `(\w+)` \|", PAGE, re.MULTILINE):
        name = option.replace("-", "_")
        assert name in AtlSettings.model_fields
        assert core_settings.environment_variable(name) == variable
    named = set(re.findall(r"^\| `(\w+Error)` \|", PAGE, re.MULTILINE))
    mapped = {
        errors.site_error(status, None, what="GET /").error_type for status in (400, 401, 403, 404, 409, 429, 500)
    }
    assert named == {*mapped, "ConsentError"}


@pytest.mark.parametrize(
    ("before", "settings"), [("in every request: about ", {}), ("it is about ", {"read_only": True})]
)
def test_the_page_says_what_the_list_of_tools_costs(before, settings):
    tools = [tool.for_model() for tool in build(AtlSettings(**settings)).list_tools()]
    size = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode())
    written = PAGE.partition(before)[2].partition(" bytes")[0]
    assert abs(int(written.replace(",", "")) - size) <= 300, f"{size:,} bytes"
