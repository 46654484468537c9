import pytest

from mcp_core.foreign.terminal import escape_invisible, escape_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, größer, 漢字", "plain, größer, 漢字"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\x9b2J", "\\u009b2J"),
        ("a\u202eb\u200bc", "a\\u202eb\\u200bc"),
        ("\U000e0041", "\\udb40\\udc41"),
        (
            "a\u200db \U0001f469\u200d\u200d\U0001f4bb \u0645\u200c",
            "a\\u200db \U0001f469\\u200d\\u200d\U0001f4bb \u0645\\u200c",
        ),
        ("one\r\ntwo", "one\\u000d\\u000atwo"),
    ],
)
def test_characters_that_cannot_be_seen_are_escaped(text, expected):
    assert escape_invisible(text) == expected


def test_joiners_stay_in_an_emoji_and_in_scripts_that_need_them():
    text = "\U0001f469\u200d\U0001f4bb \u2764\ufe0f\u200d\U0001f525 \u0645\u06cc\u200c\u062e \u0915\u094d\u200d\u0937"
    assert escape_invisible(text) == text


def test_lines_and_tabs_can_be_kept():
    assert escape_lines("one\n\ttwo\r\x1b") == "one\n\ttwo\\u000d\\u001b"
