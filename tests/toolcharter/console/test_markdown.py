import time

import pytest

from toolcharter.console.markdown import render, render_document


@pytest.mark.parametrize("unit", ["[", "![", "[[a]", "[a][", " - a\n", "[a]\n", "# a\n", "*a_", "> - "])
def test_no_text_takes_long_to_render(unit: str):
    render("warm up")
    began = time.process_time()
    render(unit * (200_000 // len(unit)))
    render_document(unit * (200_000 // len(unit)), lambda _: None, set())
    assert time.process_time() - began < 6  # brackets alone would take 80 s


def test_a_text_that_would_take_long_is_shown_as_it_is():
    assert render("[" * 2001 + "<b>") == f"<pre>{'[' * 2001}&lt;b&gt;</pre>"
    assert render("[a](https://a.example)\n\n" * 2000).count("<a ") == 2000
