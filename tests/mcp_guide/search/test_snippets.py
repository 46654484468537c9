import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_guide.search.snippets import make_snippet

NUMBERS = " ".join(f"n{number}" for number in range(1000))


@pytest.mark.parametrize(
    ("text", "terms", "snippet"),
    [
        ("Short text.", ['"short"*'], "Short text."),
        ("Naïve  résumé\nhere", ['"RESUME"*'], "Naïve résumé here"),
        (NUMBERS, ['"n3"'], " ".join(f"n{n}" for n in range(24)) + "..."),
        (NUMBERS, ['"n500"'], "..." + " ".join(f"n{n}" for n in range(494, 518)) + "..."),
        ("x " * 100 + "n3", ['"n3"'], "..." + "x " * 6 + "n3"),
        ("one " + "x " * 200 + "one two", ['"one"', '"two"'], "..." + "x " * 6 + "one two"),
        ("", ['"a"'], ""),
        ("-- !!", ['"a"'], "-- !!"),
    ],
)
def test_a_snippet_shows_the_words_that_were_searched_for(text, terms, snippet):
    assert make_snippet([text, "other"], terms) == snippet


def test_the_first_text_that_contains_a_word_is_shown():
    assert make_snippet(["body", "the description", "tag"], ['"description"*']) == "the description"
    assert make_snippet(["body", "the description", "tag"], ['"other"*']) == "body"


@given(st.text(max_size=300), st.lists(st.text(max_size=10), max_size=3))
def test_every_snippet_is_short(text, terms):
    assert len(make_snippet([text], terms)) <= 406


@pytest.mark.parametrize("unit", ["a", "a ", "a_", "é", "\u0301", "a b "])
def test_no_text_makes_a_snippet_slow(unit):
    before = time.process_time()
    make_snippet([unit * 200_000], ['"a"*', '"aa"*', '"b"*', '"é"*'])
    assert time.process_time() - before < 1
