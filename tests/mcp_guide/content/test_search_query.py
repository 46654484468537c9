import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments
from mcp_guide.content.search_query import Query, parse_query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("naming", Query(('"naming"*',), ())),
        ("error handling", Query(('"error"*', '"handling"*'), ())),
        ('"error handling" -java', Query(('"error handling"',), ('"-java"*',))),
        ('a -"old way"', Query(('"a"',), ('"old way"',))),
        ('"never closed', Query(('"never closed"',), ())),
        ("well-known AND (x) NEAR/2", Query(('"well-known"*', '"AND"*', '"(x)"*', '"NEAR/2"*'), ())),
        ("naming naming ... ***", Query(('"naming"*',), ())),
        ("語", Query(('"語"*',), ())),
    ],
)
def test_a_query_is_parsed(text, query):
    assert parse_query(text) == query


MANY = " ".join(f"w{number}" for number in range(40))


@pytest.mark.parametrize("text", ["", "   ", "...", "-java", '""', "x" * 1_001, MANY])
def test_a_query_with_nothing_to_look_for_or_too_much_is_refused(text):
    with pytest.raises(InvalidArguments) as refused:
        parse_query(text)
    assert refused.value.fields == ("query",)


@given(st.text() | st.text("ab\"'*-+():^{}\\ \0\n.", max_size=30))
def test_any_text_is_a_question_that_the_index_takes(text):
    try:
        query = parse_query(text)
    except InvalidArguments:
        return
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize = 'unicode61 remove_diacritics 2')")
        for how in ("AND", "OR"):
            connection.execute("SELECT * FROM words WHERE words MATCH ?", (query.text(how),)).fetchall()
    connection.close()
