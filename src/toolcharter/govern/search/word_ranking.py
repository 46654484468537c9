"""BM25 over fields: documents that share words with a query, where rare words count more.

The index has, for each word, the documents that contain it, so that a search costs as much as its words are common, not
as much as there are documents.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

_K1, _B = 1.2, 0.75

Fields = Mapping[str, Sequence[str]]
"""The words of a document by field."""


class WordRanking:
    """The words of all documents."""

    def __init__(self, documents: Sequence[Fields], weights: Mapping[str, float]) -> None:
        """`weights` says how much a word counts in each field."""
        lengths = {name: [len(words.get(name, ())) for words in documents] for name in weights}
        means = {name: (sum(values) / len(values) if values else 0) or 1.0 for name, values in lengths.items()}
        postings: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for number, words in enumerate(documents):
            for name, weight in weights.items():
                norm = 1 - _B + _B * lengths[name][number] / means[name]
                for word, times in Counter(words.get(name, ())).items():
                    found = postings[word]
                    found[number] = found.get(number, 0.0) + weight * times / norm
        self._postings = {word: _saturated(found, len(documents)) for word, found in postings.items()}

    def __contains__(self, word: str) -> bool:
        return word in self._postings

    def rank(self, words: Iterable[str], limit: int) -> list[int]:
        """The numbers of the best documents, best first. Those that share no word are not ranked."""
        scores: dict[int, float] = defaultdict(float)
        for word in set(words):
            for number, score in self._postings.get(word, ()):
                scores[number] += score
        if len(scores) > limit:
            # Most of thousands are not wanted, and to sort them all costs as much as to find them.
            least = heapq.nlargest(limit, scores.values())[-1]
            scores = {number: score for number, score in scores.items() if score >= least}
        return sorted(scores, key=lambda number: (-scores[number], number))[:limit]


def _saturated(found: Mapping[int, float], documents: int) -> list[tuple[int, float]]:
    """The score that a word gives to each document: rare words count more, repetitions less and less."""
    rarity = math.log(1 + (documents - len(found) + 0.5) / (len(found) + 0.5))
    return [(number, rarity * frequency * (_K1 + 1) / (frequency + _K1)) for number, frequency in found.items()]
