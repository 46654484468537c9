import pytest

from mcp_core.declare.listed import ListedTool
from toolcharter.verify.engine import example_server
from toolcharter.verify.model import Tool
from toolcharter.verify.quality import DIMENSIONS, MAX_POINTS, missing_points, quality_of

GOOD = {
    "description": (
        "List the notes of a folder. Use this when the user wants to see what they wrote down; "
        "to find words in them, use search_notes instead. Returns the id and title of each note, at most 100."
    )
}


def quality(**given):
    return quality_of(example_server([given]).tools[0])


def test_the_dimensions_have_the_weights_of_the_score():
    assert MAX_POINTS == {
        "purpose": 25,
        "usage": 20,
        "behaviour": 20,
        "parameters": 15,
        "conciseness": 10,
        "completeness": 10,
    }


def test_a_good_definition_has_all_points():
    assert quality(**GOOD) == MAX_POINTS


def test_a_bare_name_has_only_the_points_of_having_no_arguments():
    bare = quality_of(Tool(ListedTool.from_wire({"name": "x"})))
    assert bare == {
        "purpose": 0,
        "usage": 0,
        "behaviour": 0,
        "parameters": 15,
        "conciseness": 0,
        "completeness": 2,
    }


@pytest.mark.parametrize(
    ("dimension", "given", "points"),
    [
        ("purpose", {"description": "The tool."}, 5),
        ("purpose", {"name": "list_all_my_notes", "description": "List all my notes."}, 19),
        ("usage", {"description": "List notes."}, 0),
        ("usage", {"description": "List notes. Use this when the user asks."}, 10),
        ("usage", {"description": "List notes. Prefer search. Needs a folder."}, 10),
        ("behaviour", {"annotations": {}}, 8),
        ("behaviour", {"annotations": {"readOnlyHint": False}}, 16),
        ("behaviour", {"annotations": {"readOnlyHint": True}, "description": "Deletes notes."}, 12),
        ("behaviour", {"annotations": {"readOnlyHint": False, "destructiveHint": True}, "description": "Deletes."}, 20),
        ("parameters", {"inputSchema": {"properties": {"a": {}, "b": {"type": "string", "description": "B."}}}}, 6),
        ("parameters", {"inputSchema": {"properties": {"a": {"enum": [1], "description": "A."}}}}, 15),
        ("conciseness", {"description": "List " + "many " * 300 + "notes."}, 0),
        ("conciseness", {"description": "List notes. " + "Many notes there are. " * 60}, 6),
        ("completeness", {"title": "", "description": "List.", "annotations": {}, "inputSchema": {}}, 2),
        ("completeness", {"title": "", "annotations": {"title": "List"}, "outputSchema": {}}, 8),
    ],
)
def test_points_are_given_for_what_is_there(dimension, given, points):
    assert quality(**given)[dimension] == points


def test_every_check_can_be_passed_and_failed():
    tools = [
        *(definition(**GOOD), Tool(ListedTool.from_wire({"name": "x"}))),
        definition(description="The thing " + "very " * 300, inputSchema={"properties": {"a": 3}}),
    ]
    for checks in DIMENSIONS.values():
        for check in checks:
            assert {bool(check.share(tool)) for tool in tools} == {True, False}, check.what


def definition(**given):
    return example_server([given]).tools[0]


def test_missing_points_name_their_reason_and_the_number_of_tools():
    tools = example_server([GOOD, {**GOOD, "name": "find_notes", "title": ""}]).tools
    assert [(one.dimension, one.problem, one.tools, one.points) for one in missing_points(tools)] == [
        ("completeness", "a title for people is missing", 1, 1.0)
    ]
