"""What a person sees of the command `mcp-todo`."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from mcp_core import Settings
from mcp_todo.app import build
from tests.clients.todo_server import MCP_TODO, command_with


def test_the_help_says_what_it_is():
    shown = subprocess.run([MCP_TODO, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "A todo list for your agent." in shown


def test_the_first_start_in_a_terminal_is_a_greeting_and_nothing_else(tmp_path: Path):
    terminal, stdin = pty.openpty()
    os.write(terminal, b"\x04")
    try:
        done = subprocess.run(
            command_with(tmp_path / "todo.db"), stdin=stdin, capture_output=True, text=True, timeout=60, check=True
        )
    finally:
        os.close(terminal)
        os.close(stdin)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 4
    assert done.stderr.startswith("Todo list 1.0.0 is waiting for an MCP client on stdin.")


@pytest.mark.parametrize(
    ("user", "said"),
    [
        (None, "A todo list. Call list_tasks first to learn the ids of the tasks that the user speaks of."),
        (
            "ana",
            "A todo list. The user_id is 'ana'. "
            "Call list_tasks first to learn the ids of the tasks that the user speaks of.",
        ),
    ],
)
def test_the_agent_is_told_the_name_that_the_server_insists_on(user: str | None, said: str):
    assert build(Settings(user=user)).instructions == said
