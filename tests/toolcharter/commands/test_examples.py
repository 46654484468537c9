"""`toolcharter examples`."""

import json
import sys
from pathlib import Path

import pytest

from tests.toolcharter.command_line import run
from toolcharter.local import targets

EXAMPLES = Path(__file__).parents[3] / "examples"

WRONG = '''
from mcp_core import App, Example, tool

@tool(
    category="query", response_time="fast", permissions=[], idempotent=True, tags=["made-up"],
    examples=[Example("Right", {}, 2), Example("Wrong", {}, 3)],
)
async def two() -> int:
    """Give two, whatever anybody says about it. Use this when you want two."""
    return 2

def build(settings):
    return App("wrong", version="1.0.0", tools=[two], settings=settings)

made = App("made", version="1.0.0", tools=[two])

def careless(settings):
    return made

bare = App("bare", version="1.0.0", tools=[])
'''


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    (tmp_path / "wrong.py").write_text(WRONG)
    return str(tmp_path / "wrong.py")


@pytest.mark.requirement("DOC-5")
def test_examples_with_the_declared_results_give_exit_code_0(capsys):
    code, out, err = run(capsys, "examples", "todo")
    made = json.loads(out)
    assert (code, made["ok"], err) == (0, True, "")
    assert made["examples"][0] == {
        "tool": "add_task",
        "example": "Remember an errand",
        "ok": True,
        "differences": [],
    }
    assert len(made["examples"]) == 5


def test_a_database_that_the_environment_names_is_not_changed(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TOOLCHARTER_DB", f"sqlite:///{tmp_path / 'real.db'}")
    assert run(capsys, "examples", "todo", "list_tasks")[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_an_example_that_differs_gives_exit_code_1_and_says_where(capsys, wrong):
    code, out, err = run(capsys, "examples", wrong)
    assert (code, err) == (1, "")
    assert json.loads(out) == {
        "ok": False,
        "examples": [
            {"tool": "two", "example": "Right", "ok": True, "differences": []},
            {"tool": "two", "example": "Wrong", "ok": False, "differences": ["value: expected 3, got 2"]},
        ],
    }


def test_a_terminal_shows_a_line_for_each_example(capsys, wrong, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    code, out, _ = run(capsys, "examples", wrong)
    assert (code, out) == (
        1,
        (
            "ok      two Right\ndiffers two Wrong\n          value: expected 3, got 2\n"
            "1 of 2 examples gave the declared result.\n"
        ),
    )


def test_one_tool_can_be_chosen(capsys):
    code, out, _ = run(capsys, "examples", "demo", "add")
    assert (code, [row["tool"] for row in json.loads(out)["examples"]]) == (0, ["add"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "No server was given. Give an installed server, file.py or module:object."),
        (("demo", "ad"), "The server has no tool 'ad'. Did you mean 'add'? Its tools: add, list_notes"),
        (("nobody",), f"No server 'nobody' is installed. Installed: {', '.join(targets.known())}."),
        (("http://127.0.0.1:1/mcp",), "MCP has no field for examples, so a server behind an address or a command"),
        (("--", "mcp-todo"), "MCP has no field for examples, so a server behind an address or a command"),
        ((f"{EXAMPLES / 'on_fastmcp.py'}:server",), "is a FastMCP, which cannot declare examples. Give an App."),
        (("WRONG:bare",), "'bare' declares no examples."),
        (("WRONG:careless",), "'made' does not use the settings that its build function gets"),
    ],
)
def test_examples_that_cannot_run_are_explained(capsys, wrong, words, message):
    code, out, err = run(capsys, "examples", *(word.replace("WRONG", wrong) for word in words))
    assert (code, out) == (1 if words == ("WRONG:careless",) else 2, "")
    assert message in err
    assert err.count("\n") == 1
