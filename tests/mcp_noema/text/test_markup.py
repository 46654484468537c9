import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_noema.text.markup import fold, plain, plain_text


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "if x<y then",
        "x<b and c>d",
        "What does <b> do?",
        "A lone </i> means nothing",
        "#include <map>, Vec<u8>, List<String>",
        "<script> runs code",
        "<!-- opens a comment",
        "R&D, AT&T, ?a=1&copy=2 and &nothing;",
        r"\(a<b\), [$]x < y[/$] and [latex]\frac{1}{2}[/latex]",
        "def f():\n    return 1",
    ],
)
def test_text_that_is_not_html_stays_as_it_is(text):
    assert plain_text(text) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<b>bold</b> and <span style='color: red'>red</span>", "bold and red"),
        ("<div>one</div><div>two</div>", "one\ntwo"),
        ("one<div><br></div><div>two</div>", "one\n\ntwo"),
        ("one<br>\ntwo<br/><BR>three", "one\ntwo\n\nthree"),
        ("<p>one</p>\n\n<p>two</p>", "one\ntwo"),
        ("<ul>\n  <li>one</li>\n  <li>two</li>\n</ul>after", "one\ntwo\nafter"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("&lt;b&gt; &amp; &eacute;&nbsp;&#39;&#x41;", "<b> & é 'A"),
        ("10<sup>6</sup> H<sub>2</sub>O", "10^6 H_2O"),
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", "漢字[かんじ]"),
        ("<style>.card { color: red }</style><script>if (a < b) go()</script>seen<!-- unseen -->", "seen"),
        ("one\r\ntwo  \n\n\n\nthree ", "one\ntwo\n\nthree"),
    ],
)
def test_html_is_converted_to_text(html, text):
    assert plain_text(html) == text


def test_images_and_sounds_are_named_in_their_place():
    media: list[str] = []
    html = (
        '<img class=x src="my%20cell.png"> is [sound:word.mp3], <audio controls src="b.ogg"></audio>'
        '<img src="https://example.org/a.png"><img src="data:image/png;base64,AAAA">'
    )
    assert plain(html, media) == (
        "[image: my cell.png] is [sound: word.mp3], [sound: b.ogg][image: https://example.org/a.png][image]"
    )
    assert media == ["my cell.png", "word.mp3", "b.ogg"]


def test_case_is_folded_in_every_script():
    assert [fold(text) for text in ("ABC", "ÄÖ", "ПРИВЕТ", "Straße", "e\u0301")] == [
        "abc",
        "äö",
        "привет",
        "strasse",
        "é",
    ]


@given(st.text(alphabet="<>/!-ab div=\"'[]sound:&;#x1\n\x00\ud800", max_size=60))
def test_any_text_can_be_converted(html):
    text = plain_text(html)
    assert text == text.strip()


@pytest.mark.parametrize(
    "piece", ["<b>", "<b a='", '<b a="', "<!--", "<script>", "</", "&lt", "[sound:", "<div   ", "{{c1::"]
)
def test_the_time_for_a_text_is_linear_in_its_length(piece):
    started = time.process_time()
    plain_text(piece * (100_000 // len(piece)))
    # Where each piece is looked at once for each other one, it takes minutes.
    assert time.process_time() - started < 10
