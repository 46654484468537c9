from pathlib import Path

import numpy as np
import pytest

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.bm25 import Bm25Selector, stem
from toolcharter.evaluate.embedding import EmbeddingSelector
from toolcharter.evaluate.hybrid import HybridSelector
from toolcharter.evaluate.minilm import MiniLmSelector
from toolcharter.evaluate.selector import Selector
from toolcharter.evaluate.tool_text import split_name, tool_text
from toolcharter.evaluate.vector_cache import VectorCache

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


class NoCache(VectorCache):
    def __init__(self) -> None:
        super().__init__("test", Path("/dev/null/none.db"))


PARTS: list[Selector] = [Bm25Selector(), EmbeddingSelector(), MiniLmSelector(NoCache())]
SELECTORS = [*PARTS, HybridSelector(PARTS)]


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


@pytest.mark.parametrize("selector", [*PARTS[:2], HybridSelector(PARTS)], ids=lambda one: one.name)
def test_the_tool_whose_words_are_used_scores_highest(selector: Selector):
    said = ["Create tasks", "please remove the tasks", "the weather in Lisbon"]
    scores = selector.score(TOOLS, said)
    assert [row.index(max(row)) for row in scores] == [0, 1, 2]


def test_bm25_scores_lie_between_nothing_and_all_of_the_request():
    (nothing, some, stop) = Bm25Selector().score(TOOLS, ["zebra", "weather zebra", "the of"])
    assert nothing == [0.0, 0.0, 0.0]
    assert stop == [0.0, 0.0, 0.0]
    assert some[:2] == [0.0, 0.0]
    assert 0 < some[2] < 1


@pytest.mark.parametrize("selector", PARTS[:2], ids=lambda one: one.name)
def test_words_that_every_request_has_do_not_count(selector: Selector):
    plain, spoken = selector.score(TOOLS, ["remove task", "what should I do now: remove the task, please?"])
    assert spoken == pytest.approx(plain, abs=1e-6)


def test_embeddings_find_a_tool_by_a_word_that_it_does_not_have():
    (row,) = EmbeddingSelector().score(TOOLS, ["the temperature outside"])
    assert Bm25Selector().score(TOOLS, ["the temperature outside"]) == [[0.0, 0.0, 0.0]]
    assert row.index(max(row)) == 2


def test_bm25_finds_a_tool_by_a_synonym_and_better_by_its_own_word():
    ((_, synonym, _), (_, same, _)) = Bm25Selector().score(TOOLS, ["erase", "remove"])
    assert 0 < synonym < same


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: one.name)
def test_scores_are_the_same_each_time_and_do_not_depend_on_other_tools(selector: Selector):
    first = selector.score(TOOLS, ["remove it", "weather"])
    assert selector.score(TOOLS, ["remove it", "weather"]) == first
    assert selector.score(TOOLS, ["weather"])[0] == pytest.approx(first[1], abs=1e-6)


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: one.name)
def test_no_tools_no_words_and_odd_texts_are_accepted(selector: Selector):
    bare = ListedTool("x", "", "", {"properties": None})
    assert selector.score([], ["a"]) == [[]]
    assert selector.score([bare], []) == []
    assert [len(row) for row in selector.score([bare, *TOOLS], ["", "\U0001f680 使用", "\x00"])] == [4, 4, 4]


def test_minilm_gives_the_cosines_that_its_authors_published():
    """From the page of the model: the first sentence beside the three others."""
    texts = ["That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    tools = [ListedTool(text, "", "", {}) for text in texts]
    ((dog, person, day),) = MiniLmSelector(NoCache()).score(tools, ["That is a happy person"])
    assert (dog, person, day) == pytest.approx((0.695, 0.943, 0.257), abs=5e-4)


def test_each_text_is_embedded_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "folder" / "vectors.db"
    first = MiniLmSelector(VectorCache("m", file)).score(TOOLS, ["remove it"])
    later = MiniLmSelector(VectorCache("m", file))
    embedded: list[str] = []
    monkeypatch.setattr(later._model, "embed", lambda texts: embedded.extend(texts) or {"new": np.ones(384, "f4")})
    assert later.score(TOOLS, ["remove it"]) == first
    assert later.score(TOOLS, ["remove it", "new"])[0] == pytest.approx(first[0], abs=1e-6)
    assert embedded == ["new"]
    assert VectorCache("another model", file).read(["remove it"]) == {}


def test_a_damaged_cache_is_ignored(tmp_path: Path):
    file = tmp_path / "vectors.db"
    file.write_bytes(b"this is not a database, and it is long enough to be read as one" * 9)
    cache = VectorCache("m", file)
    cache.write({"a": np.zeros(3, np.float32)})
    assert cache.read(["a"]) == {}


def test_the_oldest_vectors_are_removed_above_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcharter.evaluate.vector_cache._MAX_VECTORS", 2)
    cache = VectorCache("m", tmp_path / "vectors.db")
    for text in ("a", "b", "c"):
        cache.write({text: np.zeros(3, np.float32)})
    assert list(cache.read(["a", "b", "c"])) == ["b", "c"]


class Fixed:
    def __init__(self, *scores: float) -> None:
        self.name, self.scores = "fixed", list(scores)

    def score(self, tools, utterances):
        return [self.scores for _ in utterances]


def test_hybrid_ranks_by_the_ranks_of_its_parts_not_by_their_scores():
    tools = [*TOOLS, ListedTool("other", "", "", {})]
    (row,) = HybridSelector([Fixed(0.3, 0.2, 0.1, 0.0), Fixed(0.0, 90.0, 80.0, 0.0)]).score(tools, ["x"])
    assert sorted(range(4), key=lambda at: -row[at]) == [1, 0, 2, 3]
    assert max(row) == pytest.approx((0.3 + 90.0) / 2)


def test_hybrid_does_not_depend_on_the_order_of_equal_scores():
    (row,) = HybridSelector([Fixed(0.0, 0.0, 0.0), Fixed(0.1, 0.2, 0.3)]).score(TOOLS, ["x"])
    assert row == sorted(row)
    (nothing,) = HybridSelector([Fixed(0.0, 0.0, 0.0), Fixed(-0.1, -0.2, 0.0)]).score(TOOLS, ["x"])
    assert nothing == [0.0, 0.0, 0.0]
