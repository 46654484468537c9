"""What the fork server starts behaves like a program that was started in the usual way."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forkserver.commands import command_path

SCRIPT = """
import json, os, sys
seen = {"argv": sys.argv[1:], "cwd": os.getcwd()}
seen |= {"environment": sorted(set(os.environ) - {"PWD"}), "stdin": sys.stdin.read()}
print(json.dumps(seen))
print("to stderr", file=sys.stderr)
sys.exit(7)
"""
WAITING = "import os, signal; print('ready', flush=True); signal.pause()"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "script.py"


@pytest.mark.parametrize("python", [command_path("python"), sys.executable], ids=["forked", "started"])
def test_a_program_has_its_own_arguments_folder_environment_streams_and_exit_code(python, script, tmp_path):
    script.write_text(SCRIPT)
    done = subprocess.run(
        [python, script, "--one", "two"],
        cwd=tmp_path,
        env={"LC_ALL": "C.UTF-8", "NAME": "value"},
        input="a line\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (7, "to stderr\n")
    assert json.loads(done.stdout) == {
        "argv": ["--one", "two"],
        "cwd": str(tmp_path),
        "environment": ["LC_ALL", "NAME"],
        "stdin": "a line\n",
    }


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_command_ends_the_program(script, number):
    script.write_text(WAITING)
    with subprocess.Popen([command_path("python"), script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        # The program holds the other end of this pipe: it has ended too.
        assert process.stdout.read() == ""
    assert process.returncode == -number
