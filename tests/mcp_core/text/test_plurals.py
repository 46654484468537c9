import pytest

from mcp_core.text.plurals import count, verb


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 tools"), (1, "1 tool"), (1.0, "1 tool"), (2, "2 tools"), (2000, "2,000 tools"), (0.5, "0.5 tools")],
)
def test_a_noun_is_singular_after_one_only(number: float, text: str):
    assert count(number, "tool") == text


@pytest.mark.parametrize(("number", "text"), [(0, "are"), (1, "is"), (2, "are")])
def test_a_verb_agrees_with_its_number(number: int, text: str):
    assert verb(number, "is", "are") == text
