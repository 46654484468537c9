"""The command `mcp-guide`, as a process."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_guide import main
from tests.forkserver.commands import command_path

COMMANDS = Path(command_path("python")).parent
INSTALLED = Path(sys.executable).parent
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Without settings, and with an empty home folder."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLCHARTER_", "MCP_", "XDG_"))}
    return {**ours, "HOME": str(tmp_path / "home"), "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def installed(environment: dict[str, str]) -> dict[str, str]:
    """The same, with the commands as they are installed."""
    return {**environment, "PATH": f"{INSTALLED}{os.pathsep}{os.environ['PATH']}"}


def request(method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}) + "\n"


def run(environment: dict[str, str], *words: str, said: str = "", cwd: Path | None = None):
    return subprocess.run(
        words, input=said, capture_output=True, text=True, timeout=60, check=False, env=environment, cwd=cwd
    )


def ask(environment: dict[str, str], *options: str, said: str, cwd: Path | None = None) -> dict:
    ended = run(environment, "mcp-guide", "--deadline", "30", *options, said=said, cwd=cwd)
    return json.loads(ended.stdout)["result"]


def call(environment: dict[str, str], *options: str, cwd: Path | None = None, **arguments: str) -> dict:
    said = request("tools/call", name="guide_get_content", arguments=arguments)
    return json.loads(ask(environment, *options, said=said, cwd=cwd)["content"][0]["text"])


def put(root: Path, **documents: str) -> None:
    for name, text in documents.items():
        path = root / name.replace("__", "/")
        path = path.with_suffix(".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# --- the prefix ---------------------------------------------------------------------------------------


@pytest.mark.requirement("NAM-4")
@pytest.mark.parametrize(("before", "after"), [(None, "guide"), ("", ""), ("team", "team"), ("guide", "guide")])
def test_the_prefix_is_guide_unless_one_is_set(monkeypatch, before, after):
    monkeypatch.setenv("MCP_TOOL_PREFIX", "restored afterwards")
    if before is None:
        monkeypatch.delenv("MCP_TOOL_PREFIX")
    else:
        monkeypatch.setenv("MCP_TOOL_PREFIX", before)
    main._configure_environment()
    assert os.environ["MCP_TOOL_PREFIX"] == after


@pytest.mark.requirement("NAM-4")
@pytest.mark.parametrize(
    ("prefix", "options", "first"),
    [
        (None, [], "guide_get_content"),
        ("", [], "get_content"),
        ("team", [], "team_get_content"),
        ("team", ["--tool-prefix", ""], "get_content"),
        (None, ["--tool-prefix", "docs"], "docs_get_content"),
    ],
)
def test_the_server_is_built_with_that_prefix(environment, prefix, options, first):
    chosen = environment if prefix is None else {**environment, "MCP_TOOL_PREFIX": prefix}
    names = [tool["name"] for tool in ask(chosen, *options, said=request("tools/list"))["tools"]]
    assert names[0] == first
    start = first.removesuffix("get_content")
    assert [name for name in names if not name.startswith(start)] == []


def test_errors_messages_and_instructions_have_that_prefix(environment, tmp_path):
    put(tmp_path / "docs", lang__python="Text")
    root = ["--docs-root", str(tmp_path / "docs")]
    answer = call(environment, *root, expression="lang/nothing")
    assert answer["error"].endswith("guide_list_documents shows all documents.")
    assert answer["instruction"] == "Consider one of the suggested names, or what guide_list_documents shows."
    discovered = ask(environment, *root, said=request("server/discover"))
    assert (
        "guide_search_content finds the sections about something, guide_get_content reads" in discovered["instructions"]
    )


@pytest.mark.requirement("NAM-4", "NAM-5")
def test_toolcharter_shows_plain_names_unless_a_prefix_is_set(environment):
    for prefix, first in ((None, "get_content"), ("", "get_content"), ("guide", "guide_get_content")):
        chosen = environment if prefix is None else {**environment, "MCP_TOOL_PREFIX": prefix}
        listed = json.loads(run(chosen, "toolcharter", "tools", "guide").stdout)
        assert listed["tools"][0]["name"] == first


# --- options ------------------------------------------------------------------------------------------


def test_the_docs_root_is_an_option_and_a_variable_also_for_toolcharter(environment, tmp_path):
    put(tmp_path / "a", lang__python="Text A")
    put(tmp_path / "b", lang__python="Text B")
    theirs = {**environment, "TOOLCHARTER_DOCS_ROOT": str(tmp_path / "b")}
    assert call(environment, "--docs-root", str(tmp_path / "a"), expression="lang")["value"]["content"] == "Text A"
    assert call(theirs, expression="lang")["value"]["content"] == "Text B"
    assert call(theirs, "--docs-root", str(tmp_path / "a"), expression="lang")["value"]["content"] == "Text A"
    said = run(theirs, "toolcharter", "call", "guide", "get_content", "expression=lang")
    assert json.loads(said.stdout)["value"]["content"] == "Text B"


def test_the_configuration_and_the_project_are_options_and_variables(environment, tmp_path):
    for name in ("one", "two"):
        put(tmp_path / name, lang__python=f"Text {name}")
    config = tmp_path / "guide.yaml"
    config.write_text(
        f"projects:\n  one: {{docs_root: {tmp_path / 'one'}}}\n"
        f"  two: {{docs_root: {tmp_path / 'two'}, folder: {tmp_path / 'work'}}}\n",
        encoding="utf-8",
    )
    theirs = {**environment, "TOOLCHARTER_CONFIG": str(config)}
    (tmp_path / "work" / "deep").mkdir(parents=True)
    found = [
        call(environment, "--config", str(config), "--project", "one", expression="lang"),
        call({**theirs, "TOOLCHARTER_PROJECT": "two"}, expression="lang"),
        call(theirs, expression="lang", cwd=tmp_path / "work" / "deep"),
        call({**theirs, "TOOLCHARTER_PROJECT": "one"}, expression="lang", cwd=tmp_path / "work" / "deep"),
    ]
    assert [answer["value"]["content"] for answer in found] == ["Text one", "Text two", "Text two", "Text one"]


@pytest.mark.requirement("GUI-4")
def test_asking_for_a_missing_project_does_not_create_it(environment, tmp_path):
    answer = call(environment, "--project", "gone", expression="lang")
    assert (answer["error_type"], answer["error"]) == (
        "NotFoundError",
        "The project 'gone' does not exist. Available: 'default'.",
    )
    assert answer["instruction"].startswith(
        "Present this error to the user and take no further action."
        " Do not attempt to create a default configuration automatically."
    )
    assert list(tmp_path.rglob("*.yaml")) == []


# --- other commands -----------------------------------------------------------------------------------


def test_the_commands_that_init_prints_work(installed, tmp_path):
    said = run(installed, "mcp-guide", "init", "--docs-root", str(tmp_path / "my guides")).stdout
    tried = re.search(r"Try it:\n  (.+)\n", said)[1]
    assert tried.startswith("toolcharter call guide --docs-root ")
    ended = run(installed, "sh", "-c", tried)
    assert json.loads(ended.stdout)["value"]["documents"] == ["lang/python.md"]
    program, *install = shlex.split(said.splitlines()[-1])
    assert install == ["install", "claude-code", "guide", "--docs-root", str(tmp_path / "my guides")]
    shown = run(installed, program, install[0], "--print", *install[1:]).stdout
    assert json.dumps(str(tmp_path / "my guides")) in shown
    assert call(installed, *install[3:], expression="checks")["value"]["documents"] == [
        "checks/before-commit.md",
        "checks/review.md",
    ]


def test_an_imported_project_is_served(environment, tmp_path):
    put(tmp_path / "old", lang__python="Text")
    source = tmp_path / "config.yaml"
    source.write_text(
        f"docroot: {tmp_path / 'old'}\nprojects: {{app: {{categories: {{l: {{dir: lang/, patterns: [python]}}}}}}}}\n",
        encoding="utf-8",
    )
    ended = run(environment, "mcp-guide", "import", str(source))
    assert "  project 'app': 1 category, 0 collections, 0 flags" in ended.stdout
    assert call(environment, "--project", "app", expression="l")["value"]["content"] == "Text"


def test_the_help_and_an_unknown_command(installed):
    help_text = " ".join(run(installed, "mcp-guide", "--help").stdout.split())
    for words in ("mcp-guide init", "mcp-guide import FILE", "--docs-root DIR", "--config FILE", "--project NAME"):
        assert words in help_text
    assert "[TOOLCHARTER_DOCS_ROOT]" in help_text
    assert "--db" not in help_text
    ended = run(installed, "mcp-guide", "nonsense")
    assert "invalid choice: 'nonsense'; choose stdio or http" in ended.stderr
    assert ended.returncode == 2
