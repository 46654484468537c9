import pytest

from mcp_core.declare.naming import Naming
from tests.toolcharter.verify.rules.run_rule import RULES, run_rule
from toolcharter.verify.engine import example_server, run_rules
from toolcharter.verify.model import Server


def _named(*names):
    return [{"name": name} for name in names]


def _found(rule, *names):
    """The names in which a rule finds a problem."""
    return [finding.tool for finding in run_rules(example_server(_named(*names)), [RULES[rule]])]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["get_note", "list_notes", "search"], []),
        (["get-note", "list-notes", "search"], []),
        (["getNote", "listNotes", "deleteNOTE"], []),
        (["get_note", "list_notes", "deleteNote"], ["deleteNote"]),
        (["get_note", "list_notes", "delete-note"], ["delete-note"]),
        (["get_note", "list_notes", "get_noteById"], ["get_noteById"]),
        (["notes.get_note", "notes.list_notes"], []),
        (["get_note", "获取笔记", ""], []),
        (["note"], []),
    ],
)
def test_names_of_a_server_are_of_one_style(names, expected):
    assert _found("NAM002", *names) == expected


def test_a_declared_style_counts_more_than_the_usual_one():
    tools = example_server(_named("get_note", "list_notes", "delete-note")).tools
    server = Server(tools, "notes", Naming("kebab"))
    assert [finding.tool for finding in run_rules(server, [RULES["NAM002"]])] == ["get_note", "list_notes"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["create_note"], []),
        (["note_create"], ["note_create"]),
        (["weather_current"], ["weather_current"]),
        (["weather"], []),
        (["git_status", "git_commit", "git_add_all"], []),
        (["git_commit", "git_add_all", "git_branch_rename"], ["git_branch_rename"]),
        (["crm_get_lead", "crm_list_leads", "crm_add_lead", "find", "run", "get_x", "get_y"], []),
        (
            ["notes_get", "notes_list", "notes_add", "find", "run", "get_x", "get_y"],
            ["notes_get", "notes_list", "notes_add"],
        ),
        (["my_app_get_note", "my_app_list_notes"], []),
        (["获取_笔记"], []),
    ],
)
def test_a_verb_comes_first_after_a_prefix(names, expected):
    assert _found("NAM003", *names) == expected


@pytest.mark.parametrize(
    "name", ["run", "execute", "process", "do", "handle_request", "handleRequest", "tool1", "tool_2"]
)
def test_a_name_that_could_mean_any_tool_is_found(name):
    assert run_rule("NAM004", {"name": name}) == [("name", f"{name!r} does not say what the tool is for")]


@pytest.mark.parametrize("name", ["run_query", "git_run", "process_invoice", "获取笔记"])
def test_a_name_with_an_object_is_specific(name):
    assert run_rule("NAM004", {"name": name}) == []


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ("get_user", "getUser", "style"),
        ("get_user", "user_get", "the order of words"),
        ("get_user", "get_users", "a plural"),
        ("get_story", "get_stories", "a plural"),
        ("search", "search2", "a number"),
        ("search_web1", "search_web_2", "a number"),
    ],
)
def test_similar_names_are_reported_with_the_difference(one, other, difference):
    assert run_rule("NAM005", *_named(one, other)) == [("name", f"{other!r} differs from {one!r} only in {difference}")]


@pytest.mark.parametrize(
    "names", [("get_user", "list_users"), ("encode_base32", "encode_base64"), ("get_status", "get_statu"), ("", "")]
)
def test_names_that_differ_in_a_word_are_not_similar(names):
    assert run_rule("NAM005", *_named(*names)) == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["create_note", "add_note"], ["add_note"]),
        (["delete_note", "remove_notes", "erase_note"], ["remove_notes", "erase_note"]),
        (["delete_note", "remove_tag"], []),
        (["get_note", "list_notes"], []),
        (["get", "fetch"], []),
    ],
)
def test_one_action_has_one_verb(names, expected):
    assert _found("NAM006", *names) == expected


@pytest.mark.parametrize(
    ("name", "description", "found"),
    [
        ("list_cstmr", "List customers.", True),
        ("get_usr", "Get a person.", True),
        ("set_qwrt", "Set the QWRT, which stands for something.", False),
        ("get_html", "Get the page.", False),
        ("get_by_id", "Get the page.", False),
        ("sync_all", "Bring up to date.", False),
    ],
)
def test_an_abbreviation_is_known_or_explained(name, description, found):
    assert bool(run_rule("NAM007", {"name": name, "description": description})) is found


@pytest.mark.parametrize(
    "name", ["get_note_v2", "getNoteV2", "v1-get-note", "get_note_old", "tmp_note", "my_note_test"]
)
def test_a_name_does_not_look_unfinished(name):
    assert run_rule("NAM008", {"name": name}) != []


@pytest.mark.parametrize(
    "name", ["run_test", "test_connection", "get_ipv4", "get_temperature", "get_v", "list_versions"]
)
def test_a_finished_name_may_mention_tests_and_versions(name):
    assert run_rule("NAM008", {"name": name}) == []


@pytest.mark.parametrize(
    ("name", "description", "found"),
    [
        ("get_notes", "Deletes all notes.", True),
        ("list_notes", "This tool will permanently delete all notes.", True),
        ("list_notes", "This tool deletes all notes.", True),
        ("create_note", "Permanently remove a note.", True),
        ("delete_note", "Get a note.", True),
        ("delete_note", "Remove a note.", False),
        ("send_note", "Publish a note.", False),
        ("search_and_replace", "Replace a word in all notes.", False),
        ("get_notes", "", False),
        ("get_notes", "获取笔记", False),
    ],
)
def test_name_and_description_have_one_action(name, description, found):
    assert bool(run_rule("NAM009", {"name": name, "description": description})) is found
