import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_guide.content.documents import Document, DocumentCache, decode, make_document
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


def test_text_in_an_older_encoding_is_read_with_a_warning():
    note = "The document is not UTF-8. It was read as Windows-1252; characters may be wrong."
    assert decode("Grüße: 5 €".encode("cp1252")) == ("Grüße: 5 €", note)


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\x00\x00", b"\x00", b"\xff\xfe\x00", b"\xff\xfe\x01\x00", b"abc\x01", bytes(range(256))]
)
def test_a_document_that_is_not_text_says_so(data):
    assert make_document("logo.png", data, 1.5) == Document(
        "logo.png", None, FrontMatter(), len(data), 1.5, False, (f"The document is not text: {len(data):,} bytes.",)
    )


def test_an_unknown_encoding_is_reported():
    assert decode(b"\x81\x8d\x8f\x90\x9d") == (None, "The encoding of the document is unknown: 5 bytes.")


def test_a_document_is_its_text_without_the_front_matter():
    data = "\ufeff---\ntitle: T\n---\nbody\n".encode()
    assert make_document("a.md", data, 2.0) == Document(
        "a.md", "body\n", FrontMatter(title="T"), 25, 2.0, is_text=True, head="---\ntitle: T\n---\n"
    )


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document(data):
    document = make_document("x", data, 0.0)
    assert document.is_text is (document.text is not None)
    assert document.is_text or document.warnings


def test_the_cache_keeps_the_most_recently_used_up_to_its_bytes():
    def is_cached(path: str) -> bool:
        return cache.get(path) is not None

    cache, mark = DocumentCache(3 * 2_400), Stamp(1, 1, 1, 1, 1)
    for path in ("a", "b", "c"):
        cache.put(path, mark, make_document(path, b"x" * 100, 0.0))
    assert is_cached("a")
    cache.put("d", mark, make_document("d", b"x" * 100, 0.0))
    assert [is_cached(path) for path in "abcd"] == [True, False, True, True]
    cache.put("huge", mark, make_document("huge", b"x" * 10_000, 0.0))
    assert not is_cached("huge")
    cache.put("a", mark, make_document("a", b"x" * 100, 0.0))
    cache.drop("a")
    assert not is_cached("a")
