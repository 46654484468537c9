"""What looked like a problem and is none, and problems that were missed, by rule."""

import pytest

from tests.toolcharter.verify.rules.run_rule import RULES, run_rule, tool_with
from toolcharter.verify.engine import example_server, run_rules


def text(description, name="value"):
    return tool_with(**{name: {"type": "string", "description": description}})


NUMBER = {"type": "integer"}
TEXT = {"type": "string", "description": "The text of the note."}
KEEPS = {"destructiveHint": False}
CREATES = {"readOnlyHint": False, "idempotentHint": True}


@pytest.mark.parametrize(
    ("rule", "definition"),
    [
        ("ANN003", {"name": "remove_member", "description": "Remove a member from a card.", "annotations": {}}),
        ("ANN003", {"name": "remove_card", "description": "Remove a card from a list.", "annotations": {}}),
        ("ANN003", {"name": "terminate_session", "description": "Terminate the session.", "annotations": {}}),
        ("ANN004", {"name": "remove_from_cycle", "description": "Remove an issue from a cycle.", "annotations": KEEPS}),
        ("ANN006", {"name": "git_add", "description": "Add files to the index.", "annotations": CREATES}),
        ("DSC002", {"name": "list_branches", "description": "List branches."}),
        ("DSC002", {"name": "get_note_content", "description": "获取笔记内容"}),
        ("DSC006", {"name": "list_notes", "description": "List the notes."}),
        ("DSC011", {"name": "remove_label", "description": "Remove a label from an issue of the project."}),
        ("DSC011", {"name": "drop_file", "description": "Drop a file onto an element of the page."}),
        ("DSC002", {"name": "reinvite_member", "description": "Re-invite a member"}),
        ("DSC007", {"description": "This action allows the organizer or attendee of a meeting event to forward it."}),
        (
            "DSC011",
            {"name": "delete_override", "description": "Delete an override. Mail reverts to the default order."},
        ),
        ("DSC022", {"description": "Return CSS. For colours, use `light-dark` with two values."}),
        ("DSC016", {"description": "Find values of `tag`. Pass `list_notes` to another tool for more."}),
        ("NAM003", {"name": "emulate_device"}),
        ("NAM003", {"name": "forget_note"}),
        ("NAM009", {"name": "list_rights", "description": "The set of rights of a note."}),
        ("NAM009", {"name": "search_feedback", "description": "Send feedback on the last search."}),
        ("PAR001", {"name": "whois", "description": "Look up a domain.", **tool_with(domain={"type": "string"})}),
        ("PAR001", tool_with(order={"type": "string", "enum": ["newest", "oldest"]})),
        ("PAR003", text('New position: "top", "bottom", or a number.', "position")),
        ("PAR003", text("Who the note is about, in words that mean the writer (me, my, I).")),
        ("PAR003", text("The folder of the sources (src/main/java).", "folder")),
        ("PAR003", text("Use either first or second.", "third") | tool_with(first=NUMBER, second=NUMBER)),
        ("PAR003", text("The port; an empty value means `80` (http) or `443` (https).", "port")),
        ("PAR009", {"name": "share_note", **tool_with(password={"type": "string"}, note_id={"type": "string"})}),
        ("PAR009", {"name": "protect_document", **tool_with(password={"type": "string"})}),
        ("PAR010", tool_with(filter={"type": "object"})),
        ("PAR010", tool_with(flags={"type": "object", "description": "Key-value pairs."})),
        ("PAR012", tool_with(due_date={"type": "string"})),
        ("PAR015", text("This is required for summaries to be made.")),
        ("PAR018", text("Where the next page begins.", "offset")),
        ("PAR020", tool_with(limit={**NUMBER, "default": 20, "description": "Defaults to 20.0 notes."})),
        ("PAR021", tool_with(timeout={**NUMBER, "description": "How many seconds to wait."})),
        ("SEC004", {"description": "Return the plan in <instructions>, which you show.</instructions>"}),
        ("SEC015", {"description": "Add a button:\n```\n<button onClick={save}>\n```"}),
        ("PAR021", tool_with(timeout_ms={**NUMBER, "description": "How long to wait."})),
    ],
)
def test_a_tool_without_this_problem_has_no_finding(rule, definition):
    assert run_rule(rule, definition) == []


@pytest.mark.parametrize(
    ("rule", "definition", "message"),
    [
        (
            "DSC016",
            {"description": "List notes. Set `max_count` to limit them."},
            "mentions an argument 'max_count', which is not in the schema",
        ),
        (
            "PAR018",
            text("Whether to list old notes: 'true' or 'false'."),
            "'value' is a boolean in a string",
        ),
        (
            "PAR020",
            tool_with(limit={**NUMBER, "default": 20, "description": "How many notes (defaults to 50)."}),
            "says that the default is 50, but it is 20",
        ),
        (
            "PAR021",
            tool_with(timeout={**NUMBER, "description": "How long to wait."}),
            "'timeout' does not say its unit",
        ),
    ],
)
def test_a_problem_that_was_missed_is_found(rule, definition, message):
    assert [found for _, found in run_rule(rule, definition)] == [message]


def test_tools_with_the_same_meaning_in_other_words_are_found():
    assert run_rule("NAM006", {"name": "search_docs"}, {"name": "find_documents"}) == [
        ("name", "'find_documents' and 'search_docs' have names with the same meaning")
    ]


def test_k8s_is_one_word():
    assert run_rule("NAM003", {"name": "k8s_get_nodes"}, {"name": "k8s_get_pods"}) == []


@pytest.mark.parametrize(
    ("definition", "rules", "expected"),
    [
        (
            {"name": "delete_note", "description": "Deletes notes."},
            ["DSC002", "DSC006", "DSC008", "DSC011"],
            ["DSC006"],
        ),
        ({"name": "delete_note", "description": "Deletes it."}, ["DSC002", "DSC008", "DSC011"], ["DSC002"]),
        ({"name": "delete_note", "description": "Deletes it."}, ["DSC008"], ["DSC008"]),
        ({"description": "x" * 3_000}, ["DSC004", "DSC005", "POR018"], ["POR018"]),
        (tool_with(a=NUMBER, b=NUMBER, c=NUMBER), ["PAR001"], ["PAR001"]),
        (tool_with(a={"type": "object", "properties": {"b": NUMBER, "c": NUMBER}}, d=TEXT), ["PAR001"], ["PAR001"] * 2),
        (tool_with(a={"type": ["string", "null"]}, b={"type": ["string", "null"]}), ["POR008"], ["POR008"]),
        (tool_with(a={"type": "object"}, b={"type": "object"}), ["PAR010"], ["PAR010"]),
    ],
)
def test_one_cause_is_one_finding(definition, rules, expected):
    found = run_rules(example_server([definition]), [RULES[rule] for rule in rules])
    assert [finding.rule for finding in found] == expected
