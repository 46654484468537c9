"""`toolcharter dev`: a server that is started anew when its files change."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from tests.toolcharter.command_line import run
from toolcharter.commands.dev import changes, read_files

ADDS = '''from toolcharter import App
from shelf import EXTRA

app = App("hello")

@app.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b + EXTRA

app.run()
'''


class Server:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process, self.url = process, ""

    async def line(self, pattern: str) -> str:
        """The next line that matches."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            if found := re.search(pattern, line.decode()):
                return found[0]
        raise AssertionError(f"it ended before {pattern}")

    async def add(self) -> int:
        async with Client(self.url) as client:
            answer = json.loads((await client.call_tool("add", {"a": 1, "b": 2})).content[0].text)
        return answer["value"] if isinstance(answer, dict) else answer


@asynccontextmanager
async def started(file: Path) -> AsyncIterator[Server]:
    words = ["-m", "toolcharter", "dev", str(file), "--port", "0"]
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stderr=asyncio.subprocess.PIPE)
    server = Server(process)
    try:
        server.url = await server.line(r"http://\S+/mcp")
        await server.line("Stop: Ctrl")
        yield server
    finally:
        process.terminate()
        await process.communicate()


async def test_a_changed_file_is_served_and_a_broken_one_is_not(tmp_path):
    file, shelf = tmp_path / "hello.py", tmp_path / "shelf.py"
    file.write_text(ADDS, encoding="utf-8")
    shelf.write_text("EXTRA = 0\n", encoding="utf-8")
    async with asyncio.timeout(100), started(file) as server:
        assert await server.add() == 3
        shelf.write_text("EXTRA = 100\n", encoding="utf-8")
        assert re.fullmatch(r"shelf.py has changed. Reloaded in \d+\.\d s.", await server.line("shelf.py has.*"))
        assert await server.add() == 103
        file.write_text(f"{ADDS}x y\n", encoding="utf-8")
        said = await server.line("hello.py .*")
        assert said == "hello.py cannot be loaded, line 12: SyntaxError: invalid syntax (hello.py, line 12)"
        assert await server.line("hello.py .*") == "hello.py has changed. The server before it goes on."
        assert await server.add() == 103
        file.write_text(ADDS.replace("a + b", "a * b"), encoding="utf-8")
        await server.line("Reloaded")
        assert await server.add() == 102


async def test_changes_are_reported_once_when_files_are_complete(tmp_path):
    (tmp_path / "a.py").write_text("", encoding="utf-8")
    following = changes(tmp_path, 0.001)
    change = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    (tmp_path / "b.py").write_text("x = 1\n", encoding="utf-8")
    assert await asyncio.wait_for(change, 60) == "b.py"
    change = asyncio.ensure_future(anext(following))
    (tmp_path / "a.py").unlink()
    assert await asyncio.wait_for(change, 60) == "a.py"


def test_hidden_folders_and_virtual_environments_are_not_watched(tmp_path):
    for name in ("a.py", "sub/b.py", ".git/c.py", "__pycache__/d.py", "env/lib/e.py", "sub/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "env" / "pyvenv.cfg").write_text("", encoding="utf-8")
    assert sorted(read_files(tmp_path)) == [str(tmp_path / "a.py"), str(tmp_path / "sub" / "b.py")]


def test_what_is_no_file_is_refused(capsys):
    code, _, err = run(capsys, "dev", "todo")
    assert (code, err) == (2, "'todo' is not a file of Python. Write: toolcharter dev hello.py\n")
