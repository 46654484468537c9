import pytest

from tests.toolcharter.verify.rules.run_rule import run_rule

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
NUMBER = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "number"}}}


@pytest.mark.parametrize("annotations", [None, {}, [], "true", {"title": "Notes"}, {"readOnlyHint": "yes"}])
def test_a_value_that_is_not_a_boolean_is_not_a_hint(annotations):
    assert run_rule("ANN001", {"annotations": annotations}) == [
        ("annotations", "has no hints, so clients treat it as destructive")
    ]


@pytest.mark.parametrize("hint", HINTS)
def test_one_hint_is_better_than_none(hint):
    assert run_rule("ANN001", {"annotations": {hint: False}}) == []


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("update_note", "Change a note.", ["readOnlyHint is true, but the name says 'update'"]),
        ("note_update", "", ["readOnlyHint is true, but the name says 'update'"]),
        ("folder", "Creates a folder.", ["readOnlyHint is true, but the description says 'create'"]),
        ("get_note", "Get a note.", []),
        ("git_commit_history", "Get the commits.", []),
        ("list_updates", "List what was updated.", []),
        ("digest_notes", "Sum up all notes.", []),
        ("pad", "Write a draft into the answer; nothing is stored.", []),
        ("", "", []),
    ],
)
def test_a_tool_that_changes_something_is_not_read_only(name, description, expected):
    told = {"name": name, "description": description, "annotations": {"readOnlyHint": True}}
    assert [message for _, message in run_rule("ANN002", told)] == expected
    assert run_rule("ANN002", {**told, "annotations": {"readOnlyHint": False}}) == []


def test_adding_numbers_changes_nothing():
    assert run_rule("ANN002", {"name": "add", "description": "Add two numbers.", "inputSchema": NUMBER}) == []


@pytest.mark.parametrize("name", ["delete_note", "erase-note", "dropTable", "purge_notes", "wipe_disk", "notes_delete"])
@pytest.mark.parametrize(("hint", "rule"), [(None, "ANN003"), (False, "ANN004"), (True, None)])
def test_a_tool_that_removes_something_is_marked_destructive(name, hint, rule):
    told = {"name": name, "description": "", "annotations": {"destructiveHint": hint}}
    assert [one for one in ("ANN003", "ANN004") if run_rule(one, told)] == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("name", "description"),
    [("kill_trip", "Performs a search of the documents."), ("get_deleted", "List what was deleted."), ("http_get", "")],
)
def test_a_tool_that_only_mentions_deleting_needs_no_mark(name, description):
    assert run_rule("ANN003", {"name": name, "description": description, "annotations": {}}) == []


@pytest.mark.parametrize(
    ("annotations", "found"),
    [
        ({"readOnlyHint": True, "destructiveHint": True}, True),
        ({"readOnlyHint": True}, False),
        ({"readOnlyHint": "true", "destructiveHint": True}, False),
    ],
)
def test_no_tool_is_read_only_and_destructive(annotations, found):
    assert bool(run_rule("ANN005", {"annotations": annotations})) is found


@pytest.mark.parametrize(
    ("name", "description", "found"),
    [
        ("create_note", "Create a note.", True),
        ("git_add", "Add a file to the index.", False),
        ("append_line", "Append a line.", True),
        ("send_note", "Send a note.", True),
        ("create_folder", "Create a folder. Nothing happens where it already exists.", False),
        ("update_note", "Update a note.", False),
        ("delete_note", "Delete a note.", False),
    ],
)
def test_a_tool_that_adds_is_not_idempotent(name, description, found):
    told = {"name": name, "description": description, "annotations": {"idempotentHint": True}}
    assert bool(run_rule("ANN006", told)) is found
    assert run_rule("ANN006", {**told, "annotations": {"idempotentHint": False}}) == []


@pytest.mark.parametrize(
    ("description", "hint", "found"),
    [
        ("Search the web for a word.", False, True),
        ("Fetches the content of a URL.", None, True),
        ("Fetches the content of a URL.", True, False),
        ("Search the notes for a word.", False, False),
    ],
)
def test_a_tool_that_fetches_from_the_web_says_so(description, hint, found):
    told = {"description": description, "annotations": {"readOnlyHint": True, "openWorldHint": hint}}
    assert bool(run_rule("ANN007", told)) is found
    assert run_rule("ANN007", {"description": description, "annotations": {}}) == []


@pytest.mark.parametrize(
    ("definition", "rules"),
    [
        ({"title": ""}, ["ANN008"]),
        ({"title": 3, "annotations": {"title": 4}}, ["ANN008"]),
        ({"title": "", "annotations": {"title": "List notes"}}, []),
        ({"title": "list_notes"}, ["ANN009"]),
        ({"title": "", "annotations": {"title": "list_notes"}}, ["ANN009"]),
        ({"title": "List notes"}, []),
    ],
)
def test_a_title_is_for_people(definition, rules):
    assert [rule for rule in ("ANN008", "ANN009") if run_rule(rule, definition)] == rules
