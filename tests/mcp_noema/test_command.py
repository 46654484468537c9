"""What a person sees of the command `mcp-noema`."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import httpx2

from mcp_core import Settings
from mcp_noema.app import build
from tests.clients.over_http import served
from tests.mcp_noema.client_session import command

INSTALLED = Path(sys.executable).with_name("mcp-noema")


def test_the_help_says_what_it_is_and_where_files_go():
    shown = subprocess.run([INSTALLED, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    text = " ".join(shown.split())
    assert "Spaced-repetition learning through your agent." in text
    assert "--files DIR Folder that Anki files are imported from and exported to." in text
    assert "[TOOLCHARTER_FILES]" in text


def test_the_first_start_in_a_terminal_is_a_greeting_and_nothing_else(tmp_path: Path):
    terminal, stdin = pty.openpty()
    os.write(terminal, b"\x04")
    try:
        done = subprocess.run(
            [INSTALLED, *command(tmp_path)[1:]],
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={},
        )
    finally:
        os.close(terminal)
        os.close(stdin)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 5
    assert done.stderr.startswith("Noema 1.0.0 is waiting for an MCP client on stdin. Tools: ")
    assert "create-deck, get-deck, " in done.stderr
    assert " and 25 more.\n" in done.stderr
    assert "\nTo add it to a client: toolcharter install CLIENT noema --db " in done.stderr


def test_over_http_there_is_a_health_page_and_a_page_for_people(tmp_path: Path):
    started = [str(INSTALLED), *command(tmp_path)[1:]]
    with served(started, tmp_path / "http.log") as url, httpx2.Client(timeout=60) as http:
        base = url.removesuffix("/mcp")
        assert http.get(f"{base}/health").status_code == 200
        page = http.get(f"{base}/console/tools", params={"server": "noema"})
    assert page.status_code == 200
    shown = re.findall(r'href="/console/tools/noema/([a-z-]+)"', page.text)
    assert set(shown) >= {tool.name for tool in build(Settings()).list_tools()}


def test_the_instructions_name_tools_that_exist():
    app = build(Settings())
    named = re.findall(r"\b[a-z]+(?:-[a-z]+)+\b", app.instructions.replace("Spaced-repetition", ""))
    assert len(named) >= 4
    assert set(named) <= {tool.name for tool in app.list_tools()}


def test_a_start_loads_nothing_that_is_not_needed_for_the_first_answer():
    """Database, scheduler and archive libraries are loaded while the first requests are answered, not before."""
    heavy = ("sqlalchemy", "alembic", "fsrs", "fsrs_rs_python", "zstandard", "sqlite3", "mcp", "mcp_types")
    code = (
        "import sys; from mcp_core import Settings; from mcp_noema.app import build; "
        f"build(Settings()); print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_a_tool_can_be_called_from_the_terminal(tmp_path: Path):
    toolcharter = INSTALLED.with_name("toolcharter")
    options = ["--db", f"sqlite:///{tmp_path / 'noema.db'}"]
    made = subprocess.run(
        [toolcharter, "call", "noema", *options, "create-deck", "name=French"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert '"name": "French"' in made.stdout or '"name":"French"' in made.stdout
