import argparse
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolcharter.verify.fake_rules import rule
from toolcharter import cli
from toolcharter.commands import verify
from toolcharter.verify.rule import Problem
from toolcharter.verify.rules import all_rules

RULES = {rule.name: rule for rule in all_rules()}
EXAMPLES = Path(__file__).parents[3] / "examples"
BAD = {"tools": [{"name": "x", "inputSchema": {"type": "object"}}, {"name": "y", "description": "Do y."}]}

SERVERS = """
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer

fast = FastMCP("fast")
plain = MCPServer("plain")


@fast.tool
@plain.tool()
def shout(text: str) -> str:
    return text.upper()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of its own, so that no pyproject.toml of ours is read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text(json.dumps(BAD), encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(capsys):
    def run(*words):
        """The exit code, stdout and stderr of the command."""
        with pytest.raises(SystemExit) as ended:
            cli.main(["verify", *words])
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return run


def found(out):
    report = json.loads(out)
    return report["server"], [(finding["rule"], finding["tool"]) for finding in report["findings"]]


# ---- targets -------------------------------------------------------------------------------------


@pytest.mark.requirement("VER-3")
@pytest.mark.parametrize("target", ["demo", "todo"])
def test_our_servers_are_without_finding(run, target, folder):
    code, out, _ = run(target, "--db", f"sqlite:///{folder}/todo.db", "--severity", "note", "--format", "json")
    assert (code, found(out)) == (0, (target, []))


@pytest.mark.requirement("VER-3")
def test_a_list_of_tools_in_a_file_is_verified_and_findings_exit_with_1(run):
    code, out, _ = run("bad.json", "--select", "DSC001", "--format", "json")
    assert (code, found(out)) == (1, ("bad", [("DSC001", "x")]))


@pytest.mark.requirement("VER-3")
@pytest.mark.parametrize("name", ["fast", "plain"])
def test_a_server_of_an_mcp_library_is_verified(run, folder, name):
    (folder / "libraries.py").write_text(SERVERS, encoding="utf-8")
    code, out, _ = run(f"libraries.py:{name}", "--select", "DSC001", "--format", "json")
    assert (code, found(out)) == (1, (name, [("DSC001", "shout")]))


@pytest.mark.requirement("VER-3")
def test_a_command_that_serves_over_stdio_is_verified():
    program = "from toolcharter.cli import main; main()"
    words = ["verify", "--select", "DSC001", "--format", "json", "--", sys.executable, str(EXAMPLES / "words.py")]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, found(done.stdout)) == (0, ("words", []))


@pytest.mark.requirement("VER-3")
def test_a_server_at_an_address_is_verified(run):
    program = "from toolcharter.cli import main; main()"
    command = [sys.executable, "-c", program, "serve", "demo", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        address = next(line.split()[-1] for line in iter(server.stderr.readline, "") if "/demo/mcp" in line)
        code, out, _ = run(address, "--select", "DSC001", "--format", "json")
        server.terminate()
        server.stderr.read()
    assert (code, found(out)) == (0, ("demo", []))


def test_rules_see_what_a_server_of_ours_declares(run, monkeypatch):
    seen = []
    look = rule(
        "CHA901", "looks-closely", "charter", "note", lambda tool, server: seen.append((tool.spec, server)) or []
    )
    monkeypatch.setattr(verify, "all_rules", lambda: (look,))
    assert run("demo")[0] == 0
    spec, server = seen[0]
    assert (spec.name, server.naming.style) == ("add", "snake")


# ---- could not run -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "No server was given. Give "),
        (["nothing"], "No server 'nothing' is installed. Installed: "),
        (["none.json"], "The file none.json does not exist."),
        (
            ["bad.json", "--select", "missing-descripton"],
            "Unknown rule 'missing-descripton'. Did you mean missing-description",
        ),
        (["bad.json", "--ignore", "nothing"], "Unknown rule 'nothing'. "),
        (["bad.json", "--config", "none.toml"], "The file none.toml does not exist."),
        (["--explain", "nothing"], "Unknown rule 'nothing'. "),
        (["--", "/no/such/command"], "The command '/no/such/command' was not found."),
    ],
)
def test_a_wrong_command_line_exits_with_2(run, words, message):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["http://127.0.0.1:1/mcp"], "http://127.0.0.1:1/mcp: nothing listens at this address"),
        (["broken.py"], "broken.py cannot be loaded, line 1: ZeroDivisionError: division by zero"),
        (["bad.json", "--output", "no/such/folder.html"], "The report cannot be written to no/such/folder.html: "),
        (["--", "false"], "false: the server closed the connection without an answer"),
    ],
)
def test_a_verification_that_cannot_run_exits_with_1(run, folder, words, message):
    (folder / "broken.py").write_text("1 / 0", encoding="utf-8")
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert err.startswith(message)


def test_a_rule_that_fails_is_neither_a_finding_nor_a_pass(run, monkeypatch):
    broken = rule("DSC909", "broken-rule", "description", "note", lambda tool, _: 1 / 0)
    monkeypatch.setattr(verify, "all_rules", lambda: (broken,))
    code, out, err = run("bad.json")
    assert (code, out) == (1, "")
    assert err.startswith("The rule DSC909 broken-rule failed: ZeroDivisionError(")


def test_a_file_cannot_be_called(run):
    code, out, err = run("bad.json", "--live")
    assert (code, out) == (2, "")
    assert err == "The tools in a file cannot be called. Leave out --live, or give a server that runs.\n"


# ---- live ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("word", "writes"), [("--live", False), ("--live-all", True)])
def test_tools_are_called_only_on_request(run, monkeypatch, word, writes):
    called = []

    def check(server, observations):
        called.extend(name for name, _ in observations.by_tool())
        return [Problem("crashed", tool="add")]

    crash = rule("LIV901", "crash-on-call", "live", "error", check_live=check)
    monkeypatch.setattr(verify, "all_rules", lambda: (RULES["missing-description"], crash))
    code, out, _ = run("demo", "--select", "DSC001", "--format", "json")
    assert (code, found(out), called) == (0, ("demo", []), [])
    code, out, _ = run("demo", word, "--select", "LIV", "--format", "json")
    assert (code, found(out)) == (1, ("demo", [("LIV901", "add")]))
    assert ("add" in called, "create_note" in called) == (True, writes)


# ---- what counts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--select", "DSC001"], 1),
        (["--select", "DSC001", "--severity", "error"], 1),
        (["--select", "DSC001", "--ignore", "DSC001"], 0),
        (["--select", "DSC001", "--ignore", "missing-description:x=not ours"], 0),
        (["--select", "DSC001", "--ignore", "DSC001:y"], 1),
        (["--select", "NAM001"], 0),
        (["--select", "NAM001", "--at-least", "100"], 0),
        (["--select", "NAM001", "--at-least", "100.5"], 1),
    ],
)
def test_the_exit_code_depends_on_the_findings_that_count(run, words, code):
    assert run("bad.json", *words)[0] == code


@pytest.mark.parametrize(("severity", "code"), [("error", 0), ("warning", 0), ("note", 1)])
def test_a_note_counts_only_on_request(run, monkeypatch, severity, code):
    noted = rule("DSC909", "any-tool", "description", "note", lambda tool, _: [Problem("there it is")])
    monkeypatch.setattr(verify, "all_rules", lambda: (noted,))
    assert run("bad.json", "--severity", severity)[0] == code


def test_an_ignore_entry_of_a_server_applies_to_that_server_alone(run, folder):
    (folder / "pyproject.toml").write_text(
        '[tool.toolcharter.verify]\nselect = ["DSC001"]\n'
        '[tool.toolcharter.verify.servers.bad]\nignore = { "DSC001:x" = "not ours" }\n'
        "[tool.toolcharter.verify.servers.'other.json']\nignore = {}\n",
        encoding="utf-8",
    )
    (folder / "other.json").write_text(json.dumps(BAD), encoding="utf-8")
    code, out, _ = run("bad.json", "--format", "json")
    report = json.loads(out)
    assert (code, report["findings"], report["ignored"][0]["reason"]) == (0, [], "not ours")
    assert run("other.json")[0] == 1


# ---- reports -------------------------------------------------------------------------------------


def test_a_report_goes_to_a_file_and_a_line_to_stderr(run, folder):
    code, out, err = run("bad.json", "--select", "DSC001", "--output", "report.sarif")
    assert (code, out) == (1, "")
    assert err == "bad: score 80 of 100 (B), 2 tools, about 29 tokens; 1 finding: 1 error. See report.sarif.\n"
    log = json.loads((folder / "report.sarif").read_text(encoding="utf-8"))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "bad.json"}, "region": {"startLine": 1}}


def test_a_score_that_is_too_low_is_reported(run):
    _, _, err = run("bad.json", "--select", "NAM001", "--at-least", "100.5")
    assert err == "The score is 100, but it must be at least 100.5.\n"


def test_rules_are_listed_and_explained(run):
    code, out, _ = run("--list", "--select", "DSC001")
    assert (code, [line.split(maxsplit=3) for line in map(str.strip, out.splitlines())]) == (
        0,
        [
            ["id", "severity", "name", "what it finds"],
            ["DSC001", "error", "missing-description", "A tool without a description."],
        ],
    )
    code, out, _ = run("--explain", "missing-description")
    assert code == 0
    assert out.startswith("DSC001 missing-description  error, description\n\nA tool without a description.\n")
    assert "Fix: Say what the tool does, when to use it, and what it returns." in out
    assert '"description": ""' in out


def test_a_bar_shows_progress_on_a_terminal_and_nowhere_else(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, _, err = run("bad.json", "--select", "DSC001")
    assert "missing-description" in err
    monkeypatch.delenv("FORCE_COLOR")
    assert run("bad.json", "--select", "DSC001")[2] == ""


ROOT = EXAMPLES.parent
COMMAND = re.compile(r"^(?:\s+run: )?(toolcharter verify .*)$", re.MULTILINE)
PAGES = ("README.md", "docs/verify.md", "examples/github-action.yml")
WRITTEN = [line for page in PAGES for line in COMMAND.findall((ROOT / page).read_text(encoding="utf-8"))]


@pytest.mark.parametrize("line", WRITTEN)
def test_every_command_of_the_docs_can_be_read(line):
    words = shlex.split(line.partition(" >> ")[0], comments=True)[2:]
    parser = argparse.ArgumentParser()
    verify.add_arguments(parser)
    parser.parse_args(words[: words.index("--")] if "--" in words else words)


def test_the_docs_have_commands():
    assert len(WRITTEN) >= 12


def test_a_report_in_a_pipe_is_not_wrapped(run):
    code, shown, _ = run("--list")
    assert code == 0
    assert any(len(line) > 120 for line in shown.splitlines())
    assert not any(line != line.rstrip() for line in shown.splitlines())
    assert (
        "The description is often all that a model sees of an argument. It needs its purpose and its "
        in run("--explain", "PAR022")[1]
    )
