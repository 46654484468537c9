import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments, NotFound
from mcp_guide.content.documents import Document, DocumentCache, Limits, decode, make_document, page
from mcp_guide.content.files import Stamp
from mcp_guide.content.front_matter import FrontMatter


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("Grüße, 世界".encode(), "Grüße, 世界"),
        ("Grüße".encode("utf-8-sig"), "Grüße"),
        ("Grüße, 世界".encode("utf-16"), "Grüße, 世界"),
        (b"\xfe\xff" + "Grüße".encode("utf-16-be"), "Grüße"),
        ("Grüße".encode("utf-32"), "Grüße"),
        (b"tab\there\r\nform\x0cfeed \x1b[1mbold\x1b[0m", "tab\there\r\nform\x0cfeed \x1b[1mbold\x1b[0m"),
    ],
)
def test_text_is_read_in_its_encoding(data, text):
    assert decode(data) == (text, "")


def test_text_in_an_older_encoding_is_read_and_told():
    note = "The document is not UTF-8, and was read as Windows-1252: letters may be wrong."
    assert decode("Grüße: 5 €".encode("cp1252")) == ("Grüße: 5 €", note)


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\x00\x00", b"\x00", b"\xff\xfe\x00", b"\xff\xfe\x01\x00", b"abc\x01", bytes(range(256))]
)
def test_what_is_not_text_is_said_to_be_none(data):
    assert make_document("logo.png", data, 1.5) == Document(
        "logo.png", None, FrontMatter(), len(data), 1.5, False, (f"The document is not text: {len(data):,} bytes.",)
    )


def test_an_unknown_encoding_is_told():
    assert decode(b"\x81\x8d\x8f\x90\x9d") == (None, "The document is in an encoding that is not known: 5 bytes.")


def test_a_document_is_its_text_without_the_front_matter():
    data = "\ufeff---\ntitle: T\n---\nbody\n".encode()
    assert make_document("a.md", data, 2.0) == Document("a.md", "body\n", FrontMatter(title="T"), 25, 2.0, True)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document(data):
    document = make_document("x", data, 0.0)
    assert document.is_text is (document.text is not None)
    assert document.is_text or document.warnings


def test_the_cache_keeps_the_latest_used_up_to_its_bytes():
    def kept(path: str) -> bool:
        return cache.get(path) is not None

    cache, mark = DocumentCache(3 * 2_400), Stamp(1, 1, 1, 1, 1)
    for path in ("a", "b", "c"):
        cache.keep(path, mark, make_document(path, b"x" * 100, 0.0))
    assert kept("a")
    cache.keep("d", mark, make_document("d", b"x" * 100, 0.0))
    assert [kept(path) for path in "abcd"] == [True, False, True, True]
    cache.keep("huge", mark, make_document("huge", b"x" * 10_000, 0.0))
    assert not kept("huge")
    cache.keep("a", mark, make_document("a", b"x" * 100, 0.0))
    cache.drop("a")
    assert not kept("a")


# --- pages -------------------------------------------------------------------------------------------------


class Listed:
    def __init__(self, path: str, size: int | None = 10) -> None:
        self.path = path
        self._size = size

    @property
    def size(self) -> int:
        if self._size is None:
            raise NotFound("gone")
        return self._size


def listed(paths: str) -> list[Listed]:
    return [Listed(path) for path in paths]


def shown(part) -> str:
    return "".join(entry.path for entry in part.entries)


def test_a_page_that_is_everything_has_nothing_to_say():
    part = page(listed("abc"), None)
    assert (shown(part), part.next_cursor, part.left_out, part.notice) == ("abc", None, 0, None)
    assert shown(page(listed(""), None)) == ""


def test_pages_follow_each_other_and_say_what_is_left_out():
    first = page(listed("abcde"), None, Limits(count=2), of="lang")
    assert (shown(first), first.left_out) == ("ab", 3)
    assert first.notice == "Documents 1 to 2 of 5. 3 are left out: ask again with the cursor for more."
    second = page(listed("abcde"), first.next_cursor, Limits(count=2), of="lang")
    assert (shown(second), second.left_out) == ("cd", 1)
    third = page(listed("abcde"), second.next_cursor, Limits(count=2), of="lang")
    assert (shown(third), third.next_cursor, third.notice) == ("e", None, "Documents 5 to 5 of 5.")


def test_a_page_ends_before_it_has_too_many_bytes_but_has_one_document():
    entries = [Listed("a", 50), Listed("b", 60), Listed("c", 500), Listed("d", 1)]
    assert shown(page(entries, None, Limits(bytes=110))) == "ab"
    after = page(entries, None, Limits(bytes=110)).next_cursor
    assert shown(page(entries, after, Limits(bytes=110))) == "c"


def test_what_is_gone_meanwhile_is_passed_over():
    entries = [Listed("a"), Listed("b", None), Listed("c"), Listed("d", None)]
    part = page(entries, None, Limits(count=2))
    assert (shown(part), part.left_out) == ("ac", 1)


@pytest.mark.parametrize(
    ("now", "following", "changed"),
    [
        ("abcde", "cde", False),
        ("acde", "cde", True),  # b, the last that was shown, is gone: c comes next
        ("bcde", "cde", True),
        ("aabcde", "cde", True),
        ("abxcde", "xcde", False),
        ("abde", "de", False),
        ("ab", "", False),
    ],
)
def test_a_list_that_changes_between_pages_is_continued_where_it_was(now, following, changed):
    cursor = page(listed("abcde"), None, Limits(count=2)).next_cursor
    part = page(listed(now), cursor)
    assert (shown(part), part.is_changed) == (following, changed)
    assert ("added or removed meanwhile" in (part.notice or "")) == changed


def test_a_list_that_cannot_be_continued_is_not_guessed():
    cursor = page(listed("abcde"), None, Limits(count=2)).next_cursor
    with pytest.raises(InvalidArguments) as refused:
        page(listed("axyz"), cursor)
    assert str(refused.value) == ("The documents have changed: neither 'b' nor 'c' is there now. Ask without a cursor.")


def test_a_cursor_of_another_question_is_refused():
    cursor = page(listed("abcde"), None, Limits(count=2), of="lang").next_cursor
    with pytest.raises(InvalidArguments, match="given for another question"):
        page(listed("abcde"), cursor, of="docs")


@given(st.text() | st.text("abcdefXYZ012-_=") | st.sampled_from(["W10", "WzEsMiwzLDRd", "bnVsbA", "Int9Ig"]))
def test_any_text_is_a_cursor_or_refused(text):
    with pytest.raises(InvalidArguments):
        page(listed("abc"), text)


@given(st.lists(st.integers(0, 300), max_size=30), st.integers(1, 7), st.integers(1, 400))
def test_all_pages_together_are_the_list(sizes, count, most_bytes):
    entries = [Listed(str(number), size) for number, size in enumerate(sizes)]
    seen, cursor = list[Listed](), None
    while True:
        part = page(entries, cursor, Limits(count, most_bytes))
        assert part.before == len(seen)
        seen += part.entries
        assert part.left_out == len(entries) - len(seen)
        cursor = part.next_cursor
        if cursor is None:
            break
    assert seen == entries
