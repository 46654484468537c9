"""Ctrl+C while a command loads its modules, in processes of their own."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from toolcharter import ctrl_c

HELLO = Path(__file__).parents[2] / "examples" / "words.py"
AT_PYDANTIC = """
import os, runpy, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == "pydantic":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.{handler})
sys.meta_path.insert(0, Interrupt())
{start}
"""
"""Something that all commands load, some 50 ms after their start."""
COMMAND = "from {} import main; sys.argv[1:] = {!r}; main()"


@pytest.mark.parametrize(
    "start",
    [
        COMMAND.format("mcp_todo.main", []),
        COMMAND.format("mcp_todo.main", ["http"]),
        COMMAND.format("mcp_guide.main", []),
        COMMAND.format("mcp_atl.main", []),
        COMMAND.format("mcp_noema.main", []),
        COMMAND.format("toolcharter.cli", ["tools", "demo"]),
        f"runpy.run_path({str(HELLO)!r}, run_name='__main__')",
    ],
)
def test_ctrl_c_ends_a_command_that_loads_its_modules_without_a_stack(start):
    done = ended(AT_PYDANTIC.format(handler="default_int_handler", start=start))
    # A command of toolcharter loads the framework after its arguments, and then answers with the usual code.
    code = 130 if "toolcharter.cli" in start else -signal.SIGINT
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_a_command_whose_parent_ignores_ctrl_c_loads_its_modules():
    done = ended(AT_PYDANTIC.format(handler="SIG_IGN", start=COMMAND.format("mcp_todo.main", ["--help"])))
    assert (done.returncode, done.stderr) == (0, "")


def test_another_error_has_its_stack_after_an_interruption_that_somebody_caught(capsys, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    with pytest.raises(KeyboardInterrupt), ctrl_c.WithoutStack():
        raise KeyboardInterrupt
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    sys.excepthook(ValueError, ValueError("a bug"), None)
    assert capsys.readouterr().err == "ValueError: a bug\n"


def ended(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
