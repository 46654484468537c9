"""Finds tools among thousands by what an agent wants, in words.

BM25 over four fields: the server, the name, the description and the arguments. The index has, for each word, the tools
that contain it, so that a search costs as much as its words are common, not as much as there are tools.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.bm25 import tokenize
from toolcharter.evaluate.tool_text import parameter_texts, split_name

_K1, _B = 1.2, 0.75
_WEIGHTS = {"server": 1.0, "name": 3.0, "description": 1.5, "arguments": 0.5}
"""How much a word counts in each field."""


class SearchedTool(NamedTuple):
    """A tool, and the server that it belongs to."""

    server: str
    tool: ListedTool


class ToolIndex:
    """The words of all tools. Made once, and again when a list changes."""

    def __init__(self, tools: Sequence[SearchedTool]) -> None:
        self._tools = tools
        fields = [_fields(one) for one in tools]
        lengths = {name: [len(words[name]) for words in fields] for name in _WEIGHTS}
        means = {name: (sum(values) / len(values) if values else 0) or 1.0 for name, values in lengths.items()}
        postings: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for number, words in enumerate(fields):
            for name, weight in _WEIGHTS.items():
                norm = 1 - _B + _B * lengths[name][number] / means[name]
                for word, times in Counter(words[name]).items():
                    found = postings[word]
                    found[number] = found.get(number, 0.0) + weight * times / norm
        self._postings = {word: _saturated(found, len(tools)) for word, found in postings.items()}

    def search(self, query: str, limit: int | None = None) -> list[SearchedTool]:
        """The best tools first. Tools that share no word with the query are not found."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in set(tokenize(query)):
            for number, score in self._postings.get(word, ()):
                scores[number] += score
        best = sorted(scores, key=lambda number: (-scores[number], number))[:limit]
        return [self._tools[number] for number in best]


def _saturated(found: Mapping[int, float], tools: int) -> list[tuple[int, float]]:
    """The score that a word gives to each tool that contains it: rare words count more, repetitions less and less."""
    rarity = math.log(1 + (tools - len(found) + 0.5) / (len(found) + 0.5))
    return [(number, rarity * frequency * (_K1 + 1) / (frequency + _K1)) for number, frequency in found.items()]


def _fields(one: SearchedTool) -> dict[str, list[str]]:
    tool = one.tool
    return {
        "server": tokenize(split_name(one.server)),
        "name": tokenize(f"{split_name(tool.name)} {tool.title}"),
        "description": tokenize(tool.description),
        "arguments": tokenize("\n".join(parameter_texts(tool.input_schema))),
    }
