"""What a person sees of a call in a terminal, with a server in the same process and in another one."""

import json
import os
import signal
import sys

import pytest

from mcp_core.process import interrupt
from tests.toolcharter.command_line import run

SERVER = """
import asyncio, os, signal
from pathlib import Path
from toolcharter import App, Image, run

app = App("pictures", version="1.0.0")
FOLDER = Path(__file__).parent

@app.tool
def draw() -> list[Image | str]:
    '''Draw a picture.'''
    return ["a dot", Image(b"\\x89PNG\\r\\n\\x1a\\n", "image/png")]

@app.tool
async def wait() -> str:
    '''Wait until somebody cancels.'''
    os.kill(int((FOLDER / "pid").read_text()), signal.SIGINT)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        (FOLDER / "cancelled").touch()
        raise

if __name__ == "__main__":
    run(app)
"""
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(params=["local", "stdio"])
def call(request, tmp_path, capsys):
    """A function that calls a tool of the server, which runs in this process or in another one."""
    file = tmp_path / "pictures.py"
    file.write_text(SERVER, encoding="utf-8")
    (tmp_path / "pid").write_text(str(os.getpid()), encoding="utf-8")

    def run_call(*words):
        if request.param == "local":
            return run(capsys, "call", str(file), *words)
        return run(capsys, "call", *words, "--", sys.executable, str(file), "stdio")

    return run_call


def test_an_image_is_written_to_a_file_and_a_pipe_has_the_whole_answer(call, tmp_path, monkeypatch):
    folder = tmp_path / "new" / "folder"
    code, out, err = call("draw", "--save", str(folder))
    assert (code, [block["type"] for block in json.loads(out)]) == (0, ["text", "image"])
    assert err == f"Saved: {folder}/draw-1.png\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    _, out, err = call("draw", "--save", str(folder))
    assert (out, err) == ("a dot\nimage: image/png, about 9 bytes\n", f"Saved: {folder}/draw-2.png\n")
    assert [file.read_bytes() for file in sorted(folder.iterdir())] == [PNG, PNG]
    assert call("draw")[1] == "a dot\nimage: image/png, about 9 bytes (--save FOLDER writes it to a file)\n"


def test_a_folder_that_cannot_be_made_is_refused_before_the_call(call, tmp_path):
    (tmp_path / "file").touch()
    code, out, err = call("draw", "--save", str(tmp_path / "file"))
    assert (code, out, err) == (2, "", f"--save {tmp_path}/file: the folder cannot be made: File exists.\n")


def test_ctrl_c_cancels_the_call_and_says_so(call, tmp_path, monkeypatch):
    monkeypatch.setattr(interrupt, "exit_after", lambda *_: None)  # it would end the tests
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code, out, err = call("wait")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (code, out, err) == (130, "", "Cancelled: wait. What it had done by then is not undone.\n")
    assert (tmp_path / "cancelled").exists()
