import json
import sys
from pathlib import Path

import pytest

from mcp_core import App, Settings
from toolcharter.local import targets
from toolcharter.serving import terminal

BASE = "http://127.0.0.1:8000"


def demo():
    return targets.load("demo", Settings())


def test_the_configuration_of_clients_has_the_address():
    assert terminal.client_configuration([demo()], BASE) == {
        "mcpServers": {"demo": {"type": "http", "url": "http://127.0.0.1:8000/demo/mcp"}}
    }


def test_the_terminal_shows_tools_a_call_that_works_and_configuration():
    text = terminal.terminal_text([demo()], BASE)
    assert "    add           Add two whole numbers." in text
    assert f"toolcharter call {BASE}/demo/mcp add a=2 b=3" in text
    start = text.index("{")
    configuration, _ = json.JSONDecoder().raw_decode(text[start:])
    assert configuration == terminal.client_configuration([demo()], BASE)


def test_a_text_in_the_call_to_copy_reaches_the_tool_as_it_is():
    hello = targets.load(str(Path(__file__).parents[3] / "examples/words.py"), Settings())
    assert terminal.sample_call(hello, hello.list_tools()) == "count_words text='hello world'"


def test_for_several_servers_the_terminal_shows_addresses_and_commands_and_not_every_tool():
    other = App("other", version="2.0.0", title="Other notes")
    text = terminal.terminal_text([demo(), other], BASE, has_console=True)
    assert text.startswith(
        f"Serving 2 MCP servers. Console: {BASE}/\n\n"
        f"  Notebook 1.0.0      {BASE}/demo/mcp    {len(demo().list_tools())} tools\n"
        f"  Other notes 2.0.0   {BASE}/other/mcp   0 tools\n\n"
    )
    for name in ("demo", "other"):
        assert f" install CLIENT {name} --http {BASE}/{name}/mcp\n" in text


def test_where_one_server_has_the_tools_of_all_a_client_needs_only_that_one():
    everything, other = App("all", version="1"), demo()
    everything.has_all_tools = True
    text = terminal.terminal_text([everything, other], BASE)
    assert terminal.client_configuration([everything, other], BASE) == {
        "mcpServers": {"all": {"type": "http", "url": f"{BASE}/mcp"}}
    }
    assert f"{BASE}/demo/mcp" in text
    assert text.count(" install CLIENT ") == 1


def test_without_a_console_the_terminal_does_not_promise_one():
    assert terminal.terminal_text([demo()], BASE).startswith(f"Serving 1 MCP server at {BASE}/\n")


def test_the_terminal_shows_prompts_and_resources():
    text = terminal.terminal_text([demo()], BASE)
    assert "    review_notes  (prompt) Go through the notes and say what to do next." in text
    assert "    note://       (resources)" in text


def test_the_terminal_names_our_command_as_the_shell_finds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    beside = Path(sys.executable).with_name("toolcharter")
    monkeypatch.setenv("PATH", str(beside.parent))
    assert f"\n  toolcharter call {BASE}" in terminal.terminal_text([demo()], BASE)
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir("/")
    assert f"\n  {beside.relative_to('/')} call {BASE}" in terminal.terminal_text([demo()], BASE)
    monkeypatch.chdir(tmp_path)
    assert f"\n  {beside} call {BASE}" in terminal.terminal_text([demo()], BASE)


def test_with_tokens_every_line_to_copy_says_where_the_token_goes(tmp_path: Path):
    tokens = tmp_path / "tokens.json"
    tokens.write_text('{"ana-1": {"user": "ana", "grants": ["*"]}}', encoding="utf-8")
    app = targets.load("demo", Settings(tokens=tokens))
    assert terminal.client_configuration([app], BASE)["mcpServers"]["demo"] == {
        "type": "http",
        "url": f"{BASE}/demo/mcp",
        "headers": {"Authorization": "Bearer YOUR_TOKEN"},
    }
    lines = (
        "Callers need a token: replace YOUR_TOKEN with yours.",
        f"toolcharter install CLIENT demo --http {BASE}/demo/mcp --token YOUR_TOKEN",
        f"toolcharter call --token YOUR_TOKEN {BASE}/demo/mcp add a=2 b=3",
    )
    shown = terminal.terminal_text([app], BASE)
    assert [line for line in lines if line not in shown] == []
    assert "ana-1" not in shown
    assert f"toolcharter tools --token YOUR_TOKEN {BASE}/demo/mcp" in terminal.terminal_text([app], BASE)


def test_with_an_issuer_clients_sign_in_by_themselves_at_the_public_address():
    settings = Settings(oidc="https://login.example", audience=("https://tools.example",))
    app = targets.load("demo", settings)
    url = "https://tools.example/demo/mcp"
    assert terminal.client_configuration([app], BASE)["mcpServers"]["demo"] == {"type": "http", "url": url}
    lines = (
        "Clients sign in at https://login.example; for `toolcharter`, replace YOUR_TOKEN with an access token.",
        f"toolcharter install CLIENT demo --http {url}\n",
        f"toolcharter call --token YOUR_TOKEN {url} add a=2 b=3",
    )
    shown = terminal.terminal_text([app], BASE)
    assert [line for line in lines if line not in shown] == []
