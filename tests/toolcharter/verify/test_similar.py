import random
import time
from itertools import pairwise

import pytest

from toolcharter.verify.engine import example_server
from toolcharter.verify.similar import MAX_PAIRS, Pair, near_duplicates

TEXT = "note folder list find title user wants see what was written down long ago with id first line each of them"
WORDS = TEXT.split()


def _server(*texts):
    return example_server([{"name": f"tool_{number}", "description": text} for number, text in enumerate(texts)])


def test_equal_texts_are_paired_with_the_first():
    text = "List the notes of a folder."
    assert near_duplicates(_server(text, "Send a letter to a friend.", text, f"{text}\n")) == [
        Pair("tool_0", "tool_2", 1.0),
        Pair("tool_0", "tool_3", 1.0),
    ]


def test_one_different_word_in_twenty_is_similar_and_half_of_them_is_not():
    near = TEXT.replace("title", "colour")
    far = " ".join([*WORDS[:10], "nothing that any other text would ever say"])
    assert [(pair.a, pair.b) for pair in near_duplicates(_server(TEXT, near, far))] == [("tool_0", "tool_1")]


@pytest.mark.parametrize("text", ["", "List notes.", "、", "笔记"])
def test_short_texts_are_not_compared(text):
    assert near_duplicates(_server(text, text)) == []


def test_texts_without_spaces_are_compared_by_character():
    texts = "根据阳历时间、性别来获取八字信息。", "根据农历时间、性别来获取八字信息。", "将两个数相加、返回它们的和。"
    assert [(pair.a, pair.b) for pair in near_duplicates(_server(*texts))] == [("tool_0", "tool_1")]


def _features(text):
    words = text.lower().split()
    return {*words, *pairwise(words)}


@pytest.mark.parametrize("seed", range(5))
def test_the_index_finds_what_comparing_all_pairs_finds(seed):
    dice = random.Random(seed)
    texts = []
    for _ in range(60):
        words = dice.sample(WORDS, 15) if dice.random() < 0.5 or not texts else dice.choice(texts).split()
        texts.append(" ".join(word if dice.random() < 0.97 else "other" for word in words))
    texts = list(dict.fromkeys(texts))
    expected = set()
    for number, text in enumerate(texts):
        alike = {}
        for other in range(number):
            one, two = _features(text), _features(texts[other])
            if len(one & two) / len(one | two) >= 0.8:
                alike[other] = len(one & two) / len(one | two)
        assert len(alike) <= MAX_PAIRS
        expected |= {(f"tool_{other}", f"tool_{number}", round(value, 3)) for other, value in alike.items()}
    assert expected
    assert {tuple(pair) for pair in near_duplicates(_server(*texts))} == expected


@pytest.mark.parametrize("same", [True, False])
def test_thousands_of_similar_descriptions_take_seconds(same):
    text = (
        "Get the value of the sensor {} in the house, as it was measured at the time of the call or shortly before it."
    )
    server = _server(*(text.format("x" if same else number) for number in range(3_000)))
    started = time.process_time()
    pairs = near_duplicates(server)
    assert time.process_time() - started < 5
    assert len(pairs) <= MAX_PAIRS * 3_000
    assert {pair.b for pair in pairs} == {f"tool_{number}" for number in range(1, 3_000)}
