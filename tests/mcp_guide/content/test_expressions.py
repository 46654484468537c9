import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments
from mcp_guide.content.expressions import Specification, add_pattern, parse_expression, render_expression


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
    assert parse_expression(text) == specifications


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "'' does not name a category. Write one, as in 'lang/python'."),
        ("lang,,docs", "The part '' of 'lang,,docs' does not name a category. Write one, as in 'lang/python'."),
        ("/etc/passwd", "'/etc/passwd' does not name a category. Write one, as in 'lang/python'."),
        (
            "lang/",
            (
                "'lang/' has an empty pattern. "
                "Write 'lang' for its default documents, 'lang/**' for all, or [+] for a plus in a name."
            ),
        ),
        (
            "lang/c++",
            (
                "'lang/c++' has an empty pattern. "
                "Write 'lang' for its default documents, 'lang/**' for all, or [+] for a plus in a name."
            ),
        ),
        ("lang/{a,b", "'lang/{a,b' has a '{' that is not closed. Add the '}', or write [{]."),
        ("lang/a}", "'lang/a}' has a '}' without a '{'. Remove it, or write [}]."),
        ("lang/[a,docs", "'lang/[a,docs' has a '[' that is not closed. Add the ']', or write [[]."),
        (
            "lang+docs",
            (
                "'lang+docs' has a special character before the '/'. "
                "Write the name of one category or collection there. Separate several with ','."
            ),
        ),
        (
            "x" * 2_001,
            f"The expression '{'x' * 97}...' has 2,001 characters. Use at most 2,000 characters.",
        ),
        (
            "x," * 51,
            f"The expression '{'x,' * 48}x...' has 52 parts separated by commas. Use at most 50.",
        ),
    ],
)
def test_an_invalid_expression_is_refused_and_the_error_says_what_to_write(text, error):
    with pytest.raises(InvalidArguments) as refused:
        parse_expression(text)
    assert str(refused.value) == error


@pytest.mark.requirement("GUI-1")
def test_a_separate_pattern_is_the_same_as_one_in_the_expression():
    assert parse_expression(add_pattern("lang", "python")) == parse_expression("lang/python")
    assert parse_expression(add_pattern(" lang ", "python+java")) == parse_expression("lang/python+java")
    assert add_pattern("lang,docs", None) == "lang,docs"


@pytest.mark.parametrize(
    ("expression", "pattern"), [("lang,docs", "a"), ("lang/a", "b"), ("lang", "a,docs"), ("", "a")]
)
def test_a_separate_pattern_needs_an_expression_of_one_name(expression, pattern):
    with pytest.raises(InvalidArguments):
        add_pattern(expression, pattern)


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
def test_a_rendered_expression_parses_back(specifications):
    assert parse_expression(render_expression(specifications)) == specifications


@given(st.text() | st.text("ab/,+{}[]!*? ", max_size=40))
def test_any_text_is_parsed_or_refused(text):
    try:
        specifications = parse_expression(text)
    except InvalidArguments:
        return
    assert parse_expression(render_expression(specifications)) == specifications
