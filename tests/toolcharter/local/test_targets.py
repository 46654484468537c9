from pathlib import Path

import pytest

from mcp_core import App, Settings
from mcp_core.process.install_command import installer
from mcp_core.process.start_errors import CannotStart
from toolcharter.commands.interface import is_address
from toolcharter.local import targets

WORDS = Path(__file__).parents[3] / "examples" / "words.py"


def test_an_installed_server_is_found_by_its_name():
    assert targets.load("demo", Settings()).name == "demo"


def test_a_file_is_loaded_by_its_build_function():
    assert targets.load(str(WORDS), Settings()).name == "words"


def test_an_object_in_a_file_can_be_named():
    assert targets.load(f"{WORDS}:build", Settings()).name == "words"


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

        def select(self, group):
            return self if group == targets.SERVERS else []

    monkeypatch.setattr(targets, "entry_points", lambda group=targets.SERVERS: Entries([Entry]).select(group))
    assert targets.installed() == ["theirs"]
    assert targets.load("theirs", Settings()).name == "theirs"


def test_an_address_is_distinguished_from_a_name():
    assert [is_address(t) for t in ("http://a/mcp", "https://a/mcp", "demo")] == [True, True, False]


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
            "makes no App. Name the server: FILE:mcp.",
        ),
        (
            "from toolcharter_examples.demo import build\n",
            "makes no App. Make one, app = App(NAME), or name what makes it: FILE:FUNCTION.",
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


TWO = "from toolcharter import App\nusers = App('users')\nbooks = App('books')\n"


def test_the_only_app_of_a_file_is_found(tmp_path):
    file = tmp_path / "one.py"
    file.write_text("from toolcharter import App\nmcp = server = App('one')\n", encoding="utf-8")
    assert targets.load(str(file), Settings()).name == "one"


def test_of_several_apps_the_one_that_the_file_runs_is_found(tmp_path):
    file = tmp_path / "two.py"
    file.write_text(f"{TWO}books.run()\n", encoding="utf-8")
    assert targets.load(str(file), Settings()).name == "books"


@pytest.mark.parametrize("end", ["", "books.run\n", "users.run()\nbooks.run()\n"])
def test_several_apps_are_named(tmp_path, end):
    file = tmp_path / "two.py"
    file.write_text(TWO + end, encoding="utf-8")
    with pytest.raises(targets.UnknownTarget) as refusal:
        targets.load(str(file), Settings())
    assert str(refusal.value) == f"{file} makes several servers. Name the server: {file}:users or {file}:books."
    assert targets.load(f"{file}:books", Settings()).name == "books"


def test_a_file_that_runs_a_function_is_loaded_by_it(tmp_path):
    file = tmp_path / "made.py"
    text = "from toolcharter import App, run\ndef make(settings): return App('made', settings=settings)\nrun(make)\n"
    file.write_text(text, encoding="utf-8")
    assert targets.load(str(file), Settings(threads=3)).settings.threads == 3


def test_an_app_that_was_made_already_takes_the_settings_that_are_given(tmp_path):
    file = tmp_path / "made.py"
    file.write_text(
        "from toolcharter import App, Settings\napp = App('made', settings=Settings(threads=3, user='ana'))\n"
        "@app.tool\ndef add(a: int) -> int:\n    return a\n",
        encoding="utf-8",
    )
    app = targets.load(str(file), Settings(user="bo", MCP_TOOL_PREFIX="my", deadline=5, descriptions="full"))
    assert (app.settings.threads, app.settings.user, app.local_caller.user_id) == (3, "bo", "bo")
    assert [tool.name for tool in app.list_tools()] == ["my_add"]
    assert (set(app.policy.deadlines.values()), app.descriptions) == ({5}, "full")


def test_a_file_finds_the_modules_beside_it(tmp_path):
    (tmp_path / "shelf_of_books.py").write_text("NAME = 'books'\n", encoding="utf-8")
    file = tmp_path / "made.py"
    text = "from toolcharter import App\nfrom shelf_of_books import NAME\napp = App(NAME)\n"
    file.write_text(text, encoding="utf-8")
    assert targets.load(str(file), Settings()).name == "books"
