import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_atl.answers.cursors import pack, unpack
from mcp_atl.answers.fields import select, without_empty
from mcp_atl.answers.tables import table
from toolcharter import InvalidArguments

ISSUE = {
    "key": "A-1",
    "status": {"name": "Done", "category": "Done"},
    "links": [{"key": "B-1", "type": "blocks"}],
    "due": None,
}


@pytest.mark.requirement("ATL-2")
def test_dotted_paths_reach_into_objects_and_lists():
    assert select([ISSUE], ["key", "status.name", "links.key"]) == [
        {"key": "A-1", "status": {"name": "Done"}, "links": [{"key": "B-1"}]}
    ]


@pytest.mark.requirement("ATL-2")
def test_a_field_that_was_asked_for_and_is_empty_is_null():
    assert select([ISSUE], ["due"]) == [{"due": None}]


@pytest.mark.requirement("ATL-2")
def test_an_unknown_field_is_an_error_that_lists_the_valid_ones():
    with pytest.raises(
        InvalidArguments,
        match=r"'status.nam' is not a field .* Did you mean status.name\? It has: status.name, status.category",
    ):
        select([ISSUE], ["status.nam"])


def test_what_says_nothing_is_left_out():
    assert without_empty({"a": None, "b": "", "c": [], "d": {"e": None}, "f": 0, "g": False}) == {"f": 0, "g": False}


def test_a_table_shows_short_objects_by_name():
    rows = [{"key": "A-1", "status": {"name": "Done"}, "labels": ["x", "y"]}, {"key": "A-2"}]
    assert table(rows) == {
        "columns": ["key", "status", "labels"],
        "rows": [["A-1", "Done", "x, y"], ["A-2", None, None]],
    }


@given(st.dictionaries(st.sampled_from(["jira", "confluence"]), st.text(min_size=1) | st.none()))
def test_a_cursor_of_several_lists_is_read_back(places: dict[str, str | None]):
    cursor = pack(places)
    left = {name: place for name, place in places.items() if place}
    assert cursor is None if not left else unpack(cursor, ["jira", "confluence"]) == left


@pytest.mark.parametrize("cursor", ["x", "eyJ", "bnVsbA", "e30", "\u00e9"])
def test_a_cursor_that_this_server_did_not_make_is_refused(cursor: str):
    with pytest.raises(InvalidArguments, match="is not a cursor of this search"):
        unpack(cursor, ["jira"])
