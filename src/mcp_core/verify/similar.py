"""Tools whose descriptions are nearly the same, found without comparing each with each."""

from collections import Counter, defaultdict
from math import ceil
from typing import NamedTuple

from mcp_core.verify.subject import Server

LEAST = 0.7
FEWEST_WORDS = 5
"""Shorter descriptions are alike by chance."""
CROWD = 20
"""A tool is compared with the first so many that share a word: where a whole crowd reads alike, a few show it."""
_ROUNDING = 1e-9


class Pair(NamedTuple):
    """Two tools, and the share of words that their descriptions have in common."""

    a: str
    b: str
    similarity: float


def near_duplicates(server: Server, least: float = LEAST) -> list[Pair]:
    """Pairs that have at least this share of their words in common, the most alike first.

    Two sets that are so alike share one of their rarest words. So each tool is compared only with those that share
    one of as many rare words as it could lack (prefix filtering, as in the AllPairs join).
    """
    texts = [(tool.name, frozenset(tool.words)) for tool in server.tools]
    texts = sorted(((name, words) for name, words in texts if len(words) >= FEWEST_WORDS), key=lambda one: len(one[1]))
    common = Counter(word for _, words in texts for word in words)
    having: defaultdict[str, list[int]] = defaultdict(list)
    found: list[Pair] = []
    for number, (name, words) in enumerate(texts):
        shared = ceil(least * len(words) - _ROUNDING)
        rarest = sorted(words, key=lambda word: (common[word], word))[: len(words) - shared + 1]
        near = {other for word in rarest for other in having[word] if len(texts[other][1]) >= shared}
        for other in near:
            similarity = _similarity(words, texts[other][1])
            if similarity >= least and texts[other][0] != name:
                found.append(Pair(texts[other][0], name, round(similarity, 3)))
        for word in rarest:
            if len(having[word]) < CROWD:
                having[word].append(number)
    return sorted(found, key=lambda pair: (-pair.similarity, pair.a, pair.b))


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
