import pytest

from tests.toolcharter.verify.rules.run_rule import RULES, run_rule, tool_with
from toolcharter.verify.engine import example_server, run_rules

P = "inputSchema.properties"
LISTS = "returns a list, but has no argument for a limit, a page or a filter"


@pytest.mark.parametrize(
    ("characters", "rules"), [(3_000, []), (4_000, ["CST002"]), (9_000, ["CST002"]), (10_000, ["CST001"])]
)
def test_the_size_of_a_tool_is_what_is_sent(characters, rules):
    found = run_rules(example_server([{"description": "d" * characters}]), [RULES["CST001"], RULES["CST002"]])
    assert [finding.rule for finding in found] == rules


@pytest.mark.parametrize(("tools", "rules"), [(9, []), (11, ["CST004"]), (30, ["CST003"])])
def test_the_size_of_a_server_is_that_of_all_its_tools(tools, rules):
    server = example_server([{"name": f"list_{number}", "description": "d" * 4_000} for number in range(tools)])
    assert [finding.rule for finding in run_rules(server, [RULES["CST003"], RULES["CST004"]])] == rules


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({"description": "List notes."}, [(P, LISTS)]),
        ({"description": "List notes.", **tool_with(deep={"type": "boolean"})}, [(P, LISTS)]),
        ({"description": "List notes, at most 50."}, []),
        ({"description": "List notes.", **tool_with(tag={"type": "string"})}, []),
        ({"description": "List notes.", **tool_with(pageSize={"type": "integer"})}, []),
        ({"name": "list_access", "description": "List who may read."}, []),
        ({"name": "get_notes", "description": "Get notes."}, []),
        ({"name": "", "description": "List notes."}, []),
    ],
)
def test_a_list_can_be_limited(definition, expected):
    assert run_rule("CST005", definition) == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ('Send {"type": "object", "x": 1}.', [("description", 'the description contains a schema: "type": "object"')]),
        (
            "a: The first of the two notes; b: The second of the two notes",
            [("description", "the description repeats the descriptions of the parameters a, b")],
        ),
        ("a: The first of the two notes", []),
    ],
)
def test_a_description_does_not_repeat_the_schema(description, expected):
    taken = tool_with(
        a={"description": "The first of the two notes."}, b={"description": "The second of the two notes."}
    )
    assert run_rule("CST006", {"description": description, **taken}) == expected


def test_titles_that_say_more_than_the_name_have_no_finding():
    same = {name: {"title": name.replace("_", " ").title()} for name in ("user_id", "tag", "folder")}
    assert run_rule("CST010", tool_with(**same)) == [(P, "3 titles only repeat the names of their parameters")]
    assert run_rule("CST010", tool_with(**{**same, "tag": {"title": "Label"}})) == []
