import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core import InvalidArguments
from mcp_noema.model import CardId, DeckId, NoteId
from mcp_noema.query.parser import MAX_DEPTH, MAX_LENGTH, MAX_TERMS, parse
from mcp_noema.query.tree import (
    All,
    AnyOf,
    Everything,
    Excluding,
    InDeck,
    InField,
    Is,
    OfTemplate,
    OfType,
    Pattern,
    Property,
    Tagged,
    Wildcard,
    WithId,
    Within,
    Words,
    terms,
)

ANY, ONE = Wildcard.ANY, Wildcard.ONE


def words(*parts):
    return Words(Pattern(parts))


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("", Everything()),
        ("  ", Everything()),
        ("dog", words("dog")),
        ("dog cat", All((words("dog"), words("cat")))),
        ("dog AND cat", All((words("dog"), words("cat")))),
        ("dog or cat", AnyOf((words("dog"), words("cat")))),
        ("a b OR c d", AnyOf((All((words("a"), words("b"))), All((words("c"), words("d")))))),
        ("a (b or c)", All((words("a"), AnyOf((words("b"), words("c")))))),
        ("-dog", Excluding(words("dog"))),
        ("-(a b)", Excluding(All((words("a"), words("b"))))),
        ("--a", Excluding(Excluding(words("a")))),
        ("a - b", All((words("a"), words("-"), words("b")))),
        ("well-known", words("well-known")),
        ('"exact words"', words("exact words")),
        ('"and" "-x" "(y)"', All((words("and"), words("-x"), words("(y)")))),
        ("d_g*", words("d", ONE, "g", ANY)),
        ("a**b", words("a", ANY, "b")),
        (r"\*\_\"\\\:\(\)\-", words('*_"\\:()-')),
        ("front:dog", InField(Pattern(("front",)), Pattern(("dog",)))),
        ('"my field:some words"', InField(Pattern(("my field",)), Pattern(("some words",)))),
        ("front:", InField(Pattern(("front",)), Pattern())),
        ("f*:a:b", InField(Pattern(("f", ANY)), Pattern(("a:b",)))),
        ("deck:Math::Algebra", InDeck(Pattern(("Math::Algebra",)))),
        ('deck:"Linear algebra"', InDeck(Pattern(("Linear algebra",)))),
        ('"deck:Linear algebra"', InDeck(Pattern(("Linear algebra",)))),
        ("DECK:m*", InDeck(Pattern(("m", ANY)))),
        ("tag:hard::very", Tagged(Pattern(("hard::very",)))),
        ("tag:none", Tagged(None)),
        ("is:due -IS:Suspended", All((Is("due"), Excluding(Is("suspended"))))),
        ("note:Basic", OfType(Pattern(("Basic",)))),
        ("card:2", OfTemplate(2)),
        ('card:"Card 2"', OfTemplate(Pattern(("Card 2",)))),
        ("prop:ivl>=10", Property("ivl", ">=", 10)),
        ("prop:due=-1", Property("due", "=", -1)),
        ("prop:s<21.5 prop:d!=5", All((Property("s", "<", 21.5), Property("d", "!=", 5)))),
        ("added:7", Within("added", 7)),
        ("edited:1 introduced:30", All((Within("edited", 1), Within("introduced", 30)))),
        ("rated:7", Within("rated", 7)),
        ("rated:7:1", Within("rated", 7, 1)),
        ("rated:7:easy", Within("rated", 7, 4)),
        ("nid:note_1,note_22", WithId(NoteId, (1, 22))),
        ("cid:3", WithId(CardId, (3,))),
        ("did:deck_4", WithId(DeckId, (4,))),
    ],
)
def test_a_query_is_parsed_as_in_anki(query, tree):
    assert parse(query) == tree
    assert parse(str(tree)) == tree


def test_a_tree_is_written_in_the_usual_form():
    query = 'deck:Math::Algebra (tag:hard OR is:due) -is:suspended "exact words" well-known prop:s>=2.5 rated:7:1'
    assert str(parse(query)) == query


@pytest.mark.parametrize(
    ("query", "position", "problem"),
    [
        ('dog "exact words', 5, "'\"exact words' has no closing quote; add \""),
        (r"\frac", 1, "'\\f' is not an escape; only \\ \" : ( ) - * _ can be escaped"),
        ("dog\\", 4, "'\\' is not an escape"),
        ("(a b", 1, "'(' is never closed; write ) after"),
        ("a (", 3, "'(' is never closed"),
        ("a) b", 2, "')' closes a bracket that was not opened; remove it"),
        (")", 1, "')' closes a bracket that was not opened"),
        ("a ()", 3, "'()' is empty"),
        ("a or", 3, "'or' has nothing after it; write what to search for"),
        ("(a or) b", 4, "'or' has nothing after it"),
        ("or a", 1, "'or' has nothing before it to join; write \"or\" for the word"),
        ("a and or b", 7, "'or' has nothing before it to join"),
        ("-or", 2, "'or' has nothing before it to join"),
        ('""', 1, "'\"\"' is empty"),
        (":x", 1, "':x' has nothing before the colon; write \\: for a colon that is part of the words"),
        ("a deck:", 3, "'deck:' has no name after the colon; write for example deck:Math"),
        ("deck:current", 1, "'deck:current' is not supported, because no deck is current here"),
        ('tag:"a b"', 1, "'tag:a b' has a space, which a tag cannot have"),
        ("tag:a*b*c*d*", 1, "'tag:a*b*c*d*' has more than 3 stars"),
        ("a*b*c*d*e*f*g*h*i*j*k*", 1, "has more than 10 stars"),
        ("is:learning", 1, "'is:learning' is not known; did you mean is:learn? Use one of is:new, is:learn"),
        ("prop:ivl~3", 1, "'prop:ivl~3' is not a comparison; write for example prop:ivl>=10, with one of ivl, due"),
        ("prop:xyz=3", 1, "'prop:xyz=3' is not a comparison"),
        ("prop:ivl>2.5", 1, "'prop:ivl>2.5' compares with 2.5, but ivl is a whole number"),
        ("prop:d>0.5", 1, "difficulty is from 1 to 10, as in get-card; 0.5 in Anki is 5.5 here"),
        ("prop:r<0.9", 1, "compares retrievability, which changes all the time and is not stored; use prop:s"),
        ("prop:ease<2", 1, "use prop:d"),
        ("added:0", 1, "'added:0' needs a number of days from 1, such as added:7"),
        ("added:7:1", 1, "'added:7:1' needs a number of days"),
        ("rated:7:5", 1, "needs a grade from 1 (again) to 4 (easy)"),
        ("rated:7:", 1, "needs a grade from 1 (again) to 4 (easy)"),
        ("nid:card_1", 1, "'nid:card_1' needs one or more ids, such as nid:note_1 or nid:note_1,note_2"),
        ("re:a.b", 1, "'re:a.b' is a regular expression, which is not supported; use * for any text"),
        ("a \x00", 3, "'\\x00' is a control character; remove it"),
    ],
)
def test_an_error_has_its_position_and_what_to_write_instead(query, position, problem):
    with pytest.raises(InvalidArguments) as error:
        parse(query)
    assert str(error.value).startswith(f"The query cannot be read at character {position}: ")
    assert problem in str(error.value)
    assert error.value.fields == ("query",)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("x" * (MAX_LENGTH + 1), f"The query has {MAX_LENGTH + 1} characters; at most {MAX_LENGTH} are allowed."),
        ("a " * (MAX_TERMS + 1), f"'a' is one term too many; at most {MAX_TERMS} are allowed."),
        ("(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1), f"'(' is nested more than {MAX_DEPTH} deep"),
        ("-" * (MAX_DEPTH + 1) + "a", f"'-' is nested more than {MAX_DEPTH} deep"),
    ],
)
def test_a_query_has_limits(query, problem):
    with pytest.raises(InvalidArguments, match="The query") as error:
        parse(query)
    assert problem in str(error.value)


def test_a_query_at_its_limits_is_parsed():
    parse("x" * MAX_LENGTH)
    parse("a " * MAX_TERMS)
    parse("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH)


def test_a_pattern_matches_whole_names_in_any_case():
    pattern = parse(r"deck:str_ße*\*").name
    assert [pattern.matches(name) for name in ("STRASSE*", "Straße::x*", "Straße", "xStraße*")] == [
        True,
        True,
        False,
        False,
    ]
    assert pattern.like() == r"str_sse%*"
    assert parse(r"100%\_\\").pattern.like() == r"100\%\_\\"


def _matches_slowly(parts: tuple[str | Wildcard, ...], text: str) -> bool:
    """Tries every way to divide the text between the stars."""
    if not parts:
        return not text
    first, rest = parts[0], parts[1:]
    if first is ANY:
        return any(_matches_slowly(rest, text[start:]) for start in range(len(text) + 1))
    if first is ONE:
        return bool(text) and _matches_slowly(rest, text[1:])
    return text.startswith(first) and _matches_slowly(rest, text[len(first) :])


@given(st.lists(st.sampled_from([ANY, ONE, "a", "b", "ab"]), max_size=7), st.text("ab\n", max_size=9))
def test_a_pattern_matches_if_some_way_to_fill_its_wildcards_does(parts, text):
    assert Pattern(tuple(parts)).matches(text) == _matches_slowly(tuple(parts), text)


def test_stars_do_not_make_a_pattern_slow():
    pattern = Pattern((ANY, "a") * 10 + (ANY, "b"))
    before = time.process_time()
    assert not pattern.matches("a" * 20_000)
    assert time.process_time() - before < 1


def test_the_terms_of_a_tree_are_listed_from_left_to_right():
    assert [str(term) for term in terms(parse("a (b or -c) is:due"))] == ["a", "b", "c", "is:due"]
    assert list(terms(Everything())) == []


@pytest.mark.parametrize("query", ["tag:re:x", "front:re:x", "tag:nc:x", "re:x", "flag:8", "flag:"])
def test_nothing_that_is_not_supported_finds_nothing_in_silence(query: str):
    with pytest.raises(InvalidArguments, match="cannot be read at character 1"):
        parse(query)


PAGE = Path(__file__).parents[3] / "docs" / "noema-search.md"
EXAMPLES = re.findall(r"^\| `(.+?)` \|", PAGE.read_text(), re.MULTILINE)


def test_every_query_of_the_documentation_is_parsed():
    assert len(EXAMPLES) > 40
    for query in EXAMPLES:
        assert parse(str(parse(query))) == parse(query)


def test_the_documentation_shows_the_actual_error():
    with pytest.raises(InvalidArguments) as error:
        parse("-dog is:learning")
    assert str(error.value) in PAGE.read_text()


_SOUP = st.lists(
    st.sampled_from(
        [
            *'ab:"()-*_\\ ,<>=1',
            "deck:",
            "tag:",
            "tag:none",
            "is:due",
            "is:",
            "prop:ivl>=3",
            "prop:",
            "rated:2:1",
            "or",
            "and",
            "nid:1",
            "ß",
            "card:",
        ]
    ),
    max_size=25,
).map("".join)


@given(_SOUP | st.text(max_size=40))
def test_any_text_is_parsed_or_refused_and_a_parsed_one_round_trips(query):
    try:
        tree = parse(query)
    except InvalidArguments:
        return
    assert parse(str(tree)) == tree


_NAME = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
_PATTERN = st.lists(_NAME | st.just(ANY) | st.just(ONE), min_size=1, max_size=3).map(
    lambda parts: parse(str(Words(Pattern(tuple(parts))))).pattern
)
_TERM = st.one_of(
    _PATTERN.map(Words),
    _PATTERN.map(InDeck),
    st.builds(InField, _PATTERN, _PATTERN),
    st.sampled_from([Is("due"), Tagged(None), Within("rated", 3, 2), WithId(CardId, (1, 2)), Property("s", "<", 0.25)]),
)
_TREE = st.recursive(
    _TERM,
    lambda inner: st.one_of(
        inner.map(Excluding),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(All),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(AnyOf),
    ),
    max_leaves=10,
)


@given(_TREE)
def test_a_tree_round_trips(tree):
    assert parse(str(tree)) == tree
