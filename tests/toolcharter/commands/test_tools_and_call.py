import io
import json
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from rich.console import Console

from mcp_core import Settings
from mcp_core.calling.records import Answer
from tests.certificates import write_certificate
from tests.toolcharter.command_line import run
from toolcharter.commands.answer_text import print_answer
from toolcharter.local import targets

EXAMPLES = Path(__file__).parents[3] / "examples"
DEMO_COMMAND = [sys.executable, "-m", "toolcharter_examples.demo"]


def test_tools_in_a_pipe_are_json(capsys):
    code, out, _ = run(capsys, "tools", "demo")
    assert code == 0
    expected = [tool.to_wire() for tool in targets.load("demo", Settings()).list_tools()]
    assert json.loads(out) == {"tools": expected}


def test_one_tool_is_shown_with_its_full_documentation(capsys):
    code, out, _ = run(capsys, "tools", "demo", "add")
    assert code == 0
    assert json.loads(out)["documentation"] == targets.load("demo", Settings()).documentation("add")


def test_prompts_and_resources_are_listed_on_request(capsys):
    code, out, _ = run(capsys, "tools", "demo", "--prompts")
    assert (code, [prompt["name"] for prompt in json.loads(out)]) == (0, ["review_notes"])
    code, out, _ = run(capsys, "tools", "demo", "--resources")
    note, *documents, template = json.loads(out)
    assert code == 0
    assert all(document["uri"].startswith("toolcharter://tools/") for document in documents)
    assert note == {"uri": "note://note_1", "name": "Welcome", "mimeType": "text/markdown"}
    assert template["uriTemplate"] == "note://{note_id}"


def test_a_server_without_prompts_has_an_empty_list(capsys):
    code, out, _ = run(capsys, "tools", str(EXAMPLES / "words.py"), "--prompts")
    assert (code, json.loads(out)) == (0, [])


def test_a_terminal_shows_prompts_and_resources_below_the_tools(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, _ = run(capsys, "tools", "demo")
    assert code == 0
    below = out[out.index("find_notes") :]
    assert "review_notes" in below
    assert "note://note_1" in below
    assert "note://{note_id}" in below
    assert "toolcharter://tools/" not in out


def test_an_unknown_tool_is_answered_with_the_known_ones(capsys):
    code, out, err = run(capsys, "tools", str(EXAMPLES / "words.py"), "nothing")
    assert (code, out, err) == (2, "", "The server has no tool 'nothing'. Its tools: count_words.\n")


def test_a_tool_that_a_server_finds_by_a_search_is_answered_with_the_way_to_call_it(capsys, tmp_path):
    file = tmp_path / "searching.py"
    file.write_text(
        "from toolcharter import App\napp = App('searching', version='1.0.0')\n"
        "@app.tool\ndef search_tools(query: str) -> list[str]:\n    return []\n"
        "@app.tool\ndef call_tool(name: str) -> str:\n    return name\n",
        encoding="utf-8",
    )
    code, out, err = run(capsys, "call", f"{file}:app", "read_file", "path=a")
    assert (code, out) == (2, "")
    assert err == (
        "The server does not list 'read_file'. Find tools with search_tools, and call one with: "
        "call_tool name=read_file arguments='{...}'\n"
    )


def test_a_call_in_a_pipe_prints_what_an_agent_gets(capsys):
    code, out, _ = run(capsys, "call", str(EXAMPLES / "words.py"), "count_words", "text=one two three")
    assert (code, json.loads(out)) == (0, 3)


def test_strings_stay_strings_and_numbers_are_parsed_as_json(capsys):
    assert run(capsys, "call", str(EXAMPLES / "words.py"), "count_words", "text=5")[0] == 0
    code, out, _ = run(capsys, "call", "demo", "add", "a=2", "b=3")
    assert (code, json.loads(out)["data"]) == (0, 5)


def test_all_arguments_can_be_given_as_json(capsys):
    for words in (["--json", '{"a": 2, "b": 3}'], ['{"a": 2, "b": 3}'], ['{"a": 2}', "b=3"]):
        code, out, _ = run(capsys, "call", "demo", "add", *words)
        assert (code, json.loads(out)["data"]) == (0, 5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add", "five"), "'five' is not key=value. Write five=VALUE.\n"),
        (("add", "--json", "{"), "--json is not valid JSON: "),
        (("add", '{"a": 2'), "The argument is not valid JSON: "),
        (("add", "--json", "[]"), '--json takes an object, such as {"a": 1}\n'),
        (("ad",), "The server has no tool 'ad'. Did you mean 'add'? Its tools: add, "),
    ],
)
@pytest.mark.parametrize("server", ["name", "address", "command"])
def test_a_call_that_cannot_be_made_is_one_line_and_exit_code_2_on_every_server(
    capsys, address, server, words, message
):
    named = {"name": ["demo"], "address": [address], "command": []}[server]
    command = ["--", *DEMO_COMMAND] if server == "command" else []
    code, out, err = run(capsys, "call", *named, *words, *command)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(message)


def test_an_unknown_tool_of_a_remote_server_is_one_line(capsys, address):
    code, out, err = run(capsys, "tools", address, "ad")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("The server has no tool 'ad'. Did you mean 'add'? Its tools: add, ")


def test_a_tool_that_fails_gives_exit_code_1(capsys):
    code, out, _ = run(capsys, "call", "demo", "get_note", "note_id=note_99")
    assert (code, json.loads(out)["error"]["type"]) == (1, "NotFoundError")


def test_grants_apply_in_the_terminal_too(capsys):
    code, out, _ = run(capsys, "call", "demo", "add", "a=1", "b=2", "--grants", "notes:read")
    assert (code, json.loads(out)["error"]["type"]) == (1, "PermissionError")


def test_options_may_come_between_the_arguments(capsys):
    assert run(capsys, "call", "demo", "--user", "ana", "add", "a=2", "--log-level", "ERROR", "b=3")[0] == 0


def test_an_address_without_a_server_is_explained(capsys):
    code, _, err = run(capsys, "call", "http://127.0.0.1:1/mcp", "add")
    assert (code, err) == (1, "http://127.0.0.1:1/mcp: nothing listens at this address; is the server running?\n")


@contextmanager
def serving(*options):
    """The address of a running demo."""
    program = "from toolcharter.cli import main; main()"
    command = [sys.executable, "-c", program, "serve", "demo", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        lines = iter(server.stderr.readline, "")
        yield next(line.split()[-1] for line in lines if "/demo/mcp" in line)
        server.terminate()
        server.stderr.read()


@pytest.fixture(scope="module")
def address():
    with serving() as url:
        yield url


def test_a_certificate_that_is_not_trusted_and_an_address_without_tls_are_explained(capsys, tmp_path, address):
    certificate, key = write_certificate(tmp_path)
    with serving("--tls-cert", str(certificate), "--tls-key", str(key)) as url:
        not_trusted = run(capsys, "tools", url)[2]
    no_tls = run(capsys, "tools", address.replace("http:", "https:"))[2]
    assert "is not trusted here: self-signed certificate. Set SSL_CERT_FILE to a PEM file" in not_trusted
    assert no_tls.endswith(": no TLS is spoken at this address; does it begin with http://?\n")


@pytest.mark.parametrize(("path", "status"), [("/nothing", "404 Not Found"), ("/", "405 Method Not Allowed")])
def test_an_address_without_a_server_says_what_addresses_look_like(capsys, address, path, status):
    wrong = httpx2.URL(address).join(path)
    message = (
        f"{wrong}: there is no MCP server at this address ({status}). Most addresses of MCP servers end in /mcp.\n"
    )
    assert run(capsys, "call", str(wrong), "add", "a=2", "b=3") == (1, "", message)


def test_a_name_that_the_server_does_not_answer_to_is_explained(capsys):
    with serving("--host", "0.0.0.0", "--grants", "*") as url:
        assert run(capsys, "call", url, "add", "a=2", "b=3")[0] == 0  # by the name of the machine
        other = url.replace(socket.gethostname(), "127.0.0.2")
        message = "the server does not answer to the name '127.0.0.2'. A server of toolcharter does with --allow-hosts"
        assert run(capsys, "call", other, "add", "a=2", "b=3") == (1, "", f"{other}: {message} 127.0.0.2.\n")


def test_a_host_that_does_not_exist_is_named_as_such(capsys):
    assert run(capsys, "tools", "http://nowhere.invalid/mcp") == (
        1,
        "",
        "http://nowhere.invalid/mcp: no host has this name.\n",
    )


def test_a_call_without_a_tool_says_that_it_is_missing(capsys):
    code, _, err = run(capsys, "call", "hello.py")
    assert (code, err) == (2, "No tool was given. Write: toolcharter call hello.py TOOL [key=value ...]\n")


def test_a_server_that_requires_a_token_is_called_with_one(capsys, tmp_path):
    tokens = {"ana-1": {"user": "ana", "grants": ["*"]}, "ben-1": {"user": "ben", "grants": ["notes:read"]}}
    (tmp_path / "tokens.json").write_text(json.dumps(tokens), encoding="utf-8")
    with serving("--tokens", str(tmp_path / "tokens.json")) as url:
        _, _, not_allowed = run(capsys, "call", "--token", "ben-1", url, "add", "a=2", "b=3")
        without = run(capsys, "call", url, "add", "a=2", "b=3")
        wrong = run(capsys, "call", "--token", "ana-2", url, "add", "a=2", "b=3")
        code, out, _ = run(capsys, "call", "--token", "ana-1", url, "add", "a=2", "b=3")
    assert without == (1, "", f"{url}: the server requires a token; give one with --token.\n")
    assert wrong == (1, "", f"{url}: the server rejects this token; give another one with --token.\n")
    assert (code, json.loads(out)["data"]) == (0, 5)
    assert not_allowed.startswith("The server has no tool 'add' that this token may use. Its tools: ")


def test_a_server_that_cannot_verify_a_token_now_is_not_said_to_reject_it(capsys):
    issuer, token = "http://127.0.0.1:1", "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.e30.AAAA"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with serving("--port", port, "--oidc", issuer, "--audience", f"http://127.0.0.1:{port}") as url:
        answer = run(capsys, "call", "--token", token, url, "add", "a=2", "b=3")
    assert answer == (
        1,
        "",
        f"{url}: the server cannot answer now (503 Service Unavailable). Try again in 5 seconds.\n",
    )


def test_a_running_server_is_listed_and_called_by_its_address(capsys, address):
    code, out, _ = run(capsys, "tools", address)
    assert (code, json.loads(out)["tools"][0]["name"]) == (0, "add")
    code, out, _ = run(capsys, "call", address, "add", "a=2", "b=3")
    assert (code, json.loads(out)["data"]) == (0, 5)
    code, out, _ = run(capsys, "call", address, "get_note", "note_id=note_99")
    assert (code, json.loads(out)["error"]["type"]) == (1, "NotFoundError")
    code, out, err = run(capsys, "call", address, "ad")
    assert (code, out, err.partition(" Its")[0]) == (2, "", "The server has no tool 'ad'. Did you mean 'add'?")
    code, out, _ = run(capsys, "tools", address, "--prompts")
    assert (code, json.loads(out)) == (0, json.loads(run(capsys, "tools", "demo", "--prompts")[1]))
    code, out, _ = run(capsys, "tools", address, "--resources")
    assert (code, json.loads(out)) == (0, json.loads(run(capsys, "tools", "demo", "--resources")[1]))
    code, out, _ = run(capsys, "tools", address, "add")
    assert json.loads(out)["documentation"].startswith("## Description\nAdd two whole numbers.")


def printed(answer):
    out = io.StringIO()
    print_answer(answer, Console(file=out, width=200))
    return out.getvalue()


def test_an_image_is_shown_by_its_type_and_size():
    blocks = '{"type":"image","data":"AAECAwQF","mimeType":"image/png"}'
    assert printed(Answer('{"success":true,"value":1}', blocks=blocks)) == "1\nimage: image/png, about 6 bytes\n"
    assert printed(Answer("", blocks=blocks)) == "image: image/png, about 6 bytes\n"


def test_a_success_shows_value_channels_and_next_steps():
    hints = {
        "suggestedNextActions": [{"action": "get_note", "data": {"note_id": "note_2"}}],
        "warnings": [{"message": "Slow."}],
        "reasoning": "Because.",
    }
    text = json.dumps({"data": {"id": "note_2"}, "message": "Noted.", "instruction": "Go on.", "agentHints": hints})
    assert printed(Answer(text)) == (
        '{\n  "id": "note_2"\n}\nmessage: Noted.\ninstruction: Go on.\nnext: get_note note_id="note_2"\n'
        "warning: Slow.\nBecause.\n"
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"success": False, "error": "No.", "error_type": "NotFoundError"}, "NotFoundError: No.\n"),
        ({"error": "No."}, "No.\n"),
        ({"data": None, "error": {"type": "ConflictError", "message": "No."}}, "ConflictError: No.\n"),
    ],
)
def test_a_failure_reads_the_same_in_every_format(body, text):
    assert printed(Answer(json.dumps(body), is_error=True)) == text


@pytest.mark.parametrize(
    "hints",
    ["none", ["none"], {"suggestedNextActions": 3}, {"suggestedNextActions": [3, {"data": 4}], "warnings": [5]}],
)
def test_malformed_hints_of_a_server_do_not_hide_its_result(hints):
    assert printed(Answer(json.dumps({"data": 5, "agentHints": hints}))).startswith("5\n")


@pytest.mark.parametrize("body", ["\x1b[2J\x9b2J", json.dumps("\x1b[2J\x9b2J", ensure_ascii=False)])
def test_a_result_cannot_control_the_terminal(body):
    assert printed(Answer(body)).strip('"\n') == "\\u001b[2J\\u009b2J"


def test_a_result_that_is_not_json_is_shown_as_it_is():
    assert printed(Answer("plain [b]text[/b]")) == "plain [b]text[/b]\n"


def test_a_tool_is_found_with_or_without_its_prefix(capsys, monkeypatch):
    monkeypatch.setenv("MCP_TOOL_PREFIX", "notes")
    code, out, _ = run(capsys, "call", "demo", "add", "a=2", "b=3")
    assert (code, json.loads(out)["data"]) == (0, 5)
    assert run(capsys, "call", "demo", "notes_add", "a=2", "b=3")[0] == 0
    code, out, _ = run(capsys, "tools", "demo", "create_note")
    assert json.loads(out)["name"] == "notes_create_note"
    code, _, err = run(capsys, "call", "demo", "note")
    assert (code, "The server has no tool 'note'" in err) == (2, True)


# ---- options of one server -----------------------------------------------------------------------

OWN_SETTINGS = """
from pydantic import Field
from toolcharter import App, Settings

class Further(Settings):
    color: str = Field(default="red", min_length=3, description="A color.")
    config: str = Field(default="none", description="A file.")

def build(settings: Further) -> App:
    app = App("own", version="1.0.0", settings=settings, format="bare")

    @app.tool
    def color() -> list[str]:
        return [settings.color, settings.config]

    return app
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.py").write_text(OWN_SETTINGS, encoding="utf-8")
    return str(tmp_path / "own.py")


def test_the_options_of_a_server_can_be_given_anywhere(capsys, own, monkeypatch):
    for words in (f"--color blue {own} color", f"{own} color --color blue", f"{own}:build --color=blue color"):
        assert run(capsys, "call", *words.split()) == (0, '["blue","none"]\n', "")
    monkeypatch.setenv("TOOLCHARTER_COLOR", "green")
    assert run(capsys, "call", own, "color") == (0, '["green","none"]\n', "")
    assert run(capsys, "call", own, "color", "--color", "blue") == (0, '["blue","none"]\n', "")
    code, out, err = run(capsys, "call", own, "color", "--color", "")
    assert (code, out, err) == (2, "", "--color: String should have at least 3 characters, got ''\n")


def test_an_option_of_another_server_is_refused(capsys, own):
    for words in ((own, "color", "--docs-root", "x"), ("http://127.0.0.1:1/mcp", "color", "--color", "blue")):
        code, out, err = run(capsys, "call", *words)
        assert (code, out) == (2, "")
        assert "error: unrecognized arguments: --" in err


def test_an_option_that_a_command_has_itself_is_not_the_server_s(capsys, own, tmp_path):
    (tmp_path / "rules.toml").write_text("", encoding="utf-8")
    words = ("verify", own, "--config", str(tmp_path / "rules.toml"), "--color", "blue", "--select", "SCH001")
    assert run(capsys, *words)[0] == 0


@pytest.mark.parametrize("server", ["name", "address", "command"])
def test_a_terminal_shows_the_progress_of_a_call_on_every_server(capsys, address, server, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    named = {"name": ["demo"], "address": [address], "command": []}[server]
    command = ["--", *DEMO_COMMAND] if server == "command" else []
    code, out, err = run(capsys, "call", *named, "digest_notes", *command)
    assert (code, json.loads(out)["data"]["notes"], err) == (0, 1, "\r  100 % (1 of 1) Welcome\x1b[K\n")
