from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core import DeclarationError, InvalidArguments, Resource, ResourceSource, ResourceTemplate, page_of


def read(uri: str) -> str:
    return uri


@given(total=st.integers(0, 30), size=st.integers(1, 12))
def test_the_pages_of_a_list_are_the_list(total: int, size: int):
    resources = [Resource(f"page://{number}", str(number)) for number in range(total)]
    found: list[Resource] = []
    cursor = None
    while True:
        page = page_of(resources, cursor, size)
        assert len(page.resources) <= size
        found += page.resources
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == resources


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.5", "²", "9" * 5000])
def test_a_cursor_that_no_page_gave_is_refused(cursor: str):
    with pytest.raises(InvalidArguments, match=r"does not belong to this list\. Begin without a cursor"):
        page_of([Resource("page://1", "1")], cursor)


def no_uri() -> str:
    return ""


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"prefix": "note"}, "note: prefix: is not the beginning of an address; give for example 'note://'"),
        ({"read": no_uri}, "note://: read: has no parameter for the address; add `uri: str`"),
        ({"fixed": [Resource("card://1", "1")]}, "note://: card://1: does not begin with the prefix"),
        ({"templates": [ResourceTemplate("card://{id}", "1")]}, "note://: card://{id}: does not begin with the prefix"),
        ({"permissions": ["notes"]}, "note://: permissions: 'notes' is not 'resource:action'; write for example"),
    ],
)
def test_a_source_that_is_declared_wrongly_is_refused(given: dict[str, Any], problem: str):
    with pytest.raises(DeclarationError) as raised:
        ResourceSource(**{"prefix": "note://", "read": read} | given)
    (found,) = raised.value.problems
    assert found.startswith(problem)
