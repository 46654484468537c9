"""What a person sees of the command `mcp-todo`."""

import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mcp_core import Settings
from mcp_core.db.database import FORMS
from mcp_todo.app import build
from tests.clients.todo_server import command_with

ROOT = Path(__file__).parents[2]
INSTALLED = Path(sys.executable).with_name("mcp-todo")


def test_the_help_says_what_it_is():
    shown = subprocess.run([INSTALLED, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "A todo list for your agent." in shown


@pytest.mark.parametrize("transport", [["stdio"], ["http", "--port", "0"]])
def test_a_wrong_database_url_is_answered_with_forms_that_can_be_copied(transport: list[str]):
    command = [INSTALLED, *transport, "--db", "todo.db"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == f"mcp-todo cannot start. 'todo.db' is not a database URL; write {FORMS}.\n"


def test_the_first_start_in_a_terminal_is_a_greeting_and_nothing_else(tmp_path: Path):
    terminal, stdin = pty.openpty()
    os.write(terminal, b"\x04")
    try:
        done = subprocess.run(
            [INSTALLED, *command_with(tmp_path / "todo.db")[1:]],
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    finally:
        os.close(terminal)
        os.close(stdin)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 5
    assert done.stderr.startswith("Todo list 1.0.0 is waiting for an MCP client on stdin.")


def test_the_extra_of_the_todo_list_is_enough_for_sqlite(tmp_path: Path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = modules([*project["dependencies"], *extras["todo"], *extras["sql"]])
    optional = modules([*extras["postgres"], *extras["redis"], *extras["fastmcp"]]) - needed - {"toolcharter"}
    call = ["call", "todo", "--db", f"sqlite:///{tmp_path / 'todo.db'}", "list_tasks", "user_id=ana"]
    program = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(optional)}))
from toolcharter.cli import main
main({call})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "asyncpg" in optional
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "[]\n")


def modules(requirements: list[str]) -> set[str]:
    """What the named distributions are imported as."""
    return {re.split(r"[^\w-]", line)[0].removesuffix("-slim") for line in requirements}


@pytest.mark.parametrize(
    ("user", "whose"), [(None, " If you know no other, the user_id is 'local'."), ("ana", " The user_id is 'ana'.")]
)
def test_the_agent_is_told_the_name_that_the_server_insists_on(user: str | None, whose: str):
    first = "Call list_tasks first to get the ids of the tasks that the user mentions."
    assert build(Settings(user=user)).instructions == f"A todo list.{whose} {first}"
