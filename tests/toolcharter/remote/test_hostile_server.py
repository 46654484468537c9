"""A server that behaves badly cannot hang a command, or write to the terminal of the person who runs it."""

import argparse
import io
import json
import re
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from anyio import EndOfStream

from tests.toolcharter.command_line import run
from tests.toolcharter.remote import hostile_server
from toolcharter.commands import connection, questions
from toolcharter.output.progress_line import ProgressLine
from toolcharter.remote import client, message_limit
from toolcharter.verify.rules.live import output_schema_mismatch

COMMAND = [sys.executable, str(Path(__file__).with_name("hostile_server.py"))]
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])


async def nobody(params):
    return {"action": "decline"}


def run_command(capsys, transport, behaviour, command, *words):
    """The exit code, stdout and stderr of a command on the server."""
    if transport == "stdio":
        return run(capsys, command, *words, "--", *COMMAND, behaviour)
    with hostile_server.serving(behaviour) as address:
        return run(capsys, command, address, *words)


@asynccontextmanager
async def connected(transport, behaviour):
    if transport == "stdio":
        async with client.start([*COMMAND, behaviour], nobody) as server:
            yield server
    else:
        with hostile_server.serving(behaviour) as address:
            async with client.connect(address, None, nobody) as server:
                yield server


# ---- time and pages ------------------------------------------------------------------------------


@TRANSPORTS
def test_a_list_that_does_not_end_is_an_error(capsys, monkeypatch, transport):
    monkeypatch.setattr(client, "MAX_PAGES", 20)
    code, out, err = run_command(capsys, transport, "endless-pages", "tools")
    assert (code, out) == (1, "")
    assert err.endswith(": the list of tools does not end: 20 in 20 pages, and another page follows.\n")


@TRANSPORTS
def test_a_cursor_that_repeats_is_an_error(capsys, transport):
    code, out, err = run_command(capsys, transport, "same-page", "verify")
    assert (code, out) == (1, "")
    assert err.endswith(": the list of tools repeats a cursor: 2 in 2 pages, and another page follows.\n")


def test_a_list_that_is_too_large_is_an_error(capsys, monkeypatch):
    monkeypatch.setattr(client, "MAX_ITEMS", 10)
    code, out, err = run_command(capsys, "http", "endless-pages", "lock", "--check")
    assert (code, out) == (1, "")
    assert err.endswith(": the list of tools does not end: 11 in 11 pages, and another page follows.\n")


@TRANSPORTS
def test_pages_that_are_too_large_together_are_an_error(capsys, monkeypatch, transport):
    monkeypatch.setattr(client, "MAX_LIST_SIZE", 1000)
    code, out, err = run_command(capsys, transport, "endless-pages", "tools")
    assert (code, out) == (1, "")
    assert re.search(
        r": the list of tools is too large: 1,\d\d\d bytes, \d+ in \d+ pages, and another page follows\.\n", err
    )


@TRANSPORTS
@pytest.mark.parametrize("command", ["tools", "verify"])
def test_a_server_that_says_nothing_is_given_up_after_the_timeout(capsys, transport, command):
    code, out, err = run_command(capsys, transport, "silent", command, "--timeout", "0.3")
    assert (code, out) == (1, "")
    assert err.endswith(": the server did not answer in time. Give it more seconds with --timeout.\n")


async def use(transport, behaviour, timeouts):
    async with connected(transport, behaviour) as server:
        server._timeouts = timeouts
        await server.list_tools()
        await server.call("get", {})


@TRANSPORTS
@pytest.mark.parametrize(
    ("behaviour", "timeouts"),
    [("silent-list", client.Timeouts(answer=0.1)), ("silent-call", client.Timeouts(call=0.1))],
)
async def test_a_list_or_a_call_without_an_answer_is_given_up_after_the_timeout(transport, behaviour, timeouts):
    with pytest.raises(client.ServerUnreachable, match="did not answer in time"):
        await use(transport, behaviour, timeouts)


# ---- size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("transport", "behaviour"), [("stdio", "endless-message"), ("http", "endless-message"), ("http", "endless-event")]
)
def test_a_message_that_does_not_end_is_an_error(capsys, monkeypatch, transport, behaviour):
    monkeypatch.setattr(message_limit, "MAX_MESSAGE", 300_000)
    code, out, err = run_command(capsys, transport, behaviour, "tools")
    assert (code, out, "Traceback" in err) == (1, "", False)
    assert err.endswith(": the server sent a message that is larger than 300,000 bytes.\n")


def test_a_compressed_answer_is_an_error(capsys):
    code, out, err = run_command(capsys, "http", "compressed", "tools")
    assert (code, out) == (1, "")
    assert err.endswith(": the server sent an answer in the encoding 'gzip', which was not requested.\n")


class Chunks:
    """A pipe that gives these bytes, each item in one read."""

    def __init__(self, *chunks):
        self._chunks = list(chunks)

    async def receive(self):
        if not self._chunks:
            raise EndOfStream
        return self._chunks.pop(0)


async def test_lines_that_come_in_pieces_are_put_together(monkeypatch):
    monkeypatch.setattr(message_limit, "MAX_MESSAGE", 7)
    stream = message_limit.BoundedLines(Chunks(b"on", b"e\ntwo\nth", b"re", b"e\n", b"seven!!", b"\n", b"rest"))
    assert [text async for text in stream] == ["one\ntwo\n", "three\n", "seven!!\n", "rest"]


# ---- the terminal --------------------------------------------------------------------------------


OWN = re.compile(r"\x1b\[\??[0-9;]*[mKAhl]|\r")
"""Colours and the cursor of a progress bar. ESCAPES has none of them."""


def is_clean(text):
    """Whether nothing of the server can control the terminal."""
    return all(one.isprintable() or one in "\n\t" for one in OWN.sub("", text))


@TRANSPORTS
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("tools",), 0),
        (("tools", f"get{hostile_server.ESCAPES}"), 0),
        (("tools", "nothing"), 2),
        (("tools", "--prompts"), 0),
        (("tools", "--resources"), 0),
        (("verify", "--format", "json"), 1),
        (("verify", "--format", "markdown"), 1),
        (("call", f"get{hostile_server.ESCAPES}"), 0),
        (("verify",), 1),
        (("verify", "--output", "/dev/null"), 1),
    ],
)
def test_escapes_and_markup_of_a_server_do_not_reach_the_terminal(capsys, monkeypatch, transport, words, code):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    got, out, err = run_command(capsys, transport, "escapes", *words)
    assert (got, is_clean(out), is_clean(err)) == (code, True, True)
    assert words[0] != "call" or "owned\\u0007" in out


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with Cursor in it."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / ".cursor").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_in_files_and_in_a_governed_server_do_not_control_the_terminal(capsys, monkeypatch, home):
    bad = hostile_server.ESCAPES
    servers = {f"{name}{bad}": {"command": COMMAND[0], "args": [COMMAND[1], name]} for name in ("escapes", "crash")}
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    (home / "old.json").write_text(json.dumps({"tools": [hostile_server.tool(f"get{bad}")]}), encoding="utf-8")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    charter = ("--charter", "charter.toml")
    for words in (
        ("doctor",),
        ("doctor", "--json"),
        ("install", "cursor", "--remove", f"escapes{bad}"),
        ("install", "cursor", f"todo{bad}"),
        ("govern", "import", *charter),
        ("govern", "add", "bad", *charter, "--", *COMMAND, "escapes"),
        ("govern", "status", *charter),
        ("govern", "review", *charter),
        ("govern", "approve", "bad", *charter),
        ("govern", "deny", f"bad:{bad}", *charter),
        ("diff", "old.json", f"missing{bad}.json"),
        ("diff", "old.json", "--", *COMMAND, "escapes"),
        ("diff", "old.json", "--format", "json", "--", *COMMAND, "escapes"),
        ("lock", "--output", "old.json", "--", *COMMAND, "escapes"),
        ("verify", f"missing{bad}"),
        ("config", f"missing{bad}"),
        ("audit", f"missing{bad}"),
        (f"missing{bad}",),
        ("rules", bad),
        ("tools", f"--option{bad}"),
    ):
        _, out, err = run(capsys, *words)
        assert out + err
        assert (words, is_clean(out), is_clean(err)) == (words, True, True)
        if "--json" in words or "json" in words:
            json.loads(out)


async def test_questions_and_progress_of_a_server_do_not_reach_the_terminal_as_they_are(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert await questions.ask_on_terminal(f"Sure {hostile_server.ESCAPES}?")
    monkeypatch.setenv("COLUMNS", "300")
    await ProgressLine().report(1, 2, f"working {hostile_server.ESCAPES}")
    err = capsys.readouterr().err
    assert is_clean(err)
    assert err.count("[bold]x[/bold]") == 2


def test_a_server_may_ask_ten_questions(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 20))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    code, _, err = run_command(capsys, "stdio", "asks", "call", "get")
    assert (code, err.count("Question"), is_clean(err)) == (0, 10, True)


# ---- patterns and schemas ------------------------------------------------------------------------


@TRANSPORTS
@pytest.mark.parametrize(
    "behaviour", ["pattern-in-arguments", "nested-arguments", "pattern-in-result", "nested-result"]
)
def test_patterns_and_schemas_that_need_exponential_time_do_not_hang_a_command(
    capsys, monkeypatch, transport, behaviour
):
    monkeypatch.setattr(output_schema_mismatch, "DEADLINE", 0.1)
    started = time.process_time()
    assert run_command(capsys, transport, behaviour, "call", "get", "--json", '{"key": "x"}')[0] == 0
    code, out, _ = run_command(capsys, transport, behaviour, "verify", "--live", "--select", "live", "--format", "json")
    assert time.process_time() - started < 10
    found = {finding["name"]: finding["message"] for finding in json.loads(out)["findings"]}
    assert code == (1 if found else 0)
    if "result" in behaviour:
        assert found["output-schema-mismatch"].endswith("the schema cannot be used: The work was stopped after 0.1 s.")


# ---- other texts ---------------------------------------------------------------------------------


@TRANSPORTS
def test_poisoned_instructions_prompts_and_resources_are_found(capsys, transport):
    code, out, _ = run_command(
        capsys, transport, "poisoned", "verify", "--select", "security", "--severity", "error", "--format", "json"
    )
    found = [(finding["rule"], finding["path"]) for finding in json.loads(out)["findings"]]
    places = ("instructions", "prompts.0", "resources.0")
    assert (code, found) == (1, [("SEC007", f"{place}.description") for place in places])


def test_lists_that_fail_are_named_and_the_tools_are_verified(capsys):
    code, out, err = run_command(capsys, "stdio", "broken-lists", "verify", "--select", "DSC001", "--format", "json")
    assert (code, json.loads(out)["findings"]) == (0, [])
    assert err == (
        "The prompts were not checked, because listing them failed: no prompts/list\n"
        "The resources were not checked, because listing them failed: no resources/list\n"
    )


# ---- questions and the log -----------------------------------------------------------------------


def test_a_verification_declines_questions_without_waiting(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    sys.stdin.close()  # whoever reads it fails
    code, _, err = run_command(capsys, "stdio", "asks", "verify", "--live", "--select", "LIV001")
    assert (code, err) == (0, "")


async def test_a_server_of_ours_asks_nobody_during_a_verification(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    options = argparse.Namespace(server="demo", command=[], log_level=None)
    async with connection.connect(options) as unattended, connection.connect(options, attended=True) as attended:
        assert (unattended._ask, attended._ask) == (None, questions.ask_on_terminal)


@pytest.mark.parametrize("command", ["tools", "verify"])
def test_the_log_of_a_server_is_not_shown_while_all_is_well(capsys, command):
    assert run_command(capsys, "stdio", "fine", command)[2] == ""


def test_a_call_shows_the_log_from_the_call_and_not_from_the_start(capsys):
    code, _, err = run_command(capsys, "stdio", "fine", "call", "get")
    assert (code, err.count("\n"), is_clean(err)) == (0, 1, True)
    assert err.startswith("Never heard of tools/call \\u001b")


def test_the_log_says_why_a_server_cannot_be_reached(capsys):
    code, _, err = run_command(capsys, "stdio", "crash", "verify")
    log, error = err.splitlines()
    assert (code, is_clean(err)) == (1, True)
    assert log.startswith("No such table \\u001b")
    assert error.endswith(": the server closed the connection without an answer.")


def test_lines_on_stdout_that_are_not_messages_are_reported_once(capsys):
    code, out, err = run_command(capsys, "stdio", "noisy", "tools")
    assert (code, [tool["name"] for tool in json.loads(out)["tools"]]) == (0, ["get"])
    assert (err.count("\n"), is_clean(err)) == (1, True)
    assert err.endswith("The server writes lines to stdout that are not messages of MCP. Logs belong on stderr.\n")


# ---- what was called -----------------------------------------------------------------------------

NOT_JUDGED = [
    "Called 2 of 3 tools.",
    (
        "Not judged, because of an error outside the server: click and 1 more: "
        '"Executable doesn\'t exist at /root/.cache/chrome"'
    ),
]


def test_an_error_outside_the_server_is_reported_once_and_not_judged(capsys):
    words = ("verify", "--live", "--select", "live", "--format", "json", "--at-least", "50")
    code, out, err = run_command(capsys, "stdio", "no-browser", *words)
    report = json.loads(out)
    assert (code, err) == (1, "There is no score, but it must be at least 50.\n")
    assert (report["findings"], report["score"], report["tools"]) == ([], None, [])
    assert report["notes"] == NOT_JUDGED


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_report_says_how_many_tools_were_called(capsys, form):
    code, out, _ = run_command(capsys, "stdio", "no-browser", "verify", "--live", "--select", "live", "--format", form)
    assert (code, "Called 2 of 3 tools." in out) == (0, True)
    assert form == "html" or "no score, 3 tools" in out


def test_a_tool_that_was_not_called_keeps_the_score_of_the_static_rules(capsys):
    words = ("verify", "--live", "--select", "LIV001", "--select", "DSC001", "--format", "json")
    report = json.loads(run_command(capsys, "stdio", "no-browser", *words)[1])
    assert [tool["name"] for tool in report["tools"]] == ["click", "open", "write"]


@pytest.mark.parametrize(("path", "code"), [("/srv/notes", 0), ("/srv/notes/", 0), ("--root=/srv/notes", 0), ("1", 1)])
def test_a_path_on_the_command_line_of_the_server_is_not_a_leak(capsys, path, code):
    words = ("verify", "--live", "--select", "LIV008", "--", *COMMAND, "paths", path)
    assert run(capsys, *words)[0] == code
