from pathlib import Path

import pytest

from mcp_core import App, Settings
from mcp_core.install_command import installer
from mcp_core.start_errors import CannotStart
from toolcharter import targets

HELLO = Path(__file__).parents[2] / "examples" / "hello.py"


def test_an_installed_server_is_found_by_its_name():
    assert targets.load("demo", Settings()).name == "demo"


def test_a_file_is_loaded_by_its_build_function():
    assert targets.load(str(HELLO), Settings()).name == "hello"


def test_an_object_in_a_file_can_be_named():
    assert targets.load(f"{HELLO}:build", Settings()).name == "hello"


def test_an_object_in_a_module_can_be_named():
    assert targets.load("toolcharter_examples.demo:build", Settings()).name == "demo"


def test_an_app_object_is_used_as_it_is(tmp_path):
    file = tmp_path / "made.py"
    file.write_text("from mcp_core import App\napp = App('made', version='1.0.0')\n")
    assert targets.load(f"{file}:app", Settings()).name == "made"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "nobody",
            (
                f"No server 'nobody' is installed. Installed: {', '.join(targets.known())}. "
                "Give the name of one, file.py, module:object, or an http:// address."
            ),
        ),
        ("missing.py", "The file missing.py does not exist."),
        (
            "127.0.0.1:8000/mcp",
            "'127.0.0.1:8000/mcp' is not an address of a server. Did you mean http://127.0.0.1:8000/mcp?",
        ),
        ("htp://x/mcp", "'htp://x/mcp' is not an address of a server. Did you mean http://x/mcp?"),
        ("no_such_module:build", "'no_such_module:build': No module named 'no_such_module'."),
        (
            "toolcharter_examples.demo:nothing",
            "'toolcharter_examples.demo:nothing': toolcharter_examples.demo has no 'nothing'.",
        ),
        (
            "inspect:isfunction",
            "'inspect:isfunction' is of type bool. Give an App, or a function that builds one.",
        ),
    ],
)
def test_a_target_that_is_not_a_server_is_refused_with_what_to_do(target, message):
    with pytest.raises(targets.UnknownTarget) as refusal:
        targets.load(target, Settings())
    assert str(refusal.value) == message


def test_without_names_every_installed_server_is_served():
    assert targets.choose([]) == targets.installed() == sorted(set(targets.known()) - {"demo"})


def test_a_third_party_server_is_found_by_its_entry_point(monkeypatch):
    class Entry:
        name = "theirs"

        @staticmethod
        def load():
            return lambda settings: App("theirs", version="2.0.0", settings=settings)

    class Entries(list):
        names = frozenset({"theirs"})

    monkeypatch.setattr(targets, "entry_points", lambda group: Entries([Entry] if group == targets.SERVERS else []))
    assert targets.installed() == ["theirs"]
    assert targets.load("theirs", Settings()).name == "theirs"


def test_an_address_is_distinguished_from_a_name():
    assert [targets.is_address(t) for t in ("http://a/mcp", "https://a/mcp", "demo")] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\nimport no_such_module\n",
            (
                "cannot be loaded, line 2: ModuleNotFoundError: No module named 'no_such_module'. "
                f"Install what has it beside toolcharter: {installer()} PACKAGE"
            ),
        ),
        ("x = 1\nx y\n", "cannot be loaded, line 2: SyntaxError: invalid syntax (made.py, line 2)"),
        (
            "class MCPServer: ...\nmcp = MCPServer()\n",
            "defines no function build(settings) -> App. Name its server: FILE:mcp.",
        ),
        (
            "from toolcharter_examples.demo import build\n",
            "defines no function build(settings) -> App. Define one, or name a server: FILE:NAME.",
        ),
        (
            "from toolcharter import Naming\n\nnaming = Naming('camel')\n",
            "cannot be loaded, line 3: ValueError: 'camel' is not a style of names; use snake or kebab",
        ),
    ],
)
def test_a_file_without_a_server_is_explained_with_its_line_or_what_to_name(tmp_path, text, message, monkeypatch):
    file = tmp_path / "made.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CannotStart) as refusal:
        targets.load(str(file), Settings())
    assert refusal.value.exit_code == (1 if "cannot be loaded" in message else 2)
    assert str(refusal.value) == f"{file} {message.replace('FILE', str(file))}"
    # The same by a relative path, in a folder in which the environment is not.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotStart) as refusal:
        targets.load("made.py", Settings())
    words = f"made.py {message.replace('FILE', 'made.py')}"
    assert str(refusal.value).partition("beside")[0] == words.partition("beside")[0]
