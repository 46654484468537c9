import pytest

from tests.toolcharter.verify.rules.run_rule import RULES, run_rule, tool_with
from toolcharter.verify.engine import example_server, run_rules

WISH = "Use this when the user asks for it."


def _found(rule, description, **more):
    return bool(run_rule(rule, {"description": description, **more}))


@pytest.mark.parametrize(
    ("description", "rules"),
    [
        ("", []),
        ("List notes", []),
        ("x" * 19, ["DSC002"]),
        ("x" * 20, ["DSC003"]),
        ("x" * 49, ["DSC003"]),
        ("x" * 50, []),
        ("获取笔记内容", ["DSC002"]),
        ("获取用户的笔记内容并返回列表", ["DSC003"]),
        ("获取用户的笔记内容并返回列表、包括标题、链接和摘要", []),
        ("x" * 1_024, []),
        ("x" * 1_025, ["DSC004"]),
        ("x" * 2_000, ["DSC004"]),
        ("x" * 2_001, ["DSC005"]),
    ],
)
def test_a_description_is_neither_too_short_nor_too_long(description, rules):
    sized = [RULES[number] for number in ("DSC002", "DSC003", "DSC004", "DSC005")]
    found = run_rules(example_server([{"name": "notes", "description": description}]), sized)
    assert [finding.rule for finding in found] == rules


def test_headings_and_code_blocks_do_not_count_as_length():
    assert _found("DSC002", "## Description\nMy notes.\n\n## JSON Schema\n```json\n" + "x" * 80 + "\n```")


@pytest.mark.parametrize(
    ("name", "description", "found"),
    [
        ("delete_note", "Delete note.", True),
        ("deleteNote", "Deletes a specific note by its ID", True),
        ("delete_note", "Removes the note.", True),
        ("delete_note", "Deletes a note and its attachments.", False),
        ("delete_note", "删除笔记", False),
        ("delete_note", "", False),
        ("delete_note", "The.", False),
    ],
)
def test_a_description_says_more_than_the_name(name, description, found):
    assert _found("DSC006", description, name=name) is found


@pytest.mark.parametrize(
    ("description", "found"),
    [
        ("List the notes of a folder.", False),
        ("This tool lists the notes of a folder.", False),
        ("A tool for the notes of a folder.", False),
        ("Args:\n    folder: Where to run_rule.", True),
        ("Returns: the notes of a folder.", True),
        ("The titles of a folder, oldest at the top.", True),
        ("获取笔记", False),
    ],
)
def test_a_description_begins_with_what_the_tool_does(description, found):
    assert _found("DSC007", description) is found


@pytest.mark.parametrize(
    ("rule", "description", "found"),
    [
        ("DSC008", "List the notes of a folder.", True),
        ("DSC008", "List the notes of a folder. Use this to see them.", False),
        ("DSC008", "List the notes of a folder. Useful for finding one.", False),
        ("DSC008", "获取笔记", False),
        ("DSC009", "List the notes of a folder.", True),
        ("DSC009", "List the notes of a folder. Returns their titles.", False),
        ("DSC009", "List the notes of a folder as JSON.", False),
        ("DSC009", "获取笔记", False),
    ],
)
def test_a_description_says_when_to_use_the_tool_and_what_it_returns(rule, description, found):
    assert _found(rule, description) is found


def test_an_output_schema_says_what_is_returned():
    assert _found("DSC009", "List the notes.")
    assert not _found("DSC009", "List the notes.", outputSchema={"type": "object"})


def test_reading_tools_say_what_they_return_and_changing_tools_their_effect():
    change = {"name": "update_note", "description": f"Update a note of the notebook. {WISH}"}
    assert run_rule("DSC009", change) == []
    assert run_rule("DSC010", change) == [("description", "names the action, but not its effect or what it returns")]
    assert run_rule("DSC010", {"description": f"List the notes. {WISH}"}) == []


@pytest.mark.parametrize(
    "description",
    [
        "Toggle the state of a task. If pending, becomes completed.",
        "Update a task. Only provided fields are updated.",
        "Create a task. Returns its id.",
        "Move a task. It will be the first.",
    ],
)
def test_an_effect_can_be_worded_in_many_ways(description):
    assert not _found("DSC010", description, name="update_task")


@pytest.mark.parametrize(
    ("rule", "name", "description", "found"),
    [
        ("DSC011", "delete_note", "Delete a note.", True),
        ("DSC011", "delete_note", "Permanently delete a note.", False),
        ("DSC011", "delete_note", "Delete a note. It goes to the trash.", False),
        ("DSC011", "get_note", "Get a note.", False),
        ("DSC011", "kill_time", "Show a picture.", False),
        ("DSC012", "write_file", "Write text to a file.", True),
        ("DSC012", "write_file", "Write text to a file, replacing what is there.", False),
        ("DSC012", "write_poem", "Write a poem.", False),
        ("DSC013", "transfer_coins", "Transfer coins from one account to another.", True),
        ("DSC013", "transfer_coins", "Transfer coins. This moves real money.", False),
        ("DSC013", "send_note", "Take a note for others.", True),
        ("DSC013", "send_note", "Send a note to others.", False),
    ],
)
def test_an_action_that_cannot_be_undone_is_described(rule, name, description, found):
    assert _found(rule, description, name=name) is found


@pytest.mark.parametrize(
    ("description", "annotations", "expected"),
    [
        ("This is a read-only tool.", {"destructiveHint": True}, "destructiveHint is true"),
        ("This tool is read-only.", {"readOnlyHint": False}, "readOnlyHint is false"),
        ("Looks, and does not modify anything.", {"readOnlyHint": False}, "readOnlyHint is false"),
        ("Permanently deletes a note.", {"readOnlyHint": True}, "readOnlyHint is true"),
        ("Delete a note. This cannot be undone.", {"destructiveHint": False}, "destructiveHint is false"),
        ("Delete a note. This cannot be undone.", {"destructiveHint": True}, None),
        ("This tool is read-only.", {"readOnlyHint": True}, None),
        ("This tool is read-only.", {}, None),
        ("Set a file to be writable; a read-only file is skipped.", {"readOnlyHint": True}, None),
    ],
)
def test_text_and_annotations_agree(description, annotations, expected):
    found = run_rule("DSC014", {"description": description, "annotations": annotations})
    assert [message.split("but ")[1] for _, message in found] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("description", "found"),
    [
        ("Takes no parameters.", True),
        ("No arguments are needed.", True),
        ("It does not require any input.", True),
        ("Takes no prisoners.", False),
    ],
)
def test_a_tool_with_required_arguments_does_not_say_it_takes_none(description, found):
    assert _found("DSC015", description) is found
    assert not _found("DSC015", description, **tool_with(folder={"type": "string"}))


ARGS = """List notes.

    Args:
        folder (str): Where to run_rule.
            This: line belongs to the one above.
        - `limit`: How many.
        ctx: The context.

    Returns:
        ids: a list
    """


@pytest.mark.parametrize(
    ("description", "names", "expected"),
    [
        (ARGS, ["folder", "limit"], []),
        (ARGS, ["limit"], ["folder"]),
        (ARGS, [], ["folder", "limit"]),
        ("The `tag` parameter filters.", ["folder"], ["tag"]),
        ("With parameter `tag`, filters.", ["tag"], []),
        ("Returns `ids`.", [], []),
        ("Args:", [], []),
    ],
)
def test_a_description_mentions_only_existing_arguments(description, names, expected):
    found = run_rule(
        "DSC016", {"description": description, **tool_with(**{name: {"type": "string"} for name in names})}
    )
    assert [message for _, message in found] == [
        f"mentions an argument {name!r}, which is not in the schema" for name in expected
    ]


@pytest.mark.parametrize(
    ("description", "found"),
    [
        ("Args:\n    folder: Optional. Where to run_rule.", True),
        ("Args:\n    folder (optional): Where to run_rule.", True),
        ("The optional `folder` says where to run_rule.", True),
        ("Args:\n    folder: Where to look, with optional slash.", False),
        ("The `folder` says where to run_rule.", False),
    ],
)
def test_a_required_argument_is_not_called_optional(description, found):
    assert _found("DSC017", description) is found
    assert not _found("DSC017", description, **tool_with(folder={"type": "string"}))


def test_an_argument_that_is_called_optional_is_not_required():
    schema = {"type": "object", "properties": {"tag": {"description": "Optional tag."}}, "required": ["tag"]}
    assert run_rule("DSC017", {"inputSchema": schema}) == [
        ("description", "calls 'tag' optional, but the schema requires it")
    ]


@pytest.mark.parametrize(
    "description",
    [
        "TODO",
        "TBD.",
        "...todo...",
        "Lorem ipsum dolor",
        "Tool description here",
        "No description provided",
        "TODO: write",
    ],
)
def test_a_placeholder_is_not_a_description(description):
    assert _found("DSC018", description)


@pytest.mark.parametrize("description", ["", "Show the TODO list.", "Add a todo.", "Write the description of a note."])
def test_a_description_may_mention_todos(description):
    assert not _found("DSC018", description)


@pytest.mark.parametrize(
    ("rule", "description", "found"),
    [
        ("DSC019", "LIST ALL THE NOTES OF A FOLDER", True),
        ("DSC019", "Get the HTML, JSON, XML and CSV of a NASA page at once.", False),
        ("DSC019", "URL", False),
        ("DSC020", "list notes.", True),
        ("DSC020", "List notes", True),
        ("DSC020", "List notes.", False),
        ("DSC020", "获取笔记。", False),
        ("DSC021", "List notes.<br/>Fast.", True),
        ("DSC021", "List notes. ![logo](x.png)", True),
        ("DSC021", "| a | b |\n|---|---|\n| 1 | 2 |", True),
        ("DSC021", "Encode `&lt;` and '&amp;'.", False),
        ("DSC021", "Find x < y & z.", False),
        ("DSC024", "List the notes.\nUse this to see them.", False),
        ("DSC024", "List the notes of a folder, and those of all the folders in it.", True),
        ("DSC025", "List the notes.", True),
        ("DSC025", "List all the notes.", False),
    ],
)
def test_a_description_has_no_markup_or_capitals(rule, description, found):
    assert _found(rule, description) is found


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Call `list_folders` first.", "list_folders"),
        ("See the `folders` tool.", "folders"),
        ("Use the 'think' tool first.", "think"),
        ("Call `list_notes` again.", None),
        ("Call `mcp_notes_list_notes` again.", None),
        ("Call `listNotes` again.", None),
        ("Use `dry_run` first.", None),
        ("Use `folder` for that.", None),
        ("The user's 'best' toolbox.", None),
    ],
)
def test_a_description_mentions_only_existing_tools(description, expected):
    found = run_rule("DSC022", {"description": description, **tool_with(dry_run={}, folder={})})
    assert found == (
        [("description", f"mentions {expected!r}, which is not a tool of this server")] if expected else []
    )


def test_a_description_is_in_one_language():
    assert _found("DSC023", "获取笔记内容 Get the content of a note")
    assert not _found("DSC023", "获取笔记内容、返回 JSON")


def test_a_pair_of_equal_descriptions_is_reported_once():
    assert run_rule("DSC026", {"name": "list_notes"}, {"name": "find_notes"}) == [
        ("description", "is the same as the description of 'list_notes'")
    ]
    assert run_rule("DSC027", {"name": "list_notes"}, {"name": "find_notes"}) == []
