"""The examples on the page about the guide are real."""

import json
import re
import shlex
from pathlib import Path

from mcp_guide.init_command import write_starter
from mcp_guide.model import MODES
from tests.mcp_guide.guide_server import build_guide, make_call

PAGE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
SESSION = re.findall(r"^\$ toolcharter call guide (.*) \| cat\n(.*)$", PAGE, re.MULTILINE)


async def test_the_session_on_the_page_is_real(tmp_path):
    assert len(SESSION) == 4
    write_starter(tmp_path / "docs")
    async with build_guide(tmp_path) as app:
        for command, documented in SESSION:
            tool, *words = shlex.split(command)
            pairs = [word.split("=", 1) for word in words]
            arguments = {name: int(text) if text.isdecimal() else text for name, text in pairs}
            _, result = await make_call(app)(tool, **arguments)
            assert result == json.loads(documented), command


def test_the_page_names_only_existing_tools_and_every_mode(tmp_path):
    names = {tool.name for tool in build_guide(tmp_path).list_tools()}
    verbs = "get|set|list|add|change|remove|clone|create|update|delete|search|export"
    named = set(re.findall(rf"`((?:{verbs})_[a-z_]+|client_info)`", PAGE)) - {"export_folders"}
    assert named <= names
    assert len(named) > 15
    assert [mode for mode in MODES if f"| `{mode}` |" not in PAGE] == []
