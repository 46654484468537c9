import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments
from mcp_guide.search.query import SearchQuery, parse_query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("naming", SearchQuery(('"naming"',), ('"naming"*',), (), ("naming",))),
        ('"error handling" -java', SearchQuery(('"error handling"',), ("",), ('"-java"*',), ("error handling",))),
        ('a -"old way"', SearchQuery(('"a"',), ("",), ('"old way"',), ("a",))),
        ('"never closed', SearchQuery(('"never closed"',), ("",), (), ("never closed",))),
        (
            "How do I use NEAR/2 and (x)?",
            SearchQuery(('"NEAR/2"', '"(x)?"'), ('"NEAR/2"*', '"(x)?"*'), (), ("NEAR/2", "(x)?")),
        ),
        (
            "what is it",
            SearchQuery(('"what"', '"is"', '"it"'), ('"what"*', '"is"*', '"it"*'), (), ("what", "is", "it")),
        ),
        ("naming naming ... ***", SearchQuery(('"naming"',), ('"naming"*',), (), ("naming",))),
        ('"語" 日本語', SearchQuery(('"語"', '"日 本 語"'), ("", ""), (), ("語", "日本語"))),
        (
            "c++ %w",
            SearchQuery(('"c\ue000\ue000"', '"\ue004w"'), ('"c\ue000\ue000"*', '"\ue004w"*'), (), ("c++", "%w")),
        ),
    ],
)
def test_a_query_is_parsed(text, query):
    assert parse_query(text) == query


MANY = " ".join(f"w{number}" for number in range(40))


@pytest.mark.parametrize("text", ["", "   ", "...", "-java", '""', "x" * 1_001, MANY])
def test_a_query_with_no_word_or_too_many_is_refused(text):
    with pytest.raises(InvalidArguments) as refused:
        parse_query(text)
    assert refused.value.fields == ("query",)


@given(st.text() | st.text("ab\"'*-+():^{}\\ \0\n.", max_size=30))
def test_any_text_becomes_a_query_that_the_index_accepts(text):
    try:
        query = parse_query(text)
    except InvalidArguments:
        return
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize = 'unicode61 remove_diacritics 2')")
        for term in filter(None, (*query.terms, *query.prefixes, *query.excluded)):
            connection.execute("SELECT * FROM words WHERE words MATCH ?", (term,)).fetchall()
    connection.close()
