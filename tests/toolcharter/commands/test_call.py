"""What a person sees of a call in a terminal, with a server in the same process and in another one."""

import io
import json
import os
import signal
import sys

import pytest

from mcp_core.process import interrupt
from tests.toolcharter.command_line import run

SERVER = """
import asyncio, os, signal
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Literal
from pydantic import BaseModel, Field
from toolcharter import App, Image, ToolContext, run

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

class Wall(BaseModel):
    wall: str

@app.tool(task="always", asks=True)
async def render(context: ToolContext) -> str:
    '''Render a report.'''
    await context.report_progress(1, 4, "Page 1.")
    return (await context.ask(Wall, "Which wall?")).wall

@app.tool(task="always")
async def run_long() -> str:
    '''Run until somebody cancels.'''
    return await wait()

class Colour(Enum):
    DEEP_RED = "red"
    SKY_BLUE = "blue"

class Room(BaseModel):
    name: str = Field(title="Name", description="Of the room.", min_length=2)
    colour: Colour
    coats: int = Field(default=2, ge=1, le=5)
    when: date
    extras: list[Literal["floor", "doors"]] = []
    note: str | None = None
    is_wet: bool = False

@app.tool(asks=True)
async def paint(context: ToolContext) -> str:
    '''Paint a room.'''
    room = await context.ask(Room, "Which room?")
    return room.model_dump_json()

@app.tool(asks=True)
async def pay(context: ToolContext) -> str:
    '''Pay for a room.'''
    return (await context.ask_url("Pay first.", "https://pay.example/1")).action

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

    run_call.is_local = request.param == "local"
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


@pytest.fixture
def interruptible(monkeypatch):
    """Ctrl+C is an exception, also in a worker of the tests, and does not end it."""
    monkeypatch.setattr(interrupt, "exit_after", lambda *_: None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_cancels_the_call_and_says_so(call, tmp_path):
    assert call("wait") == (130, "", "Cancelled: wait. What it had done by then is not undone.\n")
    assert (tmp_path / "cancelled").exists()


@pytest.fixture
def typed(monkeypatch):
    """A function that types lines at a terminal."""

    def type_lines(text):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True)

    return type_lines


def test_a_form_is_filled_in_and_each_field_is_asked_again_until_it_is_valid(call, typed):
    typed("\nA\nHall\ngreen\nSky blue\n9\n\nsoon\n2026-11-19\n2, floor\n\nmaybe\ny\n")
    code, out, err = call("paint")
    assert (code, json.loads(out)) == (
        0,
        {
            "name": "Hall",
            "colour": "blue",
            "coats": 2,
            "when": "2026-11-19",
            "extras": ["doors", "floor"],
            "note": None,
            "is_wet": True,
        },
    )
    assert [line.rstrip() for line in err.splitlines()] == FORM.splitlines()


FORM = """
Which room?
Enter takes a default, or skips what is optional. Ctrl+D declines the form.

Name (text, required): Of the room.
name:   This is required.
name:   This must have at least 2 characters.
name:
Colour (choose one, required)
  1) Deep red (red)
  2) Sky blue (blue)
colour:   This must be one of red, blue.
colour:
Coats (whole number, at least 1, at most 5, optional)
coats [2]:   This must be at most 5.
coats [2]:
When (date, such as 2026-11-19, required)
when:   This must be a date such as 2026-11-19.
when:
Extras (choose several, with commas between them, optional)
  1) floor
  2) doors
extras:
Note (text, optional)
note:
Is Wet (yes or no, optional)
is_wet [no]:   This must be true or false.
is_wet [no]:
"""


def test_a_form_is_declined_with_ctrl_d(call, typed):
    typed("Hall\n")
    code, out, err = call("paint")
    assert (code, "did not answer 'Which room?'" in out) == (1, True)
    assert "\nDeclined.\n" in err


def test_an_address_is_shown_and_opened_by_the_person(call, typed):
    typed("y\n")
    code, out, err = call("pay")
    assert (code, out) == (0, "accept\n")
    assert err == "\nPay first.\nTo go on, open this address in a browser: https://pay.example/1\nGo on? [y/N] "


def test_without_a_terminal_a_form_says_what_it_needs_or_where_it_can_be_answered(call, typed, monkeypatch):
    typed("")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    code, out, err = call("paint")
    assert code == 1
    if out:  # a server in this process can be asked what it needs
        assert "  Coats (whole number, at least 1, at most 5, optional)\n" in err
        assert "Nobody can answer here. Call the tool in a terminal.\n" in err
    else:
        assert "this client cannot ask them" in err
        assert err.endswith(" Call it in a terminal, where you can answer.\n")


@pytest.mark.requirement("PRO-5")
def test_a_task_is_followed_with_its_progress_and_its_questions(call, typed, monkeypatch):
    typed("north\n")
    is_terminal = call.is_local
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    code, out, err = call("render")
    line = "\r  25 % (1 of 4) Page 1.\x1b[K" if is_terminal else "  25 % (1 of 4) Page 1.\n"
    assert (code, out) == (0, "north\n")
    assert err.startswith(f"{line}\nWhich wall?\n")


@pytest.mark.requirement("PRO-5")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_cancels_a_task(call, tmp_path):
    code, out, err = call("run_long")
    assert (code, out) == (130, "")
    assert err.endswith("Cancelled: run_long. What it had done by then is not undone.\n")
    assert (tmp_path / "cancelled").exists()
