"""A server is put into any file of settings and taken out again; everything else in it stays, byte for byte."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from tests.toolcharter.clients.random_documents import Settings
from toolcharter.clients import editing
from toolcharter.clients.documents.errors import BrokenDocument, CannotEdit

MEMBER = "servers"
PATH = (MEMBER, "to-do")
KINDS = ("json", "toml", "yaml")
NOTE = re.compile(r"note\d+")


@pytest.mark.requirement("PKG-2")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(500))
@given(seed=st.integers(0, 2**32))
def test_a_server_that_is_added_and_removed_leaves_the_same_bytes(kind, seed):
    document = Settings(seed, MEMBER)
    text, entry = document.text(kind), document.entry()
    added = editing.put(text, kind, PATH, entry)
    assert editing.find(editing.read(added, kind), PATH) == entry
    assert editing.put(added, kind, PATH, entry) == added
    assert editing.take_out(added, kind, PATH) == text


@pytest.mark.requirement("PKG-2")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(250))
@given(seed=st.integers(0, 2**32))
def test_a_server_that_is_there_is_changed_in_its_place(kind, seed):
    document = Settings(seed, MEMBER)
    text, first, second = document.text(kind), document.entry(), document.entry()
    once = editing.put(text, kind, PATH, first)
    changed = editing.put(once, kind, PATH, second)
    variables = {**first.get("env", {}), **second.get("env", {})}
    assert NOTE.findall(changed) == NOTE.findall(text)
    assert editing.find(editing.read(changed, kind), PATH) == second | ({"env": variables} if variables else {})
    assert editing.put(changed, kind, PATH, second) == changed


@pytest.mark.requirement("PKG-2")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(250))
@given(seed=st.integers(0, 2**32))
def test_any_server_can_be_taken_out_and_the_rest_stays(kind, seed):
    text = Settings(seed, MEMBER).text(kind)
    data = editing.read(text, kind)
    servers = data.get(MEMBER) or {}
    for name in servers:
        left = editing.read(editing.take_out(text, kind, (MEMBER, name)), kind)
        assert (left.get(MEMBER) or {}) == {key: value for key, value in servers.items() if key != name}
        assert left | {MEMBER: servers} == data


@pytest.mark.parametrize(
    ("kind", "text", "where"),
    [
        ("json", '{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: "," or "}" is missing'),
        ("json", '{"a": [1, 2}', 'line 1, column 12: "," or "]" is missing'),
        ("json", '{"a": "x\n"}', "line 1, column 9: Invalid control character at"),
        ("json", "{ /* no end", "line 1, column 3: the comment does not end"),
        ("json", "[]", "line 1, column 1: the file does not have an object"),
        ("json", '{"a": tru}', "line 1, column 7: a value is missing"),
        ("json", "[" * 300, "line 1, column 202: more than 200 values are inside each other"),
        ("toml", "a = 1\nb = [1,\n", "line 2, column 8: "),
        ("toml", "a = 1\na = 2\n", "line 2, column 6: Cannot overwrite a value"),
        ("yaml", "a: 1\n b: 2\n", "line 2, column 3: mapping values are not allowed here"),
        ("yaml", "- a\n", "line 1, column 1: the file does not have a mapping"),
        ("yaml", "a: [1\n", "line 2, column 1: expected ',' or ']'"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_column(kind, text, where):
    for change in (
        lambda: editing.put(text, kind, PATH, {"command": "x"}),
        lambda: editing.take_out(text, kind, PATH),
    ):
        with pytest.raises(BrokenDocument) as refused:
            change()
        assert str(refused.value).startswith(where)


def test_a_file_that_has_something_else_at_the_place_of_servers_is_not_changed():
    for kind, text in (("json", '{"servers": []}'), ("toml", "servers = 3\n"), ("yaml", "servers: [a]\n")):
        with pytest.raises((CannotEdit, BrokenDocument)):
            editing.put(text, kind, PATH, {"command": "x"})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("json", '{"servers": {"to-do": {"command": "a"}, "to-do": {"command": "b"}}}'),
        ("toml", '[servers]\nto-do.command = "a"\n'),
        ("yaml", "servers:\n  to-do: {command: a}\n  to-do: {command: b}\n"),
        ("yaml", "base: &base {to-do: {command: a}}\nservers:\n  <<: *base\n"),
        ("yaml", "servers:\n  to-do: &mine {command: a}\n  other: *mine\n"),
    ],
)
def test_a_server_that_cannot_be_taken_out_alone_is_not_taken_out(kind, text):
    assert "to-do" in editing.read(text, kind)["servers"]
    with pytest.raises(CannotEdit) as refused:
        editing.take_out(text, kind, PATH)
    assert str(refused.value) == "servers.to-do is written in a way that cannot be changed here"


def test_what_is_added_looks_like_the_rest():
    text = '{\r\n\t// mine\r\n\t"theme": "dark" // ok\r\n}\r\n'
    assert editing.put(text, "json", PATH, {"command": "x", "args": []}) == (
        '{\r\n\t// mine\r\n\t"theme": "dark", // ok\r\n\t"servers": {\r\n\t\t"to-do": {\r\n\t\t\t"command": "x",\r\n'
        '\t\t\t"args": []\r\n\t\t}\r\n\t}\r\n}\r\n'
    )


def test_what_the_user_added_to_an_entry_stays():
    text = '{"servers": {"to-do": {"command": "old", "disabled": true, "env": {"A": "1"}}}}'
    new = editing.put(text, "json", PATH, {"command": "new", "args": ["x"], "env": {"B": "2"}})
    assert editing.read(new, "json")["servers"]["to-do"] == {
        "command": "new",
        "disabled": True,
        "env": {"A": "1", "B": "2"},
        "args": ["x"],
    }


def test_a_server_that_was_started_and_is_now_reached_at_an_address_keeps_nothing_of_its_command():
    text = '{"servers": {"to-do": {"command": "old", "args": ["x"]}}}'
    new = editing.put(text, "json", PATH, {"url": "http://127.0.0.1:8000/mcp"})
    assert editing.read(new, "json") == {"servers": {"to-do": {"url": "http://127.0.0.1:8000/mcp"}}}
