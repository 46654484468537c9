"""The first program of an author: eight lines, which every command takes."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.forkserver.commands import command_path
from tests.toolcharter.command_line import run
from toolcharter import App

HELLO = '''from toolcharter import App

app = App("hello")

@app.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

app.run()
'''


@pytest.fixture
def hello(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "hello.py"
    file.write_text(HELLO, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return file


async def until(lines: asyncio.StreamReader, word: str) -> AsyncIterator[bytes]:
    async for line in lines:
        yield line
        if word.encode() in line:
            return


def sum_in(text: str) -> int:
    answer = json.loads(text)
    return answer["value"] if isinstance(answer, dict) else answer


@pytest.mark.requirement("AUT-1")
@pytest.mark.parametrize("last", ["app.run()", "from toolcharter import run; run(app)"])
async def test_the_program_serves_over_stdio(hello, last):
    hello.write_text(HELLO.replace("app.run()", last), encoding="utf-8")
    async with Client(StdioServerParameters(command=command_path("python"), args=[str(hello)])) as client:
        assert sum_in((await client.call_tool("add", {"a": 1, "b": 2})).content[0].text) == 3


@pytest.mark.requirement("AUT-1")
@pytest.mark.parametrize(
    "command", [[sys.executable, "hello.py", "http"], [sys.executable, "-m", "toolcharter", "http", "hello.py"]]
)
async def test_the_program_serves_over_http(hello, command):
    words = [*command, "--port", "0", "--tool-prefix", "my"]
    process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE, cwd=hello.parent)
    try:
        assert process.stderr is not None
        lines = [line.decode() async for line in until(process.stderr, "/mcp")]
        async with Client(re.search(r"http://\S+/mcp", lines[-1])[0]) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["my_add"]
            assert sum_in((await client.call_tool("my_add", {"a": 1, "b": 2})).content[0].text) == 3
    finally:
        process.terminate()
        await process.communicate()


@pytest.mark.requirement("AUT-1")
def test_the_program_is_called_by_its_file(hello, capsys):
    code, out, err = run(capsys, "call", "hello.py", "add", "a=1", "b=2")
    assert (code, sum_in(out), err) == (0, 3, "")


@pytest.mark.requirement("AUT-1")
@pytest.mark.parametrize("words", [["tools", "hello.py"], ["lock", "hello.py"], ["config", "hello.py"]])
def test_every_command_takes_the_file(hello, capsys, words):
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert out


@pytest.mark.requirement("AUT-1")
def test_the_verifier_takes_the_file(hello, capsys):
    _, out, err = run(capsys, "verify", "hello.py")
    assert out.startswith("add ")
    assert err == ""


@pytest.mark.requirement("AUT-1")
def test_selection_is_evaluated_for_the_file(hello, capsys):
    cases = hello.with_name("cases.jsonl")
    cases.write_text('{"utterance": "What is 1 and 2?", "tool": "add"}\n', encoding="utf-8")
    code, out, err = run(capsys, "evaluate", "--cases", str(cases), "hello.py")
    assert (code, err) == (0, "")
    assert "add" in out or "1" in out


@pytest.mark.requirement("AUT-1")
def test_the_file_is_installed_in_a_client(hello, capsys, monkeypatch):
    monkeypatch.setenv("HOME", str(hello.parent))
    code, _, err = run(capsys, "install", "cursor", "hello.py", "--force")
    assert (code, err) == (0, "")
    entry = json.loads((hello.parent / ".cursor" / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["hello"]
    assert entry["args"][-2:] == ["stdio", str(hello)]


@pytest.mark.parametrize("command", [["hello.py"], ["-c", "import hello"]])
def test_an_error_at_import_is_that_of_python(hello, command):
    hello.write_text("import no_such_module\n" + HELLO, encoding="utf-8")
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, cwd=hello.parent)
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'no_such_module'\n")


def ended(hello: Path, text: str, *arguments: str) -> tuple[int, str]:
    hello.write_text(text, encoding="utf-8")
    command = [sys.executable, "hello.py", *arguments]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, cwd=hello.parent)
    return done.returncode, done.stderr


@pytest.mark.parametrize("last", ["", "app.run"])
def test_a_program_that_forgets_to_run_says_so(hello, last):
    hint = "hello.py has made the server 'hello', and has not served it. End hello.py with app.run().\n"
    assert ended(hello, HELLO.replace("app.run()", last)) == (0, hint)


@pytest.mark.parametrize(
    "last",
    [
        "app.run(['--version-of-nothing'])",
        "import toolcharter; toolcharter.run(app, ['--help'])",
        "import asyncio; asyncio.run(app.client().list_tools())",
        "1 / 0",
    ],
)
def test_a_program_that_uses_its_app_or_fails_gets_no_hint(hello, last):
    assert "has not served it" not in ended(hello, HELLO.replace("app.run()", last))[1]


def test_what_is_no_server_is_not_run(hello):
    assert ended(hello, "from toolcharter import run\nrun('hello')\n")[1].endswith(
        "TypeError: run serves an App, or a function build(settings) -> App, not 'hello'\n"
    )


@pytest.mark.parametrize(
    ("text", "name"), [("hello", "hello"), ("Demo \N{ROCKET}", "demo"), ("My server!", "my-server"), ("!", "server")]
)
def test_a_name_that_is_no_part_of_an_address_is_the_title(text, name):
    app = App(text)
    assert (app.name, app.title) == (name, text)


@pytest.mark.requirement("AUT-1")
def test_a_wrong_declaration_ends_the_program_with_its_reason_and_its_line(hello):
    hello.write_text(HELLO.replace("@app.tool", "@app.tool(rate_limit=3)"), encoding="utf-8")
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    command = [sys.executable, str(hello)]
    ended = subprocess.run(command, check=False, input=ping, capture_output=True, text=True, timeout=60)
    reason = (
        "hello.py cannot start, its tools are declared wrongly:\n"
        "add: rate_limit: 3 is not valid; give a RateLimit(max_calls, window_ms)\n"
        "hello.py, line 5"
    )
    assert (ended.returncode, ended.stderr) == (1, f"{reason}\n")
    assert json.loads(ended.stdout)["error"]["message"] == reason


@pytest.mark.requirement("AUT-1")
def test_a_call_warns_of_a_handler_that_blocks(hello, capsys, monkeypatch):
    monkeypatch.setattr("mcp_core.calling.pipeline.MAX_HOLD_SECONDS", 0.0)
    monkeypatch.setattr("mcp_core.calling.running.MAX_HOLD_SECONDS", -60.0)
    hello.write_text(HELLO.replace("def add", "async def add"), encoding="utf-8")
    code, out, err = run(capsys, "call", "hello.py", "add", "a=1", "b=2")
    assert (code, sum_in(out)) == (0, 3)
    assert "'add' held the event loop" in err
