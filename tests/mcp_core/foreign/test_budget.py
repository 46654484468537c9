import time
from typing import Any

import pytest

from mcp_core.foreign.budget import TooLarge, check_length, check_size, shorten


@pytest.mark.parametrize("value", [None, 1, "text", b"bytes", [], {}, [[1, "a"], {"b": (2, 3)}]])
def test_data_within_its_budget_passes(value: Any):
    check_size(value)


def test_values_and_keys_are_counted():
    value = {"a": [1, 2], "b": {"c": None}}
    check_size(value, nodes=5)
    with pytest.raises(TooLarge, match=r"^The data has more values than are accepted\.$"):
        check_size(value, nodes=4)


def test_the_characters_of_texts_and_keys_are_counted():
    value = {"key": ["four", b"five!"]}
    check_size(value, length=12)
    with pytest.raises(TooLarge, match=r"^The arguments has more text than is accepted\.$"):
        check_size(value, "The arguments", length=11)


def test_levels_are_counted_without_recursion():
    deep: Any = "leaf"
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(TooLarge, match="nested more than 100 levels deep"):
        check_size(deep)
    check_size([[["leaf"]]], depth=3)
    with pytest.raises(TooLarge, match="nested more than 2 levels deep"):
        check_size([[["leaf"]]], depth=2)


def test_a_value_that_contains_itself_is_over_the_budget():
    loop: list[Any] = []
    loop += [loop, loop]
    with pytest.raises(TooLarge):
        check_size(loop)


def test_a_refusal_costs_nothing_for_each_value():
    value = [["x"] * 1000] * 1000
    began = time.process_time()
    for _ in range(100):
        with pytest.raises(TooLarge):
            check_size(value)
    assert time.process_time() - began < 1


def test_a_long_text_is_over_its_budget():
    check_length("text", length=4)
    with pytest.raises(TooLarge, match=r"^The pattern has 1,001 characters; at most 1,000 are accepted\.$"):
        check_length("x" * 1001, "The pattern", length=1000)


def test_a_display_has_the_beginning_of_data():
    value = {"title": "abcdef", "tags": ["x"] * 5, "deep": {"er": {"est": 1}}, "more": 1}
    assert shorten(value, nodes=100, length=100) == value
    assert shorten(value, nodes=100, length=8)["title"] == "abc..."
    assert shorten([1, 2, 3, 4], nodes=3, length=9) == [1, 2, "..."]
    assert shorten(value, nodes=100, length=100, depth=2)["deep"] == {"er": "..."}
    assert len(str(shorten([["x" * 1000] * 1000] * 1000, nodes=50, length=50))) < 2000
