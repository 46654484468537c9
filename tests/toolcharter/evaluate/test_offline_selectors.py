import pytest

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.bm25 import Bm25Selector, stem
from toolcharter.evaluate.embedding import EmbeddingSelector
from toolcharter.evaluate.tool_text import split_name, tool_text

TOOLS = [
    ListedTool("addTask", "", "Create a task. Use it to remember something.", {}),
    ListedTool("delete_task", "", "Remove a task for good.", {}),
    ListedTool(
        "get-weather",
        "Weather report",
        "Current conditions.",
        {"properties": {"cityName": {"description": "a town, such as Lisbon"}, "units": True}},
    ),
]


def test_the_text_of_a_tool_has_names_title_descriptions_and_parameters():
    assert tool_text(TOOLS[2]) == (
        "get weather\nWeather report\nCurrent conditions.\ncity Name: a town, such as Lisbon\nunits"
    )
    assert [split_name(name) for name in ("addTask", "add_task", "a.b-c/d")] == ["add Task", "add task", "a b c d"]


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        (("task", "tasks"), "task"),
        (("complete", "completed", "completes", "completing"), "complet"),
        (("list", "lists", "listed", "listing"), "list"),
        (("city", "cities"), "city"),
        (("plan", "planned", "planning"), "plan"),
        (("status",), "status"),
        (("ring",), "ring"),
        (("red",), "red"),
    ],
)
def test_forms_of_a_word_have_one_stem(words: tuple[str, ...], plain: str):
    assert {stem(word) for word in words} == {plain}


@pytest.mark.parametrize("selector", [Bm25Selector(), EmbeddingSelector()], ids=lambda one: one.name)
def test_the_tool_whose_words_are_used_scores_highest(selector: Bm25Selector | EmbeddingSelector):
    said = ["Create tasks", "please remove the tasks", "the weather in Lisbon"]
    scores = selector.score(TOOLS, said)
    assert [row.index(max(row)) for row in scores] == [0, 1, 2]


def test_bm25_scores_lie_between_nothing_and_all_of_the_request():
    (nothing, some, stop) = Bm25Selector().score(TOOLS, ["zebra", "weather zebra", "the of"])
    assert nothing == [0.0, 0.0, 0.0]
    assert stop == [0.0, 0.0, 0.0]
    assert some[:2] == [0.0, 0.0]
    assert 0 < some[2] < 1


def test_embeddings_find_a_tool_by_a_word_that_it_does_not_have():
    (row,) = EmbeddingSelector().score(TOOLS, ["erase it"])
    assert Bm25Selector().score(TOOLS, ["erase"]) == [[0.0, 0.0, 0.0]]
    assert row.index(max(row)) == 1


@pytest.mark.parametrize("selector", [Bm25Selector(), EmbeddingSelector()], ids=lambda one: one.name)
def test_scores_are_the_same_each_time_and_do_not_depend_on_other_tools(selector: Bm25Selector | EmbeddingSelector):
    first = selector.score(TOOLS, ["remove it", "weather"])
    assert selector.score(TOOLS, ["remove it", "weather"]) == first
    assert selector.score(TOOLS, ["weather"])[0] == pytest.approx(first[1], abs=1e-6)


@pytest.mark.parametrize("selector", [Bm25Selector(), EmbeddingSelector()], ids=lambda one: one.name)
def test_no_tools_no_words_and_odd_texts_are_accepted(selector: Bm25Selector | EmbeddingSelector):
    bare = ListedTool("x", "", "", {"properties": None})
    assert selector.score([], ["a"]) == [[]]
    assert selector.score([bare], []) == []
    assert [len(row) for row in selector.score([bare, *TOOLS], ["", "\U0001f680 使用", "\x00"])] == [4, 4, 4]
