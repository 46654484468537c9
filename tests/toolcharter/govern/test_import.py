import json
import sys
from pathlib import Path

import pytest

from tests.toolcharter.command_line import run
from toolcharter.clients.entry import read_entry
from toolcharter.govern.charter import read_charter
from toolcharter.govern.client_files import to_upstream

SERVER = str(Path(__file__).with_name("upstream_server.py"))

PLACEHOLDER = "only this client knows what ${input:key} stands for. Add it with toolcharter govern add."
TOKEN = (
    'it has a token. Write "Bearer TOKEN" to a file that only you can read: '
    "toolcharter govern add NAME https://docs.example/mcp --secret Authorization=file:PATH"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_servers_of_clients_are_shown_and_nothing_is_changed(capsys, home: Path):
    write(home / ".config/Claude/claude_desktop_config.json", {"mcpServers": {"Files": {"command": "files", "args": ["/a"]}}})  # fmt: skip # noqa: E501
    write(home / ".vscode/mcp.json", {"servers": {"docs": {"type": "http", "url": "https://docs.example/mcp"}}})
    code, out, _ = run(capsys, "govern", "import", "--charter", str(home / "charter.toml"))
    assert code == 0
    assert "Claude Desktop: Files   files /a" in out
    assert "VS Code: docs   https://docs.example/mcp" in out
    assert "Nothing was changed." in out
    assert not (home / "charter.toml").exists()


def test_clients_are_pointed_at_the_governor_and_their_old_file_is_kept(capsys, home: Path):
    works = {"command": sys.executable, "args": [SERVER], "env": {"MODE": "x"}}
    broken = {"command": "/no/such/program"}
    old = {"theme": "dark", "mcpServers": {"My Files": works, "broken": broken}}
    file = write(home / ".cursor/mcp.json", old)
    charter = home / "charter.toml"
    code, out, _ = run(capsys, "govern", "import", "--apply", "--charter", str(charter))
    assert code == 0
    assert "my-files is governed: 10 tools approved." in out
    assert "broken stays as it is. The server 'broken' cannot start" in out
    assert charter.stat().st_mode & 0o777 == 0o600
    upstream = read_charter(charter).upstream
    assert list(upstream) == ["my-files"]
    assert (upstream["my-files"].command, upstream["my-files"].env) == ([sys.executable, SERVER], {"MODE": "x"})
    new = json.loads(file.read_text(encoding="utf-8"))
    assert new["theme"] == "dark"
    assert list(new["mcpServers"]) == ["broken", "governed"]
    assert new["mcpServers"]["governed"]["args"] == ["govern", "--charter", str(charter)]
    (copy,) = file.parent.glob("mcp.json.*.bak")
    assert json.loads(copy.read_text(encoding="utf-8")) == old
    # Again: the governor itself is not governed.
    code, out, _ = run(capsys, "govern", "import", "--charter", str(charter))
    assert "governed   " not in out


def test_another_server_of_the_same_name_stays_and_a_secret_is_named(capsys, home: Path):
    first = {"command": sys.executable, "args": [SERVER], "env": {"API_TOKEN": "s3cret"}}
    other = {"command": sys.executable, "args": [SERVER, "--other"]}
    write(home / ".config/Claude/claude_desktop_config.json", {"mcpServers": {"files": first}})
    file = write(home / ".cursor/mcp.json", {"mcpServers": {"files": other}})
    code, out, _ = run(capsys, "govern", "import", "--apply", "--charter", str(home / "charter.toml"))
    assert code == 0
    assert '  API_TOKEN is in that file as text. You can move it: secrets = { API_TOKEN = "file:PATH" }\n' in out
    assert "s3cret" not in out
    assert "files of Cursor stays as it is: files is another server here.\n" in out
    assert f"  To govern it, give it another name in {file}, and import again.\n" in out
    assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": {"files": other}}


def test_a_file_that_is_not_json_is_named_and_left_alone(capsys, home: Path):
    file = home / ".mcp.json"
    file.write_text('{ // mine\n "a" 1}', encoding="utf-8")
    write(home / ".cursor/mcp.json", {"mcpServers": {"other": {"command": sys.executable, "args": [SERVER]}}})
    code, out, _ = run(capsys, "govern", "import", "--apply", "--charter", str(home / "charter.toml"))
    problem = f'{file} cannot be read: line 2, column 6: ":" is missing after "a". Its servers stay as they are.'
    assert (code, problem in out, "other is governed" in out) == (1, True, True)
    assert file.read_text(encoding="utf-8") == '{ // mine\n "a" 1}'


def test_somebody_without_a_client_learns_how_to_add_a_server(capsys, home: Path):
    code, out, _ = run(capsys, "govern", "import", "--charter", str(home / "charter.toml"))
    assert (code, "Add one yourself: toolcharter govern add NAME -- COMMAND" in out) == (0, True)


def test_what_needs_a_person_is_left_alone_and_says_why(capsys, home: Path):
    servers = {
        "off": {"command": sys.executable, "args": [SERVER], "disabled": True},
        "none": {"command": 3},
        "input": {"command": sys.executable, "args": [SERVER], "env": {"KEY": "${input:key}"}},
        "token": {"url": "https://docs.example/mcp", "headers": {"Authorization": "Bearer s3cret"}},
    }
    file = write(home / ".cursor/mcp.json", {"mcpServers": servers})
    code, out, _ = run(capsys, "govern", "import", "--apply", "--charter", str(home / "charter.toml"))
    assert (code, "s3cret" in out, (home / "charter.toml").exists()) == (0, False, False)
    assert [line for line in out.splitlines() if line.startswith("  ")] == [
        "  cannot be imported: it is switched off in this client.",
        "  cannot be imported: it has neither a command nor an address with http:// or https://.",
        f"  cannot be imported: {PLACEHOLDER}",
        f"  cannot be imported: {TOKEN}",
    ]
    assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": servers}


def test_an_entry_of_a_client_becomes_a_table_of_the_charter():
    assert to_upstream(read_entry("x", {"command": "a", "args": "b"})) == {"command": ["a"]}
