"""`toolcharter install` and `toolcharter doctor`, as a person uses them, in a home of their own."""

import json
import re
import stat
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest

from tests.forkserver.commands import command_path
from tests.toolcharter.command_line import run
from toolcharter.clients import editing
from toolcharter.clients.files import copies
from toolcharter.clients.program import command_of
from toolcharter.packaging.launch import launch_of

CURSOR = ".cursor/mcp.json"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with Cursor, Codex and Goose in it, and a project."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "TOOLCHARTER_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    for folder in (".cursor", ".codex", ".config/goose", "project"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def program(name: str) -> str:
    return launch_of(name).installed()[0]


@pytest.mark.requirement("PKG-2")
def test_servers_are_added_with_their_options_and_absolute_paths_and_taken_out_again(capsys, home: Path):
    file = home / CURSOR
    old = '{\n  // mine\n  "mcpServers": {\n    "other": {"command": "x"}, // keep\n  },\n}\n'
    file.write_text(old)
    words = ("todo", "--user", "ana", "guide", "--docs-root", "docs", "--env", "KEY=v", "atl", "--read-only")
    code, out, _ = run(capsys, "install", "cursor", *words)
    assert (code, out.splitlines()[0]) == (0, "Cursor now has todo, guide, atl. Restart it.")
    text = file.read_text()
    assert text.startswith('{\n  // mine\n  "mcpServers": {\n    "other": {"command": "x"}, // keep\n    "todo": {\n')
    (copy,) = (home / ".cursor").glob("mcp.json.*.bak")
    assert copy.read_text() == old
    written = editing.read(text, "json")["mcpServers"]
    assert written.pop("other") == {"command": "x"}
    assert written == {
        "todo": {"command": program("todo"), "args": ["--user", "ana"]},
        "guide": {
            "command": program("guide"),
            "args": ["--docs-root", str(home / "project/docs")],
            "env": {"KEY": "v"},
        },
        "atl": {"command": program("atl"), "args": ["--read-only"]},
    }
    # Again: nothing to do, and no further copy.
    code, out, _ = run(capsys, "install", "cursor", *words)
    assert (code, out) == (0, f"Cursor has todo, guide, atl already. {file}\n")
    assert len([*(home / ".cursor").iterdir()]) == 2
    assert run(capsys, "install", "cursor", "--remove", "todo", "guide", "atl")[0] == 0
    assert file.read_text() == old


FROM = ("--from", "git+https://git.example/toolcharter@0123abc")
SERVER = """
from toolcharter import App, Settings

class Mine(Settings):
    words: str = "none"

def build(settings: Mine) -> App:
    return App("mine", version="1.0.0", settings=settings)
"""


def test_a_server_in_a_file_is_added_by_its_path_with_its_own_options_and_taken_out_again(capsys, home: Path):
    (home / "project/server.py").write_text(SERVER)
    assert run(capsys, "install", "cursor", "server.py", "--words", "a b")[1].startswith("Cursor now has mine.")
    args = ["stdio", str(home / "project/server.py"), "--words", "a b"]
    entry = json.loads((home / CURSOR).read_text())["mcpServers"]["mine"]
    assert (Path(entry["command"]).name, entry["args"]) == ("toolcharter", args)
    assert run(capsys, "install", "cursor", "server.py", "--wrds", "x")[2].startswith("server.py has no option --wrds")
    shown = json.loads(run(capsys, "install", "cursor", "server.py:build", "--scope", "project", *FROM, "--print")[1])
    assert shown["mcpServers"]["mine"]["args"][-2:] == ["stdio", "server.py:build"]
    assert run(capsys, "install", "cursor", "--remove", "server.py")[1].startswith("Cursor no longer has mine.")


def test_without_a_client_those_that_are_here_are_named(capsys, home: Path):
    code, _, error = run(capsys, "install")
    assert (code, error.splitlines()[0].partition(": ")[0]) == (2, "Give the name of a client")
    assert error.endswith("Found here: cursor, codex, goose.\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["curser", "todo"], "No client 'curser' is known. Did you mean 'cursor'? Known: claude-desktop, "),
        (["cursor", "tod"], "No server 'tod' is installed. Did you mean 'todo'? Installed: "),
        (["cursor", "missing.py"], "The file missing.py does not exist."),
    ],
)
def test_a_misspelled_name_is_answered_with_the_nearest_one(capsys, home: Path, words: list[str], says: str):
    code, _, error = run(capsys, "install", *words)
    assert (code, error[: len(says)]) == (2, says)


def test_a_new_file_can_be_read_by_its_owner_only_and_a_link_stays_a_link(capsys, home: Path):
    real = home / "dotfiles.toml"
    (home / ".codex/config.toml").symlink_to(real)
    assert run(capsys, "install", "codex", "todo")[0] == 0
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert (home / ".codex/config.toml").is_symlink()
    assert real.read_text() == f'[mcp_servers.todo]\ncommand = "{program("todo")}"\nargs = []\n'


def test_without_names_all_servers_are_added(capsys, home: Path):
    assert run(capsys, "install", "goose")[1].startswith("Goose now has atl, guide, noema, todo.")


def test_without_names_the_options_of_servers_that_the_client_has_stay(capsys, home: Path):
    assert run(capsys, "install", "cursor", "atl", "--read-only")[0] == 0
    assert run(capsys, "install", "cursor")[1].startswith("Cursor now has guide, noema, todo.")
    entry = json.loads((home / CURSOR).read_text())["mcpServers"]["atl"]
    assert entry == {"command": program("atl"), "args": ["--read-only"]}
    assert run(capsys, "install", "cursor")[1] == f"Cursor has all servers already. {home / CURSOR}\n"


def test_a_file_of_a_project_has_no_path_of_this_machine(capsys, home: Path):
    words = ("install", "vscode", "--scope", "project", "guide", "--docs-root", "docs")
    code, _, error = run(capsys, *words)
    assert (code, error.startswith("toolcharter is not in a package index, and others cannot use")) == (2, True)
    assert run(capsys, *words[:4], *FROM, *words[4:])[0] == 0
    written = json.loads((home / "project/.vscode/mcp.json").read_text())["servers"]["guide"]
    source = f"toolcharter[guide] @ {FROM[1]}"
    assert (written["command"], written["args"]) == ("uvx", ["--from", source, "mcp-guide", "--docs-root", "docs"])


CLIENT_WORDS = ("todo", "--user", "ana", "guide", "--env", "KEY=v")
ORIGINALS = ("", "{}", '{"mcpServers": {}}', '{\n  "mcpServers": {\n  }\n}\n', '{"a": 1}\n')


@pytest.mark.requirement("PKG-2")
@pytest.mark.parametrize("original", [None, *ORIGINALS])
def test_a_file_is_byte_for_byte_as_before_when_its_servers_are_removed(capsys, home: Path, original: str | None):
    file = home / CURSOR
    if original is not None:
        file.write_text(original)
    assert run(capsys, "install", "cursor", *CLIENT_WORDS)[0] == 0
    assert run(capsys, "install", "cursor", "--remove", "todo", "guide")[0] == 0
    assert (file.read_text() if file.exists() else None) == original


def test_what_was_written_since_stays_when_servers_are_removed(capsys, home: Path):
    file = home / CURSOR
    file.write_text('{"mcpServers": {}}')
    run(capsys, "install", "cursor", "todo")
    file.write_text(file.read_text().replace("{", '{"mine": 1, ', 1))
    assert run(capsys, "install", "cursor", "--remove", "todo")[0] == 0
    assert json.loads(file.read_text())["mine"] == 1


def test_three_copies_are_kept_and_a_failed_write_leaves_none(capsys, home: Path, monkeypatch: pytest.MonkeyPatch):
    (home / CURSOR).write_text('{"n": 0}')
    for number in range(5):
        assert run(capsys, "install", "cursor", "todo", "--user", f"user{number}")[0] == 0
    kept = [copy.read_text() for copy in copies(home / CURSOR)]
    assert [re.findall(r"user\d", text) for text in kept] == [["user3"], ["user2"], ["user1"]]
    before = sorted((home / ".cursor").iterdir())
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    code, _, error = run(capsys, "install", "cursor", "todo", "--user", "last")
    assert (code, error.endswith("cannot be written, and was not changed: No space left on device.\n")) == (1, True)
    assert sorted((home / ".cursor").iterdir()) == before


def test_an_entry_of_the_same_name_that_differs_or_is_off_is_told(capsys, home: Path):
    old = {"command": "/old/mcp-todo", "args": ["--db", "postgresql://ana:s3cret@db/todo"], "disabled": True}
    (home / CURSOR).write_text(json.dumps({"mcpServers": {"todo": old}}))
    out = run(capsys, "install", "cursor", "todo")[1]
    assert "todo was there with another command, which is replaced: /old/mcp-todo --db postgresql://ana:[red" in out
    assert "todo is switched off there, and stays so. Switch it on in the client." in out
    assert "s3cret" not in out


def test_two_servers_are_shown_as_one_document(capsys, home: Path):
    shown = json.loads(run(capsys, "install", "cursor", "todo", "guide", "--print")[1])
    assert list(shown["mcpServers"]) == ["todo", "guide"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--env", "A=1", "todo", "guide"), "The option --env stands before the name of its server."),
        (("todo", "--http", "http://127.0.0.1:1/mcp", "--env", "A=1"), "--env sets a variable of a server that the"),
        (("todo", "--env"), "todo: --env needs NAME=VALUE."),
    ],
)
def test_a_variable_belongs_to_the_server_that_it_follows(capsys, home: Path, words: tuple[str, ...], error: str):
    code, _, shown = run(capsys, "install", "cursor", *words)
    assert (code, shown.startswith(error)) == (2, True), shown


def test_the_entry_is_shown_and_nothing_is_changed(capsys, home: Path):
    code, out, _ = run(capsys, "install", "zed", "todo", "--print", "--db", "sqlite:///a.db")
    shown = {"command": program("todo"), "args": ["--db", f"sqlite:///{home}/project/a.db"]}
    assert (code, json.loads(out)) == (0, {"context_servers": {"todo": shown}})
    assert not (home / ".config/zed").exists()


def test_a_server_that_runs_is_added_by_its_address(capsys, home: Path):
    words = ("cursor", "todo", "--http", "http://127.0.0.1:8000/todo/mcp", "--token", "t0ken")
    assert run(capsys, "install", *words)[0] == 0
    entry = {"url": "http://127.0.0.1:8000/todo/mcp", "headers": {"Authorization": "Bearer t0ken"}}
    assert json.loads((home / CURSOR).read_text()) == {"mcpServers": {"todo": entry}}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["zed", "todo"],
            1,
            "Zed is not installed: {home}/.config/zed does not exist. To write its file anyway: --force",
        ),
        (["claude-code", "todo"], 1, "Claude Code is not installed: {home}/.claude does not exist."),
        (["cursor", "nope"], 2, "No server 'nope' is installed. Installed: demo, atl, guide, noema, todo. Give "),
        (
            ["cursor", "todo", "--usr", "x"],
            2,
            "todo has no option --usr for a client that starts it. Did you mean --user?",
        ),
        (
            ["cursor", "todo", "--port", "1"],
            2,
            "todo has no option --port for a client that starts it. They",
        ),
        (["cursor", "todo", "--user"], 2, "todo: --user needs a value."),
        (["cursor", "--user", "x", "todo"], 2, "The option --user stands before the name of its server."),
        (["cursor", "todo", "--env", "KEY"], 2, "--env 'KEY' is not NAME=VALUE."),
        (["goose", "todo", "--scope", "project"], 2, "Goose has no file for a project. Leave out --scope project."),
        (["cursor", "todo", "atl", "--http", "http://x/mcp"], 2, "--http is the address of one server. Give its name."),
        (["cursor", "todo", "--http", "x:1"], 2, "'x:1' is not an address."),
        (
            ["claude-desktop", "todo", "--http", "http://x/mcp"],
            2,
            "Claude Desktop reaches addresses only as connectors",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_way_out(capsys, home: Path, words, code, message):
    result = run(capsys, "install", *words)
    assert (result[0], result[2].startswith(message.format(home=home))) == (code, True), result[2]
    assert [*(home / ".cursor").iterdir()] == []


@pytest.mark.requirement("PKG-2")
def test_a_broken_file_is_not_touched_and_its_line_and_column_are_named(capsys, home: Path):
    file = home / CURSOR
    file.write_text('{\n  "a": 1\n  "b": 2\n}\n')
    code, _, err = run(capsys, "install", "cursor", "todo")
    assert (code, err) == (1, f'{file} cannot be read, and was not changed: line 3, column 3: "," or "}}" is missing\n')
    assert [*(home / ".cursor").iterdir()] == [file]
    file.write_bytes(b'{"a": "\xff"}')
    code, _, err = run(capsys, "install", "cursor", "todo")
    assert (code, err) == (1, f"{file} cannot be read: byte 7 is not UTF-8.\n")


def test_an_environment_that_uvx_made_for_one_run_is_not_written_into_a_file(tmp_path: Path, monkeypatch):
    launch = launch_of("todo")
    assert command_of(launch) == launch.installed()
    (tmp_path / "CACHEDIR.TAG").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive-v0/x"))
    assert command_of(launch)[1:] == launch.uvx(pinned=True)[1:]
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "pipx/abc"))
    assert command_of(launch)[1:] == launch.pipx(pinned=True)[1:]


@pytest.mark.requirement("FAR-5")
def test_doctor_starts_each_server_and_says_what_is_wrong_and_how_to_fix_it(capsys, home: Path):
    todo = str(command_path("mcp-todo"))
    servers = {
        "todo": {"command": todo, "env": {"TOOLCHARTER_DB": f"sqlite:///{home}/a.db", "SECRET": "s3cret"}},
        "guide": {"command": "/old/mcp-guide", "args": ["--docs-root", "/my guides"]},
        "gone": {"command": "/no/such/program"},
        "broken": {"command": sys.executable, "args": ["-c", "raise SystemExit('no settings')"]},
        "away": {"command": todo, "args": ["--db", "postgresql://ann:s3cret@127.0.0.1:1/todo"]},
        "empty": {"command": str(command_path("mcp-guide")), "args": ["--docs-root", "/no/guides"]},
        "uv": {"command": "/no/uvx", "args": ["mcp-weather"]},
        "off": {"command": "x", "disabled": True},
    }
    (home / CURSOR).write_text(json.dumps({"mcpServers": servers}))
    (home / ".codex/config.toml").write_text("a =\n")
    code, out, _ = run(capsys, "doctor", "--json", "--timeout", "100")
    found = json.loads(out)
    assert (code, found["ok"], found["withoutServers"]) == (1, False, ["goose"])
    cursor, codex = found["clients"]
    assert codex["problem"].endswith("config.toml cannot be read: line 1, column 4: Invalid value")
    checks = {server["name"]: server for server in cursor["servers"]}
    assert (checks["todo"]["status"], checks["todo"]["tools"]) == ("ok", 5)
    assert checks["todo"]["tokens"] > 100
    assert "s3cret" not in out
    assert [checks[name]["fix"] for name in ("guide", "gone")] == [
        "toolcharter install cursor guide --docs-root '/my guides'",
        "toolcharter install cursor gone --remove",
    ]
    assert (checks["broken"]["status"], checks["off"]["status"]) == ("failed", "off")
    assert (checks["broken"]["lastWords"], "toolcharter tools -- " in checks["broken"]["fix"]) == (
        ["no settings"],
        True,
    )
    assert checks["away"]["problem"].startswith("todo cannot start. postgresql://ann:***@127.0.0.1:1/todo cannot be ")
    assert checks["empty"]["problem"].startswith("documents: The folder '/no/guides' of --docs-root does not exist; ")
    assert checks["empty"]["fix"] is None
    assert checks["uv"]["fix"] == "install uv: https://docs.astral.sh/uv/getting-started/installation/"


def test_doctor_waits_a_bounded_time_and_leaves_no_process(capsys, home: Path):
    silent = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"]}
    (home / CURSOR).write_text(json.dumps({"mcpServers": {"silent": silent}}))
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    code, out, _ = run(capsys, "doctor", "cursor", "--timeout", "1")
    assert (code, "did not answer" in out) == (1, True), out
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_doctor_is_content_with_servers_that_answer(capsys, home: Path):
    (home / CURSOR).write_text(json.dumps({"mcpServers": {"todo": {"command": str(command_path("mcp-todo"))}}}))
    code, out, _ = run(capsys, "doctor", "cursor")
    assert (code, out.splitlines()[-1]) == (0, "Nothing is wrong.")
    assert "  ok     todo           5 tools, " in out


def test_doctor_never_sends_a_token_of_the_environment_to_an_address_in_a_file(capsys, home: Path, monkeypatch):
    sent: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            sent.append(self.headers["Authorization"])
            self.send_error(404)

        def log_message(self, *_):
            """Say nothing."""

    monkeypatch.setenv("TOOLCHARTER_TOKEN", "mine")
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/mcp"
        entries = {"open": {"url": address}, "own": {"url": address, "headers": {"Authorization": "Bearer theirs"}}}
        (home / CURSOR).write_text(json.dumps({"mcpServers": entries}))
        code, out, _ = run(capsys, "doctor", "cursor")
        server.shutdown()
    assert (code, "there is no MCP server at this address" in out) == (1, True)
    assert set(sent) == {None, "Bearer theirs"}


def test_doctor_says_that_it_found_no_client(capsys, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "doctor")
    assert (code, "No MCP client was found. Looked for: Claude Desktop, Claude Code, Cursor" in out) == (0, True)
