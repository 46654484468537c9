import subprocess
import sys
from importlib.metadata import version

import pytest

from tests.toolcharter.command_line import run
from toolcharter import cli
from toolcharter.commands import command_line


def test_without_a_command_the_commands_are_listed(capsys):
    code, out, _ = run(capsys)
    assert code == 0
    for name, summary in cli.COMMANDS.items():
        assert name in out
        assert summary in out


@pytest.mark.parametrize(
    ("word", "hint"), [("verfy", "Did you mean 'verify'? "), ("evaluat", "Did you mean 'evaluate'? "), ("fly", "")]
)
def test_an_unknown_command_is_refused_with_the_nearest_one(capsys, word, hint):
    message = f"toolcharter has no command {word!r}. {hint}`toolcharter --help` lists all commands.\n"
    assert run(capsys, word) == (2, "", message)


def test_a_misspelled_option_is_answered_with_the_nearest_one(capsys):
    code, _, err = run(capsys, "serve", "--prot", "8001")
    assert (code, err.splitlines()[-1]) == (
        2,
        "toolcharter serve: error: unrecognized arguments: --prot; did you mean --port?",
    )


def test_a_call_without_a_tool_asks_for_the_tool_only(capsys):
    code, _, err = run(capsys, "call")
    assert (code, err.splitlines()[-1]) == (
        2,
        "toolcharter call: error: the following arguments are required: TOOL",
    )


@pytest.mark.parametrize("step", ["load_command", "_parse"])
def test_an_interruption_at_any_step_ends_with_130_and_no_stack(capsys, monkeypatch, step):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, step, interrupt)
    assert run(capsys, "tools", "demo") == (130, "", "")


def test_python_runs_the_package_as_the_command():
    done = subprocess.run([sys.executable, "-m", "toolcharter", "-V"], capture_output=True, text=True, check=True)
    assert done.stdout == f"toolcharter {version('toolcharter')}\n"


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_that_of_the_installed_package(capsys, option):
    assert run(capsys, option) == (0, f"toolcharter {version('toolcharter')}\n", "")


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_explains_itself(capsys, name):
    code, out, _ = run(capsys, name, "--help")
    assert (code, out.startswith(f"usage: toolcharter {name}")) == (0, True)


def test_a_server_whose_tools_are_declared_wrongly_is_named_with_the_fix(capsys, tmp_path):
    file = tmp_path / "wrong.py"
    declared = "@tool(category='query')\ndef f(a: int) -> int: ...\n"
    file.write_text(f"from mcp_core import App, tool\n{declared}App('strict', tools=[f], strict=True)\n")
    code, _, err = run(capsys, "tools", str(file))
    assert code == 1
    assert err.startswith("The server cannot start, its tools are declared wrongly:\nf: permissions: is missing; give")


def test_a_reader_that_stops_reading_is_not_an_error():
    program = "from toolcharter.cli import main; main(['tools', 'demo'])"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        command.stdout.close()
        assert (command.wait(timeout=60), command.stderr.read()) == (0, b"")


@pytest.mark.parametrize("name", ["lock", "diff", "evaluate"])
def test_a_command_that_only_lists_tools_offers_no_options_for_calls(capsys, name):
    shown = run(capsys, name, "--help")[1]
    unused = (
        "--db",
        "--redis",
        "--redis-timeout",
        "--limits-without-redis",
        "--user",
        "--grants",
        "--audit",
        "--deadline",
    )
    assert [option for option in unused if f"  {option} " in shown] == []
    assert "--descriptions" in shown


@pytest.mark.parametrize("name", ["tools", "call", "verify", "lock"])
def test_a_command_that_does_not_listen_offers_no_options_for_listening(capsys, name):
    shown = run(capsys, name, "--help")[1]
    unused = ("--host", "--port", "--allow-hosts", "--allow-origins", "--fast-path", "--tokens")
    assert [option for option in unused if f"  {option} " in shown] == []
    assert "--tool-prefix" in shown


def test_the_version_is_shown_without_loading_the_framework():
    program = (
        "import sys; from toolcharter.cli import main\ntry: main(['--version'])\nfinally: print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [name for name in ("mcp_core", "pydantic", "asyncio") if f"'{name}'" in done.stdout] == []


def test_a_server_without_a_command_of_its_own_is_started_with_its_options(capsys):
    code, out, _ = run(capsys, "stdio", "demo", "--help")
    assert (code, out.splitlines()[0].endswith("[stdio | http] demo [options]"), "--user" in out) == (0, True, True)


def test_a_name_is_all_that_is_missing_where_none_was_given(capsys):
    code, _, err = run(capsys, "http")
    assert (code, err.splitlines()[-1]) == (2, "toolcharter http: error: the following arguments are required: NAME")


def test_a_server_with_a_command_of_its_own_is_started_by_it(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/opt/bin/toolcharter", "stdio", "todo"])
    code, _, err = run(capsys, "stdio", "todo", "--prot", "1")
    assert (code, "mcp-todo: error: unrecognized arguments: --prot 1; did you mean --port?" in err) == (2, True)
