import pytest

from toolcharter.terminal import escape_invisible, escape_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, größer, 漢字", "plain, größer, 漢字"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\x9b2J", "\\u009b2J"),
        ("a\u202eb\u200bc", "a\\u202eb\\u200bc"),
        ("\U000e0041", "\\U000e0041"),
        ("one\r\ntwo", "one\\u000d\\u000atwo"),
    ],
)
def test_characters_that_cannot_be_seen_are_escaped(text, expected):
    assert escape_invisible(text) == expected


def test_lines_and_tabs_can_be_kept():
    assert escape_lines("one\n\ttwo\r\x1b") == "one\n\ttwo\\u000d\\u001b"
