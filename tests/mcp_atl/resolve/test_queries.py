import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_atl.resolve.queries import combine, is_query, products_for, quoted, restrict_jql, split_order, words_as_jql
from mcp_atl.site import AtlassianSite

OPEN = AtlassianSite("acme", "cloud", projects=frozenset({"APP", "WEB"}))

QUERIES = [
    "project = APP",
    "assignee is EMPTY",
    'summary ~ "a b"',
    "status in (Done)",
    "ORDER BY key",
    "status was Done",
]


@pytest.mark.parametrize("text", QUERIES)
def test_a_query_is_recognized(text: str):
    assert is_query(text)


@pytest.mark.parametrize("text", ["login fails", "what is new", "in the office", 'say "a = b"'])
def test_words_are_not_taken_for_a_query(text: str):
    assert not is_query(text)


def test_the_language_of_a_query_says_which_product_is_meant():
    assert products_for("atlassian", "project = APP") == ["jira"]
    assert products_for("atlassian", "space = ENG and type = page") == ["confluence"]
    assert products_for("atlassian", "login fails") == ["jira", "confluence"]
    assert products_for("confluence", "login fails") == ["confluence"]
    assert products_for("atlassian", "space:ENG login") == ["confluence"]


def test_a_condition_is_added_before_the_order_and_no_or_escapes_it():
    jql = restrict_jql(OPEN, 'project = HR OR summary ~ "order by x" ORDER BY key')
    assert jql == 'project in ("APP", "WEB") AND (project = HR OR summary ~ "order by x") ORDER BY key'
    assert combine("a = 1", "ORDER BY key") == "a = 1 ORDER BY key"


@given(st.text())
def test_words_of_any_kind_stay_inside_their_quotes(words: str):
    jql = words_as_jql(words)
    if words:
        assert quoted(words) in jql
    where, order = split_order(jql)
    assert order.startswith("ORDER BY")
    assert quoted(words).count('"') - quoted(words).count('\\"') == 2 or "\\" in words
    assert where in jql
