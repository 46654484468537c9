import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_guide.search.query import parse_query
from mcp_guide.search.words import index_form, query_form
from tests.thorough import examples


@pytest.mark.parametrize(
    ("text", "indexed", "query"),
    [
        ("plain text, 100 %", "plain text, 100 %", "plain text, 100 %"),
        ("日本語", " 日 本 語 ", " 日 本 語 "),
        ("語", " 語 ", " 語 "),
        ("語。", " 語 。", " 語 。"),
        ("日本API", " 日 本 API", " 日 本 API"),
        ("日、 本 a 語", " 日  \ue003  本  a  語 ", " 日  \ue003  本  a  語 "),
        ("c++ C++17 a++b +++", "c\ue000\ue000 C\ue000\ue00017 a++b +++", "c\ue000\ue000 C\ue000\ue00017 a++b +++"),
        ("C# page#part # H #1 a##", "C\ue001 page#part # H #1 a##", "C\ue001 page#part # H #1 a##"),
        (".NET .net8 .network", " \ue002net  \ue002net8 .network", " \ue002net  \ue002net8 .network"),
        ("ASP.NET", "ASP.NET \ue002net", "ASP.NET"),
    ],
)
def test_words_are_written_for_the_tokenizer(text, indexed, query):
    assert (index_form(text), query_form(text)) == (indexed, query)


@settings(max_examples=examples(300))
@given(st.text("日本語検索、 ", min_size=1, max_size=8).filter(str.strip), st.data())
def test_each_part_of_a_text_without_spaces_finds_it(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    other = data.draw(st.text("日本語検索", min_size=1, max_size=3))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize = 'unicode61 remove_diacritics 2')")
        connection.execute("INSERT INTO words VALUES (?)", (index_form(f"a{text}b、"),))

        def is_found(query):
            (match,) = parse_query(query).terms
            return connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (match,)).fetchone() == (1,)

        if any(map(str.isalnum, part)):
            assert is_found(f'"{part}"')
        assert is_found(other) == (other in text)
    connection.close()
