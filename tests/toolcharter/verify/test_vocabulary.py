import pytest

from toolcharter.verify.engine import example_server
from toolcharter.verify.vocabulary import BASE_FORMS, CLEARLY_CHANGING, EFFECTS, VERBS


@pytest.mark.parametrize(
    ("form", "verb"),
    [
        ("deletes", "delete"),
        ("deleting", "delete"),
        ("searches", "search"),
        ("applies", "apply"),
        ("getting", "get"),
        ("plays", "play"),
        ("remove", "remove"),
    ],
)
def test_a_form_has_its_base_form(form, verb):
    assert BASE_FORMS[form] == verb


def test_a_verb_is_its_own_form():
    assert {verb: BASE_FORMS[verb] for verb in VERBS} == {verb: verb for verb in VERBS}


def test_a_verb_that_certainly_changes_something_is_not_a_reading_verb():
    assert {verb: EFFECTS[verb] for verb in CLEARLY_CHANGING} == CLEARLY_CHANGING


@pytest.mark.parametrize(
    ("name", "description", "effect"),
    [
        ("get_note", "", "reading"),
        ("notes_create", "", "creating"),
        ("crm_batch_delete_notes", "", "destroying"),
        ("commit_history", "Get the commits.", "reading"),
        ("notes", "This tool can be used to send notes.", "sending"),
        ("notes", "Permanently removes all notes.", "destroying"),
        ("notes", "Notes of all kinds.", None),
        ("", "", None),
    ],
)
def test_name_and_description_say_what_a_tool_does(name, description, effect):
    server = example_server([{"name": name, "description": description}])
    assert server.effect(server.tools[0]) == effect


def test_adding_numbers_is_computing():
    two = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "number"}}}
    server = example_server([{"name": "add", "description": "Add.", "inputSchema": two}, {"name": "add"}])
    assert [server.effect(tool) for tool in server.tools] == ["computing", "creating"]
