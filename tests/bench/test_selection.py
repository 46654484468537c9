from bench import selection
from bench.selection import Task
from mcp_core.declare.listed import ListedTool
from tests.shared_data import shared
from toolcharter.evaluate.bm25 import Bm25Selector
from toolcharter.evaluate.embedding import EmbeddingSelector
from toolcharter.evaluate.hybrid import HybridSelector


def test_recall_is_the_share_of_the_needed_tools_among_the_first():
    tools = [ListedTool(name, "", "", {}) for name in "abcdefg"]
    tasks = [Task("1", frozenset("ab")), Task("2", frozenset("g"))]
    scores = [[0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]]
    assert selection.recall(tools, tasks, scores) == [0.25, 0.5, 1.0, 1.0]


def test_offline_selectors_find_the_tools_of_real_tasks_far_better_than_chance():
    tools, tasks = selection.read(shared("data/tools"))
    assert (len(tools), len(tasks)) == (527, 94)
    words, vectors = Bm25Selector(), EmbeddingSelector()
    for selector in (words, vectors, HybridSelector([words, vectors])):
        _, _, ten, twenty = selection.recall(tools, tasks, selector.score(tools, [task.question for task in tasks]))
        assert ten > 0.4, selector.name
        assert twenty > 0.5, selector.name
