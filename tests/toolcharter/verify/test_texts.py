"""The texts of a tool, and the keywords in them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from toolcharter.verify import texts
from toolcharter.verify.texts import KeywordIndex

SHORT = st.text("abc<", min_size=1, max_size=4)
WORDS = st.sets(st.text("abc<", min_size=1, max_size=8), max_size=8)


@settings(max_examples=examples(500))
@given(st.sets(SHORT), st.sets(SHORT), st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
def test_the_index_finds_every_keyword_that_a_word_has_in_it(first, more, before, after):
    index = KeywordIndex()
    index.add(first)
    for words in before:
        assert index.find(words) == {keyword for keyword in first if any(keyword in word for word in words)}
    index.add(more)  # words that were searched before are searched again
    for words in (*before, *after):
        assert index.find(words) == {keyword for keyword in first | more if any(keyword in word for word in words)}


def test_the_index_remembers_a_bounded_number_of_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(texts, "MAX_WORDS", 10)
    index = KeywordIndex()
    index.add(["word7"])
    words = {f"word{number}" for number in range(100)}
    assert index.find(words) == {"word7"}
    assert len(index._known) + len(index._plain) <= 10
