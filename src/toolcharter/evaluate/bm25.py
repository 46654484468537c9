"""BM25: how many of the words of a request stand in what a tool says about itself, rare words counting more."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.texts import tool_text

_SATURATION = 1.2  # k1: how soon a repeated word stops to count
_LENGTH = 0.75  # b: how much a long text is held against a tool
_WORD = re.compile(r"\w+")
_STOP = frozenset({
    *("a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "do", "does", "for", "from"),
    *("had", "has", "have", "i", "if", "in", "into", "is", "it", "its", "let", "me", "my", "of", "on", "or", "our"),
    *("please", "s", "so", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this"),
    *("to", "was", "we", "were", "will", "with", "would", "you", "your"),
})  # fmt: skip
_SHORTEST_STEM = 3


class Selector:
    """Scores are between 0 and 1: the part of the request's weight that a tool's words cover."""

    name = "bm25"

    def score(self, tools: Sequence[ListedTool], utterances: Sequence[str]) -> list[list[float]]:
        """One line for each utterance, one score for each tool."""
        index = _Index([words_of(tool_text(tool)) for tool in tools])
        return [index.scores(words_of(utterance)) for utterance in utterances]


class _Index:
    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(text) for text in texts]
        mean = sum(map(len, texts)) / max(len(texts), 1) or 1
        self._norms = [_SATURATION * (1 - _LENGTH + _LENGTH * len(text) / mean) for text in texts]
        self._spread = Counter(word for counts in self._counts for word in counts)

    def scores(self, words: Sequence[str]) -> list[float]:
        weights = {word: self._weight(word) for word in set(words)}
        most = sum(weights.values()) * (_SATURATION + 1) or 1
        return [
            sum(
                weight * counts[word] * (_SATURATION + 1) / (counts[word] + norm)
                for word, weight in weights.items()
                if word in counts
            )
            / most
            for counts, norm in zip(self._counts, self._norms, strict=True)
        ]

    def _weight(self, word: str) -> float:
        spread = self._spread[word]
        return math.log(1 + (len(self._counts) - spread + 0.5) / (spread + 0.5))


def words_of(text: str) -> list[str]:
    """The words that say something, in their plain form."""
    return [stem(word) for word in _WORD.findall(text.lower().replace("_", " ")) if word not in _STOP]


def stem(word: str) -> str:
    """Cut an English ending, so that task and tasks, or complete, completed and completing agree."""
    if word.endswith("ies") and len(word) > _SHORTEST_STEM + 1:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _SHORTEST_STEM and re.search("[aeiouy]", rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "aeiouls" else rest
            break
    return word.removesuffix("e") if len(word) > _SHORTEST_STEM else word
