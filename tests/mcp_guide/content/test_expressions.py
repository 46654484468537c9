import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments
from mcp_guide.content.expressions import Specification, join, parse, render


@pytest.mark.parametrize(
    ("text", "specifications"),
    [
        ("lang", [Specification("lang")]),
        ("lang/python", [Specification("lang", ("python",))]),
        ("lang/python+java", [Specification("lang", ("python", "java"))]),
        (
            "lang/python,docs/api/v1/*.md,guidelines",
            [Specification("lang", ("python",)), Specification("docs", ("api/v1/*.md",)), Specification("guidelines")],
        ),
        ("lang/{a,b}+[+,]", [Specification("lang", ("{a,b}", "[+,]"))]),
        ("lang/{a,{b,c+d}},docs", [Specification("lang", ("{a,{b,c+d}}",)), Specification("docs")]),
        (" lang / python + java , docs ", [Specification("lang", ("python", "java")), Specification("docs")]),
        ("lang/[]]", [Specification("lang", ("[]]",))]),
        ("my notes/api/", [Specification("my notes", ("api/",))]),
    ],
)
def test_an_expression_is_parsed(text, specifications):
    assert parse(text) == specifications


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "'' names no category. Write one, as in 'lang/python'."),
        ("lang,,docs", "The part '' of 'lang,,docs' names no category. Write one, as in 'lang/python'."),
        ("/etc/passwd", "'/etc/passwd' names no category. Write one, as in 'lang/python'."),
        (
            "lang/",
            (
                "'lang/' has an empty pattern. "
                "Write 'lang' for its usual documents, 'lang/**' for all, and [+] for a plus in a name."
            ),
        ),
        (
            "lang/c++",
            (
                "'lang/c++' has an empty pattern. "
                "Write 'lang' for its usual documents, 'lang/**' for all, and [+] for a plus in a name."
            ),
        ),
        ("lang/{a,b", "'lang/{a,b' has a '{' that is not closed. Add the '}', or write [{]."),
        ("lang/a}", "'lang/a}' has a '}' without a '{'. Remove it, or write [}]."),
        ("lang/[a,docs", "'lang/[a,docs' has a '[' that is not closed. Add the ']', or write [[]."),
        (
            "lang+docs",
            (
                "'lang+docs' has a special character before the '/'. "
                "Write the name of one category or collection there, and ',' between several."
            ),
        ),
        (
            "x" * 2_001,
            f"The expression '{'x' * 97}...' has 2,001 characters. Ask for less at once: at most 2,000 characters.",
        ),
        (
            "x," * 51,
            f"The expression '{'x,' * 48}x...' has 52 parts. Ask for less at once: at most 50 separated by commas.",
        ),
    ],
)
def test_what_is_no_expression_is_refused_with_a_way_out(text, error):
    with pytest.raises(InvalidArguments) as refused:
        parse(text)
    assert str(refused.value) == error


@pytest.mark.requirement("GUI-1")
def test_a_pattern_beside_the_category_is_the_same_as_behind_it():
    assert parse(join("lang", "python")) == parse("lang/python")
    assert parse(join(" lang ", "python+java")) == parse("lang/python+java")
    assert join("lang,docs", None) == "lang,docs"


@pytest.mark.parametrize(
    ("expression", "pattern"), [("lang,docs", "a"), ("lang/a", "b"), ("lang", "a,docs"), ("", "a")]
)
def test_a_pattern_beside_more_than_a_category_is_refused(expression, pattern):
    with pytest.raises(InvalidArguments):
        join(expression, pattern)


_NAMES = st.text("abcXY09_-. é", min_size=1).filter(lambda name: name == name.strip())
_PLAIN = st.text("abc*?.-_/ ", min_size=1, max_size=8).filter(lambda text: text == text.strip())
_PATTERNS = st.recursive(
    _PLAIN | st.sampled_from(["[a,b]", "[!+]", "[]]", "[{]"]),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: "{" + ",".join(parts) + "}")
        | st.lists(inner, min_size=1, max_size=2).map("".join)
    ),
    max_leaves=5,
)
_SPECIFICATIONS = st.builds(Specification, _NAMES, st.lists(_PATTERNS, max_size=3).map(tuple))


@given(st.lists(_SPECIFICATIONS, min_size=1, max_size=5))
def test_what_is_rendered_is_parsed_back(specifications):
    assert parse(render(specifications)) == specifications


@given(st.text() | st.text("ab/,+{}[]!*? ", max_size=40))
def test_any_text_is_parsed_or_refused(text):
    try:
        specifications = parse(text)
    except InvalidArguments:
        return
    assert parse(render(specifications)) == specifications
