"""The rules for servers with declared tools."""

import pytest

from mcp_core import App, Example, tool
from mcp_core.declare.charter import META
from mcp_core.declare.naming import Naming
from tests.mcp_core.declared import Text, query
from toolcharter.local.app_verification import server_from_app
from toolcharter.verify.engine import example_server, run_rules
from toolcharter.verify.rules import static_rules

RULES = [rule for rule in static_rules() if rule.family == "charter"]
DECLARED = {META + "version": "1.0.0", META + "category": "query", META + "tags": ["notes"]}
NOTICE = {"since": "2026-09-01", "replacement": "list_notes", "removalDate": "2027-03-01"}
WHEN = "Count the letters of a text. Use this when a limit matters. Returns the number."


def found(*definitions):
    return [(finding.name, finding.message) for finding in run_rules(example_server(definitions), RULES)]


def meta(**changes):
    return {"_meta": DECLARED | {META + name: value for name, value in changes.items()}}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("version", "1.0", "its version is '1.0', not a semantic version such as '1.2.3'"),
        ("version", 1, "its version is '1', not a semantic version such as '1.2.3'"),
        ("category", "reading", "its category is 'reading', not one of query, mutation, analysis, generation"),
        ("tags", [], "its tags is '[]', not a list of at least one tag"),
        ("tags", [" "], "its tags is \"[' ']\", not a list of at least one tag"),
        ("permissions", "notes:read", "its permissions is 'notes:read', not a list of 'resource:action'"),
        ("responseTime", "soon", "its responseTime is 'soon', not one of fast, medium, slow"),
        ("cacheable", "yes", "its cacheable is 'yes', not true or false"),
        ("cacheTTL", 0, "its cacheTTL is '0', not a number of seconds above 0"),
        ("idempotent", 1, "its idempotent is '1', not true or false"),
        (
            "rateLimit",
            {"maxCalls": 5},
            "its rateLimit is \"{'maxCalls': 5}\", not an object with maxCalls and windowMs, both above 0",
        ),
        ("examples", [], "its examples is '[]', not a list of objects with description, params and expectedResult"),
        ("permissions", ["Notes"], "its permissions is \"['Notes']\", not a list of 'resource:action'"),
    ],
)
def test_a_declared_value_has_its_form(field, value, message):
    assert found(meta(**{field: value})) == [("malformed-declaration", message)]


def test_no_permission_is_a_permission_list_too():
    assert found(meta(permissions=[])) == []


@pytest.mark.parametrize(
    ("notice", "message"),
    [
        ("soon", '"soon" has no since, replacement or removalDate'),
        (True, "true has no since, replacement or removalDate"),
        ({"since": "2026-09-01"}, '{"since": "2026-09-01"} has no since, replacement or removalDate'),
        (NOTICE | {"replacement": "find_notes"}, "its replacement 'find_notes' is not a tool of this server"),
        (
            NOTICE | {"since": "lately"},
            "'lately' is not a version or an ISO date, or '2027-03-01' is not an ISO date",
        ),
        (
            NOTICE | {"since": "1.4.0", "removalDate": "2021-01-01"},
            "was to be removed on 2021-01-01, and is still there",
        ),
        (NOTICE | {"removalDate": "2026-11-29"}, "is removed 89 days after it was deprecated, on 2026-11-29"),
    ],
)
def test_a_deprecation_says_since_when_what_replaces_it_and_when_it_ends(notice, message):
    assert found(meta(deprecated=notice)) == [("deprecation-notice", message)]


def test_ninety_days_are_enough():
    assert found(meta(deprecated=NOTICE | {"removalDate": "2026-11-30"})) == []


def test_naming_the_tool_to_use_instead_says_when_to_use_this_one():
    for instead in ("list_notes", "list-notes"):
        assert (
            found({**meta(), "description": f"Returns all notes of a folder, by title. Use {instead} instead."}) == []
        )


@pytest.mark.parametrize(
    ("category", "annotations", "message"),
    [
        ("query", {"readOnlyHint": False}, "has category query, but readOnlyHint is false"),
        ("analysis", {"destructiveHint": True}, "has category analysis, but destructiveHint is true"),
        ("query", {"idempotentHint": False}, "has category query, but idempotentHint is false"),
        ("mutation", {"readOnlyHint": True}, "has category mutation, but readOnlyHint is true"),
    ],
)
def test_category_and_hints_agree(category, annotations, message):
    definition = {**meta(category=category), "annotations": annotations}
    assert found(definition) == [("category-contradicts-hints", message)]


def test_a_server_without_declarations_has_no_charter_findings():
    assert found({"name": "listNotes", "description": "Notes.", "_meta": {"other/version": 1}}) == []


async def read_note() -> str:
    return "a note"


def test_a_bare_tool_in_a_declared_server_is_found_on_the_wire_and_in_the_process():
    wire = run_rules(example_server([meta(), {"name": "get_note"}]), RULES)
    assert [(f.tool, f.name, f.message) for f in wire] == [
        ("get_note", "undeclared-tool", "does not declare its version and category and tags")
    ]

    @tool
    def count_letters(text: Text) -> int:
        return len(text)

    app = App("made-up", version="1.0.0", format="result", tools=[count_letters])
    assert list(run_rules(server_from_app(app), RULES)) == []
    app.tool(query(name="read_note", description="Read a note. Use this when one is asked for. Returns it.")(read_note))
    assert [(f.tool, f.name, f.message) for f in run_rules(server_from_app(app), RULES)] == [
        (
            "count_letters",
            "undeclared-tool",
            "has no full declaration: permissions, category, response_time, idempotent, examples, tags are missing",
        )
    ]


@pytest.mark.requirement("ARG-6")
def test_every_field_of_a_declared_tool_is_described_however_deep():
    inner = {"type": "object", "description": "A page.", "properties": {"size": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"page": inner}}
    assert found({**meta(), "inputSchema": schema}) == [("undescribed-field", "'size' has no description")]


@pytest.mark.requirement("NAM-8")
def test_a_name_is_in_the_style_of_its_server():
    @query({"text": "milk"}, description=WHEN)
    def count_letters(text: Text) -> int:
        return len(text)

    app = App("made-up", version="1.0.0", format="result", tools=[count_letters], naming=Naming("snake", "x"))
    listed = app.list_tools()
    assert run_rules(server_from_app(app, listed), RULES) == []
    kebab = server_from_app(App("made-up", version="1.0.0", format="result", naming=Naming("kebab")), listed)
    assert [f.name for f in run_rules(kebab, RULES)] == ["name-outside-style"]


def test_an_example_has_values():
    @query(description=WHEN, examples=[Example("Any text", {"text": "<text>"}, 6)])
    def count_letters(text: Text) -> int:
        return len(text)

    app = App("made-up", version="1.0.0", format="result", tools=[count_letters])
    (finding,) = run_rules(server_from_app(app), RULES)
    assert (finding.name, finding.message) == ("placeholder-example", 'an example has the placeholder "<text>"')


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"type": "string"}, "accepts more than one value, so it states nothing"),
        ({"enum": ["A", "B"]}, "accepts more than one value, so it states nothing"),
        ({"const": "A", "default": "A"}, "is optional, so an agent need not state it"),
    ],
)
def test_consent_is_a_literal_that_must_be_stated(field, message):
    schema = {"type": "object", "properties": {"explicit_action": field}, "required": ["explicit_action"]}
    description = "Delete a note. REQUIRES EXPLICIT USER INSTRUCTION."
    assert found({"description": description, "inputSchema": schema}) == [("consent-not-literal", message)]


def test_sections_come_in_order():
    sections = ["## Description", "## Usage Instructions", "## JSON Schema", "## Concrete Examples"]
    assert found({"description": "\nx\n".join(sections)}) == [
        ("missing-sections", "has a section twice, or the sections are not in order")
    ]
    assert found({"description": "## Description\nOnly this."}) == []
