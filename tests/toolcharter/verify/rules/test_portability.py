import pytest

from tests.toolcharter.verify.rules.run_rule import RULES, run_rule, tool_with
from toolcharter.verify.engine import example_server, run_rules

P = "inputSchema.properties"


@pytest.mark.parametrize(
    ("rule", "definition", "expected"),
    [
        (
            "POR001",
            {"name": "notes.list"},
            [
                (
                    "name",
                    '"notes.list" contains ".": only letters, digits, _ and - are safe',
                    ("Claude", "OpenAI", "VS Code"),
                )
            ],
        ),
        (
            "POR001",
            {"name": "détails"},
            [
                (
                    "name",
                    '"détails" contains "é": only letters, digits, _ and - are safe',
                    ("Claude", "OpenAI", "VS Code", "Gemini"),
                )
            ],
        ),
        (
            "POR001",
            {"name": ""},
            [
                (
                    "name",
                    "the name is empty: only letters, digits, _ and - are safe",
                    ("Claude", "OpenAI", "VS Code", "Gemini"),
                )
            ],
        ),
        ("POR001", {"name": "2fa"}, [("name", '"2fa" does not begin with a letter', ("Gemini",))]),
        (
            "POR002",
            {"name": "n" * 65},
            [
                (
                    "name",
                    "the name has 65 characters, but many clients allow 64",
                    ("Claude Desktop", "claude.ai", "OpenAI", "Gemini"),
                )
            ],
        ),
        ("POR003", {"name": "n" * 51}, [("name", f"has 65 characters as mcp__SERVER__{'n' * 51}", ("OpenAI",))]),
        (
            "POR003",
            {"name": "n" * 54},
            [("name", f"has 68 characters as mcp__SERVER__{'n' * 54}", ("OpenAI", "Cursor"))],
        ),
        (
            "POR004",
            {"inputSchema": {"type": "object", "not": {}}},
            [("inputSchema.not", "inputSchema has `not` at the top level", ("OpenAI",))],
        ),
        (
            "POR006",
            tool_with(**{"a b": {}, "c" * 65: {}}),
            [
                (f"{P}.a b", 'the argument name "a b" is not allowed', ("Claude", "Gemini")),
                (f"{P}.{'c' * 65}", f'the argument name "{"c" * 59}... is not allowed', ("Claude", "Gemini")),
            ],
        ),
        (
            "POR007",
            tool_with(**{"a.b": {}, "1st": {}}),
            [
                (f"{P}.1st", 'Gemini rejects the argument name "1st"', ("Gemini",)),
                (f"{P}.a.b", 'Gemini rejects the argument name "a.b"', ("Gemini",)),
            ],
        ),
        (
            "POR009",
            tool_with(a={"enum": ["x", None]}),
            [(f"{P}.a.enum", "the enum has null, which is not a string", ("Gemini",))],
        ),
        (
            "POR019",
            tool_with(a={"prefixItems": [{}]}),
            [(f"{P}.a.prefixItems", "`prefixItems` has a schema for each position", ("OpenAI", "Gemini"))],
        ),
    ],
)
def test_the_clients_that_reject_a_tool_are_named(rule, definition, expected):
    found = run_rules(example_server([definition]), [RULES[rule]])
    assert [(finding.path, finding.message, finding.clients) for finding in found] == expected


@pytest.mark.parametrize(
    ("rule", "definition"),
    [
        ("POR001", {"name": "_List-notes2"}),
        ("POR002", {"name": "n" * 64}),
        ("POR003", {"name": "n" * 50}),
        ("POR003", {"name": "n" * 65}),  # too long by itself: POR002 says so
        ("POR004", tool_with(anyOf={"anyOf": [{"type": "string"}]})),
        ("POR005", {"inputSchema": {"$ref": "#/$defs/A", "type": "object"}}),
        ("POR006", tool_with(a={"type": "object", "properties": {"b c": {"type": "string"}}})),
        ("POR008", tool_with(type={"type": "string", "enum": ["string", "null"]})),
        ("POR010", tool_with(a={"type": "integer", "format": "int64"})),
        (
            "POR012",
            {"inputSchema": {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/A"}}}}}},
        ),
        ("POR014", tool_with(a={"enum": ["x"] * 1000})),
        ("POR018", {"description": "d" * 1024}),
    ],
)
def test_a_schema_that_all_clients_accept_has_no_finding(rule, definition):
    assert run_rule(rule, definition) == []


def test_a_large_enum_has_a_limit_of_characters():
    options = [f"{number:0>60}" for number in range(251)]
    found = [(f"{P}.a.enum", "the enum has 251 values of 15060 characters")]
    assert run_rule("POR014", tool_with(a={"enum": options})) == found
    assert run_rule("POR014", tool_with(a={"enum": options[:250]})) == []


@pytest.mark.parametrize(("count", "rules"), [(40, []), (41, ["POR017"]), (128, ["POR017"]), (129, ["POR016"])])
def test_a_server_has_a_limit_of_tools(count, rules):
    tools = [{"name": f"list_notes_{number}"} for number in range(count)]
    found = run_rules(example_server(tools), [RULES["POR016"], RULES["POR017"]])
    assert [finding.rule for finding in found] == rules
