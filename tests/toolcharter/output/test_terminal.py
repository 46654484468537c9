"""One place writes to the terminal."""

import ast
import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from toolcharter.output.terminal import TerminalConsole

SOURCES = Path(__file__).parents[3] / "src"
WRITERS = {"mcp_core/foreign/terminal.py", "toolcharter/output/terminal.py", "toolcharter/output/progress_line.py"}
DIRECT = {"print", "Console", "rich.print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.writelines"}


@pytest.mark.parametrize("package", ["mcp_core", "toolcharter", "mcp_atl", "mcp_guide", "mcp_noema", "mcp_todo"])
def test_nothing_else_writes_to_the_terminal(package):
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node.func)}"
        for file in (SOURCES / package).rglob("*.py")
        if (name := file.relative_to(SOURCES).as_posix()) not in WRITERS and "/console/" not in name
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in DIRECT
    ]
    assert found == []


@pytest.mark.parametrize("console", [TerminalConsole, Console])
def test_a_table_and_markdown_hold_no_control_character_and_no_link(console):
    table = Table("name\x07\x1b[2J")
    table.add_row("\x9b2J\u202e")
    out = io.StringIO()
    shown = console(file=out, force_terminal=True, color_system=None, width=200)
    shown.print(
        "[link=https://evil.example]good[/link]\x1b]0;owned", table, Markdown("[good](https://evil.example)\x1b")
    )
    is_clean = all(one.isprintable() or one == "\n" for one in out.getvalue())
    assert is_clean == (console is TerminalConsole)
