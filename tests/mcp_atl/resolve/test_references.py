import pytest

from mcp_atl.resolve.references import Reference, reference, references
from toolcharter import InvalidArguments

KNOWN = {
    "ABC-12": ("issue", "ABC-12"),
    "abc-12": ("issue", "ABC-12"),
    "123456": ("page", "123456"),
    "page:123456": ("page", "123456"),
    "page:DOCS/Release, notes": ("page", "DOCS/Release, notes"),
    "board:7": ("board", "7"),
    "project:abc": ("project", "ABC"),
    "https://acme.atlassian.net/browse/ABC-12": ("issue", "ABC-12"),
    "https://acme.atlassian.net/browse/ABC-12?focusedCommentId=1": ("issue", "ABC-12"),
    "https://acme.atlassian.net/jira/software/projects/ABC/boards/7": ("board", "7"),
    "https://acme.atlassian.net/jira/software/projects/ABC/boards/7?selectedIssue=ABC-3": ("issue", "ABC-3"),
    "https://acme.atlassian.net/wiki/spaces/DOCS/pages/123456/Release+notes": ("page", "123456"),
    "https://acme.atlassian.net/wiki/spaces/DOCS/overview": ("space", "DOCS"),
    "https://wiki.example/pages/viewpage.action?pageId=99": ("page", "99"),
    "https://wiki.example/display/DOCS/Release+notes": ("page", "DOCS/Release notes"),
    "https://wiki.example/display/DOCS": ("space", "DOCS"),
}


@pytest.mark.parametrize(("text", "expected"), KNOWN.items(), ids=KNOWN)
def test_what_people_paste_is_understood(text: str, expected: tuple[str, str]):
    assert reference(text) == Reference(*expected)  # pyright: ignore[reportArgumentType]


def test_a_bare_number_is_what_the_command_is_about():
    assert reference("7", "board") == Reference("board", "7")


def test_several_are_separated_by_commas_but_not_inside_a_title():
    assert [str(one) for one in references("ABC-1, abc-2")] == ["ABC-1", "ABC-2"]
    assert references("page:DOCS/One, two") == [Reference("page", "DOCS/One, two")]


@pytest.mark.parametrize("text", ["hello world", "", "ABC-", "ABC-0x", "https://example.com/nothing"])
def test_anything_else_is_refused_with_what_would_be_understood(text: str):
    with pytest.raises(InvalidArguments, match=r"page id|shows no issue"):
        reference(text)
