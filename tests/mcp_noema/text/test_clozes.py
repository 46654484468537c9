import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_noema.text import clozes


@pytest.mark.parametrize(
    ("text", "numbers", "front", "back"),
    [
        ("{{c1::Paris}} is in {{c2::France}}", {1, 2}, "[...] is in France", "Paris is in France"),
        ("{{c1::Paris::city}}!", {1}, "[city]!", "Paris!"),
        ("{{c1::a}} {{c1::b::h}} {{c2::c}}", {1, 2}, "[...] [h] c", "a b c"),
        ("{{c1::a {{c2::b}} c::h}}", {1, 2}, "[h]", "a b c"),
        ("{{c2::a {{c1::b::h}} c}}", {1, 2}, "a [h] c", "a b c"),
        ("{{c1,2::both}} {{c2::one}}", {1, 2}, "[...] one", "both one"),
        (r"\({{c1::\frac{1}{2} }}\)", {1}, r"\([...]\)", r"\(\frac{1}{2} \)"),
        ("{{c1::a}} }} {{c1::open", {1}, "[...] }} {{c1::open", "a }} {{c1::open"),
        ("{{c1::a}} {{c2::open::hint", {1}, "[...] {{c2::open::hint", "a {{c2::open::hint"),
        ("{{c2::other}}", {2}, "", ""),
        ("{{c0::a}} {{c501::b}} {{C1::c}} {{c::d}}", set(), "", ""),
        ("no gap", set(), "", ""),
    ],
)
def test_gaps_are_numbered_and_rendered(text, numbers, front, back):
    assert clozes.numbers(text) == numbers
    assert clozes.render(text, 1, hide=True) == front
    assert clozes.render(text, 1, hide=False) == back


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        (
            "rect:left=.1:top=.25:width=.3:height=.05:oi=1",
            "[a hidden part of the image: 10% from the left, 25% from the top, 30% wide, 5% high]",
        ),
        (
            "ellipse:left=.5:top=.5:rx=.1:ry=.05",
            "[a hidden part of the image: 50% from the left, 50% from the top, 20% wide, 10% high]",
        ),
        ("polygon:left=0:top=1:points=0,0 1,1", "[a hidden part of the image: 0% from the left, 100% from the top]"),
        ("rect:left=<b>:top=1e999", "[a hidden part of the image]"),
        ("", "[a hidden part of the image]"),
    ],
)
def test_a_gap_in_an_image_is_described(shape, shown):
    text = f"{{{{c1::image-occlusion:{shape}}}}}{{{{c2::image-occlusion:rect:left=.6:top=.6}}}}"
    assert clozes.render(text, 1, hide=True) == shown
    assert clozes.render(text, 1, hide=False) == ""


def test_gaps_nested_ten_deep_are_found():
    text = "".join(f"{{{{c{n}::{n}" for n in range(1, 13)) + "}}" * 12
    assert clozes.numbers(text) == set(range(1, 11))


def test_the_answers_of_a_number():
    assert clozes.answers("{{c1::a {{c2::b}}}} and {{c1::c}}", 1) == "a b, c"


@given(st.lists(st.sampled_from(["{{c1::", "{{c2::", "}}", "::", "a", "<b>", "{", "}"]), max_size=40).map("".join))
def test_a_gap_makes_a_card_exactly_when_it_can_be_rendered(text):
    for number in (1, 2):
        assert (number in clozes.numbers(text)) == (clozes.render(text, number, hide=True) != "")
    assert clozes.reveal(text).count("a") <= text.count("a")
