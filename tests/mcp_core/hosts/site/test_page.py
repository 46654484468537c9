import html
import json
import sys
from pathlib import Path

import pytest

from mcp_core import App, Resource, ResourceSource, Settings, tool
from mcp_core.hosts.site import page
from toolcharter import targets

BASE = "http://127.0.0.1:8000"


def demo():
    return targets.load("demo", Settings())


def test_the_page_lists_every_tool_with_its_full_documentation():
    app = demo()
    shown = page.render_page([app], BASE)
    for spec in app.registry.get_all():
        assert f'id="demo-{spec.name}"' in shown
    assert shown.count("<h2>Concrete Examples</h2>") == len(app.registry.get_all())


def test_the_page_loads_nothing_from_elsewhere():
    shown = page.render_page([demo()], BASE)
    assert "src=" not in shown
    assert "@import" not in shown
    assert "<script" not in shown


def test_the_page_has_client_configuration_to_copy():
    assert page.client_configuration([demo()], BASE) == {
        "mcpServers": {"demo": {"type": "http", "url": "http://127.0.0.1:8000/demo/mcp"}}
    }
    assert "http://127.0.0.1:8000/demo/mcp" in page.render_page([demo()], BASE)


def test_what_a_tool_says_cannot_become_markup():
    async def sneaky(text: str) -> str:
        """<script>alert(1)</script> <img src=x onerror=alert(1)>

        Args:
            text: <b>bold</b>
        """
        return text

    shown = page.render_page([App("x<y", version="1.0.0", instructions="<i>hi</i>", tools=[tool(sneaky)])], BASE)
    assert "<script" not in shown
    assert "<img" not in shown
    assert "<i>" not in shown
    assert "x<y" not in shown


def test_the_terminal_shows_tools_a_call_that_works_and_configuration():
    text = page.terminal_text([demo()], BASE)
    assert "    add                  Add two whole numbers." in text
    assert f"toolcharter call {BASE}/demo/mcp add a=2 b=3" in text
    start = text.index("{")
    configuration, _ = json.JSONDecoder().raw_decode(text[start:])
    assert configuration == page.client_configuration([demo()], BASE)


def test_for_several_servers_the_terminal_shows_addresses_and_commands_and_not_every_tool():
    other = App("other", version="2.0.0", title="Other notes")
    text = page.terminal_text([demo(), other], BASE)
    assert text.startswith(
        f"Serving 2 MCP servers. Documentation: {BASE}/\n\n"
        f"  Notebook 1.0.0      {BASE}/demo/mcp   {len(demo().list_tools())} tools\n"
        f"  Other notes 2.0.0   {BASE}/other/mcp   0 tools\n\n"
    )
    for name in ("demo", "other"):
        assert f"  claude mcp add --transport http {name} {BASE}/{name}/mcp\n" in text


def test_the_page_and_the_terminal_show_prompts_and_resources():
    shown = page.render_page([demo()], BASE)
    assert '<code>review_notes</code><span class="tag">prompt</span> Go through the notes' in shown
    assert "<li><code>tone</code> (optional) How to write, such as plain or cheerful.</li>" in shown
    assert '<code>note://</code><span class="tag">resources</span>' in shown
    assert "<li><code>note://{note_id}</code> One note as Markdown.</li>" in shown
    text = page.terminal_text([demo()], BASE)
    assert "    review_notes         (prompt) Go through the notes and say what to do next." in text
    assert "    note://              (resources)" in text


def test_what_a_prompt_says_cannot_become_markup():
    async def sneaky(text: str) -> str:
        """<script>alert(1)</script>

        Args:
            text: <img src=x onerror=alert(1)>
        """
        return text

    def read(uri: str) -> None:
        return None

    fixed = [Resource("x://<img src=x>", "<img src=x>")]
    source = ResourceSource("x://", read=read, fixed=fixed)
    shown = page.render_page([App("x", version="1.0.0", prompts=[sneaky], resources=[source])], BASE)
    assert "<script" not in shown
    assert "<img" not in shown


def test_the_terminal_names_our_command_as_the_shell_finds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    beside = Path(sys.executable).with_name("toolcharter")
    monkeypatch.setenv("PATH", str(beside.parent))
    assert f"\n  toolcharter call {BASE}" in page.terminal_text([demo()], BASE)
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir("/")
    assert f"\n  {beside.relative_to('/')} call {BASE}" in page.terminal_text([demo()], BASE)
    monkeypatch.chdir(tmp_path)
    assert f"\n  {beside} call {BASE}" in page.terminal_text([demo()], BASE)


def test_with_tokens_every_line_to_copy_says_where_the_token_goes(tmp_path: Path):
    tokens = tmp_path / "tokens.json"
    tokens.write_text('{"ana-1": {"user": "ana", "grants": ["*"]}}', encoding="utf-8")
    app = targets.load("demo", Settings(tokens=tokens))
    assert page.client_configuration([app], BASE)["mcpServers"]["demo"] == {
        "type": "http",
        "url": f"{BASE}/demo/mcp",
        "headers": {"Authorization": "Bearer YOUR_TOKEN"},
    }
    lines = (
        "Callers need a token: replace YOUR_TOKEN with yours.",
        f'claude mcp add --transport http demo {BASE}/demo/mcp --header "Authorization: Bearer YOUR_TOKEN"',
        f"toolcharter call --token YOUR_TOKEN {BASE}/demo/mcp add a=2 b=3",
    )
    for shown in (page.terminal_text([app], BASE), html.unescape(page.render_page([app], BASE))):
        assert [line for line in lines if line not in shown] == []
        assert "ana-1" not in shown
    assert f"toolcharter tools --token YOUR_TOKEN {BASE}/demo/mcp" in page.terminal_text([app], BASE)


def test_with_an_issuer_clients_sign_in_by_themselves_at_the_public_address():
    settings = Settings(oidc="https://login.example", audience=("https://tools.example",))
    app = targets.load("demo", settings)
    url = "https://tools.example/demo/mcp"
    assert page.client_configuration([app], BASE)["mcpServers"]["demo"] == {"type": "http", "url": url}
    lines = (
        "Clients sign in at https://login.example; for `toolcharter`, replace YOUR_TOKEN with an access token.",
        f"claude mcp add --transport http demo {url}\n",
        f"toolcharter call --token YOUR_TOKEN {url} add a=2 b=3",
    )
    for shown in (page.terminal_text([app], BASE), html.unescape(page.render_page([app], BASE))):
        assert [line for line in lines if line not in shown] == []
