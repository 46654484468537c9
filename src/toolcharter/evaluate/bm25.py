"""BM25: how many words of a request, or synonyms, are in the texts of a tool, where rare words count more."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.tool_text import tool_text
from toolcharter.evaluate.words import SYNONYMS, content_words

_K1 = 1.2  # how soon repetitions of a word stop counting
_B = 0.75  # how much long texts are penalized
_MIN_STEM_LENGTH = 3


class Bm25Selector:
    """Scores are between 0 and 1: the share of the weight of a request that the words of a tool cover."""

    name = "bm25"

    def score(self, tools: Sequence[ListedTool], utterances: Sequence[str]) -> list[list[float]]:
        """One row for each utterance, with one score for each tool."""
        index = _Index([tokenize(tool_text(tool)) for tool in tools])
        return [index.scores(tokenize(utterance)) for utterance in utterances]


class _Index:
    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(text) for text in texts]
        mean = sum(map(len, texts)) / max(len(texts), 1) or 1
        self._norms = [_K1 * (1 - _B + _B * len(text) / mean) for text in texts]
        self._document_counts = Counter(word for counts in self._counts for word in counts)

    def scores(self, words: Sequence[str]) -> list[float]:
        weights = {word: self._weight(word) for word in set(words)}
        maximum = sum(weights.values()) * (_K1 + 1) or 1
        return [
            sum(
                weight * counts[word] * (_K1 + 1) / (counts[word] + norm)
                for word, weight in weights.items()
                if word in counts
            )
            / maximum
            for counts, norm in zip(self._counts, self._norms, strict=True)
        ]

    def _weight(self, word: str) -> float:
        documents = self._document_counts[word]
        return math.log(1 + (len(self._counts) - documents + 0.5) / (documents + 0.5))


def tokenize(text: str) -> list[str]:
    """The stems of the words in a text, without stop words, and for each synonym also the group that it is in."""
    stems = [stem(word) for word in content_words(text)]
    return stems + [_GROUPS[word] for word in stems if word in _GROUPS]


def stem(word: str) -> str:
    """Cut an English ending, so that task and tasks, or complete, completed and completing, are the same."""
    if word.endswith("ies") and len(word) > _MIN_STEM_LENGTH + 1:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _MIN_STEM_LENGTH and re.search("[aeiouy]", rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "aeiouls" else rest
            break
    return word.removesuffix("e") if len(word) > _MIN_STEM_LENGTH else word


_GROUPS = {stem(word): f"~{words[0]}" for words in SYNONYMS for word in words}
