import pytest

from tests.toolcharter.verify.rules.run_rule import run_rule, tool_with

P = "inputSchema.properties"


def text(description, **more):
    return tool_with(a={"type": "string", "description": description, **more})


def number(description, **more):
    return tool_with(a={"type": "integer", "description": description, **more})


@pytest.mark.parametrize(
    ("rule", "definition", "expected"),
    [
        ("PAR001", tool_with(a={"type": "string", "description": "  "}), [(f"{P}.a", "'a' has no description")]),
        ("PAR001", tool_with(a=True), [(f"{P}.a", "'a' has no description")]),
        (
            "PAR001",
            {**tool_with(id={"type": "string"}), "description": "Get it. note_id: The note."},
            [(f"{P}.id", "'id' has no description")],
        ),
        (
            "PAR001",
            tool_with(
                a={"description": "A list.", "type": "array", "items": {"properties": {"b": {"type": "string"}}}}
            ),
            [(f"{P}.a.items.properties.b", "'b' has no description")],
        ),
        ("PAR002", tool_with(userIds={"type": "array", "description": "User identifiers"}), []),
        (
            "PAR002",
            tool_with(filePath={"type": "string", "description": "Path to the file."}),
            [(f"{P}.filePath.description", "'Path to the file.' only repeats the name 'filePath'")],
        ),
        (
            "PAR003",
            text("Order direction: desc or asc (default: desc)"),
            [(f"{P}.a", 'the values "desc", "asc" are only in its description')],
        ),
        (
            "PAR003",
            text('Valid periods: "1d", "5d", "1mo"'),
            [(f"{P}.a", 'the values "1d", "5d", "1mo" are only in its description')],
        ),
        (
            "PAR003",
            text("Region: north or south"),
            [(f"{P}.a", 'the values "north", "south" are only in its description')],
        ),
        (
            "PAR003",
            text("Time interval (m5, m15, h1)"),
            [(f"{P}.a", 'the values "m5", "m15", "h1" are only in its description')],
        ),
        (
            "PAR004",
            tool_with(maxResults={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            [(f"{P}.maxResults", "'maxResults' has no maximum")],
        ),
        (
            "PAR006",
            tool_with(id={"type": "string"}, noteId={"type": "string"}),
            [(f"{P}.id", "'id' does not say what it identifies, and the tool has other ids")],
        ),
        (
            "PAR007",
            tool_with(userId={}, user_id={}),
            [(f"{P}.user_id", "'user_id' and 'userId' seem to have the same meaning")],
        ),
        (
            "PAR009",
            tool_with(token={"type": "string", "description": "Bearer token."}),
            [(f"{P}.token", "'token' asks the agent for a secret")],
        ),
        (
            "PAR009",
            tool_with(youtubeApiKey={"type": "string"}),
            [(f"{P}.youtubeApiKey", "'youtubeApiKey' asks the agent for a secret")],
        ),
        (
            "PAR010",
            tool_with(a={"type": "array", "items": {"type": "object", "additionalProperties": True}}),
            [(f"{P}.a.items", "is an object with unknown fields")],
        ),
        (
            "PAR010",
            tool_with(a={"type": "object", "additionalProperties": False}),
            [(f"{P}.a", "is an object without any field")],
        ),
        (
            "PAR011",
            tool_with(isNotSent={"type": "boolean"}),
            [(f"{P}.isNotSent", "'isNotSent' is a negation")],
        ),
        (
            "PAR012",
            tool_with(created_at={"type": "string", "description": "When it was made."}),
            [(f"{P}.created_at", "'created_at' does not say its format")],
        ),
        ("PAR014", number("How many. Defaults to 20."), [(f"{P}.a", "the default '20' is only in its description")]),
        (
            "PAR015",
            text("(Required) The folder."),
            [(f"{P}.a", "'a' is called required, but the schema does not require it")],
        ),
        (
            "PAR018",
            tool_with(deep={"type": "string", "enum": ["True", "False"]}),
            [(f"{P}.deep", "'deep' is a boolean in a string")],
        ),
        ("PAR019", number("A value between 1 and 1,000."), [(f"{P}.a", "the bound 1,000 is only in its description")]),
        ("PAR019", number("Depth (1-4)"), [(f"{P}.a", "the bound 4 is only in its description")]),
    ],
)
def test_a_parameter_that_an_agent_has_to_guess_is_found(rule, definition, expected):
    assert run_rule(rule, definition) == expected


@pytest.mark.parametrize(
    ("rule", "definition"),
    [
        (
            "PAR001",
            {**tool_with(tag={"type": "string"}), "description": "List notes.\n\nArgs:\n    tag (str): The tag."},
        ),
        ("PAR001", {**tool_with(tag={"type": "string"}), "description": "List notes that have the given `tag`."}),
        ("PAR001", tool_with(kind={"const": "note"})),
        ("PAR002", tool_with(note={"type": "string", "description": "笔记"})),
        ("PAR002", tool_with(adults={"type": "number", "description": "Number of adults"})),
        ("PAR003", text("Language code, e.g. 'ko' or 'en'")),
        ("PAR003", text("One of 'a' or 'b'", pattern="^[ab]$")),
        ("PAR003", text("The path or URL of the file")),
        ("PAR003", text("Search pattern (regex or string)")),
        ("PAR003", text("Values such as 'a', 'b'")),
        ("PAR004", tool_with(limit={"anyOf": [{"type": "integer", "maximum": 5}, {"type": "null"}]})),
        ("PAR004", tool_with(limit={"type": "string"})),
        ("PAR006", tool_with(data={"type": "string", "description": "The text to encode."})),
        ("PAR006", tool_with(data={"type": "string", "description": "要编码的文本"})),
        (
            "PAR008",
            tool_with(key={"default": "sk-your-key-goes-here-please"}, url={"default": "redis://localhost:6379"}),
        ),
        ("PAR009", tool_with(page_token={"type": "string"}, max_tokens={"type": "integer"}, token={"type": "string"})),
        ("PAR009", {"name": "hash_password", **tool_with(password={"type": "string"})}),
        ("PAR010", tool_with(a={"type": "object", "additionalProperties": {"type": "string"}})),
        ("PAR011", tool_with(notify={"type": "boolean"}, note={"type": "boolean"}, no_reply={"type": "string"})),
        ("PAR012", tool_with(due_date={"type": "string", "description": "As YYYY-MM-DD."}, update={"type": "string"})),
        ("PAR012", {**tool_with(start_date={"type": "string"}), "description": "List notes. Dates: YYYY-MM-DD."}),
        ("PAR012", tool_with(waitUntil={"type": "string"}, date={"type": "integer"})),
        ("PAR014", number("How many. Defaults to all of them.")),
        ("PAR014", number("How many (default: 20).", default=20)),
        ("PAR015", text("Required if `b` is missing.")),
        ("PAR015", text("Optional folder.")),
        ("PAR018", tool_with(amount={"type": "string"}, limit={"type": "integer"})),
        ("PAR019", number("How many, at most 5.", maximum=5)),
        ("PAR019", text("At most 5 words.")),
    ],
)
def test_a_good_parameter_has_no_finding(rule, definition):
    assert run_rule(rule, definition) == []


def test_a_text_that_is_only_read_needs_no_maximum_length():
    taken = tool_with(body={"type": "string"})
    assert run_rule("PAR005", {"name": "update_note", **taken}) == [
        (f"{P}.body", "'body' is stored, but has no maxLength")
    ]
    assert run_rule("PAR005", {"name": "list_notes", **taken}) == []
