import re

import pytest

from tests.toolcharter.verify.fake_rules import RULES
from toolcharter.verify.config import Config, InvalidConfig, read


def written(tmp_path, text):
    file = tmp_path / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_project_selects_and_ignores_with_reasons_and_a_server_refines_it(tmp_path):
    file = written(
        tmp_path,
        """
        [tool.toolcharter.verify]
        select = ["schema", "DSC"]
        ignore = { "DSC901" = "as upstream has it" }
        [tool.toolcharter.verify.servers.todo]
        select = ["SEC"]
        ignore = { "DSC902:add_*" = "the contract says so" }
        """,
    )
    assert read(file, ["other"], RULES) == Config(("schema", "DSC"), {"DSC901": "as upstream has it"})
    assert read(file, ["todo"], RULES) == Config(
        ("SEC",), {"DSC901": "as upstream has it", "DSC902:add_*": "the contract says so"}
    )


def test_the_pyproject_of_the_current_folder_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read(None, [], RULES) == Config()
    written(tmp_path, '[tool.toolcharter.verify]\nselect = ["schema"]')
    assert read(None, [], RULES) == Config(("schema",))
    written(tmp_path, "[tool.other]\nselect = 3")
    assert read(None, [], RULES) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ignore = ['DSC901']", 'ignore must have a reason for each rule: ignore = { "PAR003" = "why" }.'),
        ("ignore = {DSC901 = ''}", 'ignoring \'DSC901\' needs a reason: "DSC901" = "why".'),
        ("ignore = {DSC901 = true}", 'ignoring \'DSC901\' needs a reason: "DSC901" = "why".'),
        ("ignore = {DSC999 = 'no'}", "Unknown rule 'DSC999'. Did you mean "),
        ("select = ['schemas']", "Unknown rule 'schemas'. Did you mean schema? "),
        ("select = 'schema'", 'select must be a list of rules, such as ["schema", "DSC001"].'),
        ("selct = []", "unknown setting 'selct'; did you mean 'select'?"),
        ("zzz = []", "unknown setting 'zzz'."),
    ],
)
@pytest.mark.parametrize("table", ["tool.toolcharter.verify", "tool.toolcharter.verify.servers.todo"])
def test_a_mistake_is_reported_with_its_place_for_every_server(tmp_path, table, text, message):
    file = written(tmp_path, f"[{table}]\n{text}")
    with pytest.raises(InvalidConfig, match=re.escape(f"{file}: {table}: {message}")):
        read(file, [], RULES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.toolcharter]\nverify = 3", "tool.toolcharter.verify must be a table, not 3."),
        ("[tool.toolcharter.verify]\nservers = 3", "tool.toolcharter.verify.servers must be a table, not 3."),
        ("[tool", "Expected ']'"),
    ],
)
def test_a_file_that_is_not_valid_is_refused(tmp_path, text, message):
    with pytest.raises(InvalidConfig, match=re.escape(message)):
        read(written(tmp_path, text), [], RULES)


def test_a_file_that_is_named_must_exist(tmp_path):
    with pytest.raises(InvalidConfig, match="No such file"):
        read(tmp_path / "none.toml", [], RULES)
