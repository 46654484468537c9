import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments, NotFound
from mcp_guide.content.pages import PageLimits, get_page


class FakeEntry:
    def __init__(self, path: str, size: int | None = 10) -> None:
        self.path = path
        self._size = size

    @property
    def size(self) -> int:
        if self._size is None:
            raise NotFound("gone")
        return self._size


def make_entries(paths: str) -> list[FakeEntry]:
    return [FakeEntry(path) for path in paths]


def paths_of(part) -> str:
    return "".join(entry.path for entry in part.entries)


def test_a_page_with_the_whole_list_has_no_notice():
    part = get_page(make_entries("abc"), None)
    assert (paths_of(part), part.next_cursor, part.remaining, part.notice) == ("abc", None, 0, None)
    assert paths_of(get_page(make_entries(""), None)) == ""


def test_pages_follow_each_other_and_say_how_many_remain():
    first = get_page(make_entries("abcde"), None, PageLimits(count=2), query="lang")
    assert (paths_of(first), first.remaining) == ("ab", 3)
    assert first.notice == "Documents 1 to 2 of 5. 3 remain: call again with the cursor."
    second = get_page(make_entries("abcde"), first.next_cursor, PageLimits(count=2), query="lang")
    assert (paths_of(second), second.remaining) == ("cd", 1)
    third = get_page(make_entries("abcde"), second.next_cursor, PageLimits(count=2), query="lang")
    assert (paths_of(third), third.next_cursor, third.notice) == ("e", None, "Documents 5 to 5 of 5.")


def test_a_page_ends_before_it_has_too_many_bytes_but_has_one_document():
    entries = [FakeEntry("a", 50), FakeEntry("b", 60), FakeEntry("c", 500), FakeEntry("d", 1)]
    assert paths_of(get_page(entries, None, PageLimits(bytes=110))) == "ab"
    after = get_page(entries, None, PageLimits(bytes=110)).next_cursor
    assert paths_of(get_page(entries, after, PageLimits(bytes=110))) == "c"


def test_entries_that_no_longer_exist_are_skipped():
    entries = [FakeEntry("a"), FakeEntry("b", None), FakeEntry("c"), FakeEntry("d", None)]
    part = get_page(entries, None, PageLimits(count=2))
    assert (paths_of(part), part.remaining) == ("ac", 1)


@pytest.mark.parametrize(
    ("now", "following", "changed"),
    [
        ("abcde", "cde", False),
        ("acde", "cde", True),  # b, the last one shown, is gone: c comes next
        ("bcde", "cde", True),
        ("aabcde", "cde", True),
        ("abxcde", "xcde", False),
        ("abde", "de", False),
        ("ab", "", False),
    ],
)
def test_a_list_that_changes_between_pages_continues_at_the_same_entry(now, following, changed):
    cursor = get_page(make_entries("abcde"), None, PageLimits(count=2)).next_cursor
    part = get_page(make_entries(now), cursor)
    assert (paths_of(part), part.is_changed) == (following, changed)
    assert ("added or removed" in (part.notice or "")) == changed


def test_a_list_that_cannot_be_continued_is_an_error():
    cursor = get_page(make_entries("abcde"), None, PageLimits(count=2)).next_cursor
    with pytest.raises(InvalidArguments) as refused:
        get_page(make_entries("axyz"), cursor)
    assert str(refused.value) == "The documents have changed: 'b' and 'c' no longer exist. Call again without a cursor."


def test_a_cursor_of_another_query_is_refused():
    cursor = get_page(make_entries("abcde"), None, PageLimits(count=2), query="lang").next_cursor
    with pytest.raises(InvalidArguments, match="belongs to another query"):
        get_page(make_entries("abcde"), cursor, query="docs")


@given(st.text() | st.text("abcdefXYZ012-_=") | st.sampled_from(["W10", "WzEsMiwzLDRd", "bnVsbA", "Int9Ig"]))
def test_any_text_is_a_cursor_or_refused(text):
    with pytest.raises(InvalidArguments):
        get_page(make_entries("abc"), text)


@given(st.lists(st.integers(0, 300), max_size=30), st.integers(1, 7), st.integers(1, 400))
def test_all_pages_together_are_the_list(sizes, count, most_bytes):
    entries = [FakeEntry(str(number), size) for number, size in enumerate(sizes)]
    seen, cursor = list[FakeEntry](), None
    while True:
        part = get_page(entries, cursor, PageLimits(count, most_bytes))
        assert part.before == len(seen)
        seen += part.entries
        assert part.remaining == len(entries) - len(seen)
        cursor = part.next_cursor
        if cursor is None:
            break
    assert seen == entries
