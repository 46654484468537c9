"""How many functions of this project a call of `add_task` over HTTP enters: a figure that no load can change."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import mcp_todo
from mcp_core import Settings
from mcp_todo.app import build
from tests.toolcharter.serving.raw_http import call_bytes, connection, response, serving, until
from toolcharter.serving.connections import ConnectionPhase

SOURCES = str(Path(mcp_todo.__file__).parents[1])
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
STATED = re.compile(r"enters (\d+) functions in (\d+) files")
CALLS = 7
"""The first ones open the database; a timer may run during one."""

TOLERANCE = 5


@contextmanager
def counted(entered: list[str]) -> Iterator[None]:
    """Note the file of each function of this project that is entered. Records are made without one."""

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCES):
            entered.append(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


async def test_a_call_enters_no_more_functions_than_the_page_says(tmp_path: Path):
    app = build(Settings(db=f"sqlite:///{tmp_path / 'todo.db'}", grants=None))
    counts: list[tuple[int, int]] = []
    async with serving(app) as (site, port), connection(port) as (reader, writer):
        for number in range(CALLS):
            request = call_bytes("add_task", number, user_id="ana", title="Buy milk")
            head, end, body = request.partition(b"\r\n\r\n")
            files: list[str] = []
            with counted(files):
                writer.write(head + end)  # as the client of the SDK does, in two writes
                await until(lambda: [each.phase for each in site.connections._open] == [ConnectionPhase.BODY])
                writer.write(body)
                assert (await response(reader))[0] == 200
            counts.append((len(files), len(set(files))))
    stated = tuple(map(int, STATED.search(PAGE.read_text(encoding="utf-8")).groups()))
    entered = min(counts)
    assert entered <= stated, "a call enters more functions than docs/architecture.md says"
    assert stated[0] - entered[0] < TOLERANCE, "docs/architecture.md can have a lower figure"
