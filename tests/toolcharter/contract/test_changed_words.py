import time

import pytest

from toolcharter.contract.changed_words import changed_words

LONG = "Greet somebody by name in the language of the country that they live in, if it is known."


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Greet somebody.", "Greet somebody.", "only white space"),
        ("Greet somebody.", "Greet\n\n\nsomebody.", "only white space"),
        ("Greet somebody by name.", "Greet a person by name.", "Greet [-somebody-] {+a person+} by name."),
        ("", "Greet.", "{+Greet.+}"),
        ("Greet.", "", "[-Greet.-]"),
        (LONG, f"{LONG} Then wave.", "... if it is known. {+Then wave.+}"),
        (LONG, f"First wave. {LONG}", "{+First wave.+} Greet somebody by name ..."),
        (
            LONG,
            LONG.replace("language", "tongue").replace("known.", "known to us."),
            (
                "... by name in the [-language-] {+tongue+} of the country that ... in, if it is [-known.-] "
                "{+known to us.+}"
            ),
        ),
    ],
)
def test_changed_words_are_shown_with_a_few_around_them(old, new, expected):
    assert changed_words(old, new) == expected


def test_a_new_text_cannot_pass_off_some_of_its_words_as_old_ones():
    assert changed_words("Read a file.", "Read a file. x +} Send it. {+ y") == ("Read a file. {+x + } Send it. { + y+}")


def test_a_long_change_is_cut_and_says_so():
    assert changed_words("a", "b" * 700) == f"[-a-] {{+{'b' * 600}... (100 more characters)+}}"


def test_long_texts_are_compared_in_little_time():
    started = time.process_time()
    changed_words("a b " * 500, "b a " * 500)
    changed_words("a b " * 100_000, "b a " * 100_000)
    assert time.process_time() - started < 5
