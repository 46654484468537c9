"""The command that every server has, run as a command."""

import contextlib
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from pydantic import Field

from mcp_core import App, DeclarationError, Settings, mcp_log
from mcp_core.settings.model import environment_variable
from tests.thorough import VARIABLE
from toolcharter.serving.run import Program, greeting, run

DEMO = str(Path(__file__).resolve().parents[3] / "examples" / "demo.py")


@contextlib.contextmanager
def started(*arguments: str, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, DEMO, *arguments]
    with subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """What the command says up to the line that matches."""
    said = ""
    for line in process.stderr:
        said += line
        if re.search(pattern, line):
            return said
    raise AssertionError(f"it ended before saying {pattern}:\n{said}")


def ended(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, DEMO, *arguments]
    return subprocess.run(
        command, input="", capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **environment}
    )


async def test_without_arguments_it_serves_stdio():
    async with Client(StdioServerParameters(command=sys.executable, args=[DEMO])) as client:
        result = await client.call_tool("add", {"a": 2, "b": 3})
    assert json.loads(result.content[0].text)["data"] == 5


def test_http_prints_where_it_serves_and_ctrl_c_ends_it_without_a_stack():
    with started("http", "--port", "0") as process:
        said = read_until(process, "Stop: Ctrl\\+C")
        base = re.search(r"(?:Console:|at) (http://127\.0\.0\.1:\d+)/", said)[1]
        with httpx2.Client(transport=httpx2.HTTPTransport(retries=5)) as http:
            assert http.get(f"{base}/health").json() == {"status": "ok", "servers": {"demo": "1.0.0"}}
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (output, errors) == ("", "")
    assert f"toolcharter call {base}/demo/mcp add a=2 b=3" in said


SLOW = """
import asyncio, sys, time
from toolcharter import App, Settings, run

def build(settings: Settings) -> App:
    app = App("slow", version="1.0.0", settings=settings)

    @app.tool
    async def wait() -> str:
        print("running", file=sys.stderr, flush=True)
        await asyncio.sleep(100)

    @app.tool
    def block() -> str:
        print("running", file=sys.stderr, flush=True)
        time.sleep(100)

    @app.tool
    async def hog() -> str:
        print("running", file=sys.stderr, flush=True)
        time.sleep(100)

    return app

if __name__ == "__main__":
    run(build)
"""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
def slow(tmp_path: Path) -> str:
    file = tmp_path / "slow.py"
    file.write_text(SLOW, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("tool", ["wait", "block", "hog"] if VARIABLE in os.environ else ["block"])
def test_ctrl_c_ends_an_http_server_with_a_call_in_flight_without_a_stack(slow: str, tool: str):
    command = [sys.executable, slow, "http", "--port", "0", "--deadline", "200", "--drain-seconds", "0.5"]
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {}, "_meta": META},
    }
    body = json.dumps(message).encode()
    lines = [b"POST /mcp HTTP/1.1", b"Host: 127.0.0.1", b"Content-Type: application/json"]
    lines += [b"Accept: application/json, text/event-stream", b"MCP-Protocol-Version: 2026-07-28"]
    lines += [b"Mcp-Method: tools/call", b"Mcp-Name: " + tool.encode(), b"Content-Length: %d" % len(body), b"", body]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        port = int(re.search(r"(?:Console:|at) http://127\.0\.0\.1:(\d+)/", read_until(process, "Stop: Ctrl"))[1])
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"\r\n".join(lines))
            read_until(process, "running")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)  # far less than the call takes
    assert process.returncode == 130
    waiting = "Waiting up to 0.5 seconds for 1 call that is running. A second signal stops at once.\n"
    assert errors.startswith("" if tool == "hog" else waiting)
    assert "Traceback" not in errors


@pytest.mark.parametrize(("tool", "stdio"), [("block", False), ("wait", True)])
def test_ctrl_c_ends_a_call_from_the_terminal_without_a_stack(slow: str, tool: str, *, stdio: bool):
    server = [tool, "--", sys.executable, slow, "--deadline", "200"] if stdio else [slow, tool, "--deadline", "200"]
    command = [sys.executable, "-c", "from toolcharter.cli import main; main()", "call", *server]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        read_until(process, "running")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    cancelled = f"Cancelled: {tool}. What it had done by then is not undone.\n"
    assert (process.returncode, errors) == (130, cancelled)


def test_ctrl_c_ends_a_stdio_server_at_a_terminal_at_once():
    terminal, stdin = pty.openpty()
    try:
        with started(stdin=stdin) as process:
            read_until(process, "End it with Ctrl\\+D")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
    finally:
        os.close(terminal)
        os.close(stdin)
    assert process.returncode == -signal.SIGINT
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "said"),
    [
        (("http", "--port", "banana"), {}, 2, "--port: Input should be a valid integer"),
        (("http",), {"TOOLCHARTER_PORT": "banana"}, 2, "TOOLCHARTER_PORT: Input should be a valid integer"),
        (("--deadline", "0"), {}, 2, "--deadline: Input should be greater than 0, got '0'"),
        (("ftp",), {}, 2, "invalid choice: 'ftp'; choose stdio or http"),
        (("htp", "--port", "1", "x"), {}, 2, "invalid choice: 'htp'; choose stdio or http"),
        (("--usr", "ana"), {}, 2, "unrecognized arguments: --usr; did you mean --user?"),
        (("--user", ""), {}, 2, "--user: String should have at least 1 character, got ''"),
        (("--log-level", "LOUD"), {}, 2, "invalid choice: 'LOUD'"),
        (("--redis", "localhost"), {}, 2, "--redis is not a Redis URL; write redis://host:6379/0."),
        (("http", "--port", "0", "--redis", "localhost"), {}, 2, "--redis is not a Redis URL"),
        (
            ("http", "--tokens", "/nowhere"),
            {},
            2,
            "The token file /nowhere does not exist. Create it with",
        ),
        (("http", "--host", "0.0.0.0"), {}, 2, "Refusing to listen on 0.0.0.0"),
        (("--log-file", "/dev/null/x"), {}, 1, "The log file '/dev/null/x' cannot be written: Not a directory."),
        (("--audit", "/dev/null/x"), {}, 1, "The audit file '/dev/null/x' cannot be written: "),
        (("http", "--port", "0", "--audit", "/dev/null/x"), {}, 1, "The audit file '/dev/null/x' cannot be wri"),
    ],
)
def test_a_server_that_cannot_start_says_why_without_a_stack(arguments, environment, code: int, said: str):
    done = ended(*arguments, **environment)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert " ERROR " not in done.stderr
    assert done.stdout == ""


def test_help_names_every_setting_and_its_variable(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as left:
        run(lambda _: pytest.fail("nothing is built"), ["--help"])
    assert left.value.code == 0
    words = capsys.readouterr().out.split()
    for name in Settings.model_fields:
        assert f"--{name.replace('_', '-')}" in words
        assert f"[{environment_variable(name)}]" in words


def test_a_mistake_is_not_buried_below_all_options(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        run(lambda _: pytest.fail("nothing is built"), ["--port"])
    usage, message = capsys.readouterr().err.splitlines()
    assert usage.endswith("[stdio | http] [options]")
    assert message.endswith("error: argument --port: expected one argument")


def test_the_greeting_says_how_a_client_starts_this_very_server(monkeypatch: pytest.MonkeyPatch):
    app = App("demo", version="1.0.0", title="Demo")
    monkeypatch.setattr(sys, "argv", ["/opt/bin/mcp-demo"])
    add, line = greeting(app, Program("mcp-demo")).splitlines()[2:4]
    assert add == "To add it to a client: write this into its file:"
    assert line == '  {"mcpServers": {"demo": {"command": "/opt/bin/mcp-demo"}}}'
    monkeypatch.setattr(sys, "argv", ["demo.py"])
    add, line = greeting(app, Program("demo.py"), ["--user", "ana"]).splitlines()[2:4]
    assert add == "To add it to a client: toolcharter install CLIENT demo.py --user ana; or write this into its file:"
    arguments = [str(Path.cwd() / "demo.py"), "--user", "ana"]
    assert json.loads(line) == {"mcpServers": {"demo": {"command": sys.executable, "args": arguments}}}
    monkeypatch.setattr(sys, "argv", ["/opt/bin/toolcharter"])
    line = greeting(app, Program("toolcharter", "demo.py:build")).splitlines()[3]
    arguments = ["stdio", str(Path.cwd() / "demo.py:build")]
    assert json.loads(line) == {"mcpServers": {"demo": {"command": "/opt/bin/toolcharter", "args": arguments}}}
    add = greeting(App("todo", version="1.0.0"), Program("mcp-todo")).splitlines()[2]
    assert add == "To add it to a client: toolcharter install CLIENT todo; or write this into its file:"


def test_the_greeting_of_a_server_that_uvx_started_names_nothing_that_will_be_gone(tmp_path: Path, monkeypatch):
    (tmp_path / "CACHEDIR.TAG").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive"))
    monkeypatch.setattr(sys, "argv", [f"{tmp_path}/archive/bin/mcp-todo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    once = "uvx --from 'toolcharter[todo]'"
    try_it, add, line = greeting(App("todo", version="1.0.0"), Program("mcp-todo"), ["--user", "ana"]).splitlines()[1:4]
    assert try_it == f"To try it: {once} mcp-todo http, then open the address that it prints."
    assert add.startswith(f"To add it to a client: {once} toolcharter install CLIENT todo --user ana; or write this")
    arguments = ["--from", "toolcharter[todo]", "mcp-todo", "--user", "ana"]
    assert json.loads(line) == {"mcpServers": {"todo": {"command": "uvx", "args": arguments}}}


def test_tools_that_are_declared_wrongly_are_listed(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(mcp_log, "configure", lambda *_, **__: None)

    def build(_: Settings):
        raise DeclarationError(["add: tags: is missing", "sub: category: is missing"])

    with pytest.raises(SystemExit, match=r"^1$"):
        run(build, [])
    assert "declared wrongly:\nadd: tags: is missing\nsub: category: is missing\n" in capsys.readouterr().err


class Further(Settings):
    docs_root: str | None = Field(default=None, description="Folder of the documents.")


def test_a_server_with_settings_of_its_own_is_built_from_them(capsys):
    def build(settings: Further) -> App:
        raise DeclarationError([f"built from {settings.docs_root}"])

    with pytest.raises(SystemExit, match=r"^1$"):
        run(build, ["--docs-root", "/guides"])
    assert "built from /guides" in capsys.readouterr().err


def test_the_log_goes_where_it_is_told(tmp_path: Path):
    log = tmp_path / "server.log"
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "find_notes",
            "arguments": {"words": "x"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    with started("--log-file", str(log), "--log-json", stdin=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(call) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        output, errors = process.communicate(timeout=60)
    assert (output, errors) == ("", "")
    (entry,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert (entry["level"], entry["message"][:34]) == ("WARNING", "Tool find_notes is deprecated: Dep")
