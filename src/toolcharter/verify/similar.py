"""Finds tools with nearly the same description, without comparing all pairs.

The words of a text are sorted from rare to common. Two texts that share most of their words must share one of the first
few, so only those are looked up in an index (a prefix filter). The result is exact, except for the two limits below,
which matter for servers with hundreds of tools that all say the same.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from toolcharter.verify.model import Server, Tool

_WORD = re.compile(r"[\u2e80-\U0001ffff]|[^\W\u2e80-\U0001ffff]+")
"""A word, or one character of a script without spaces."""
MIN_SIMILARITY = 0.8
MIN_WORDS = 4
"""Shorter texts are similar by chance. Other rules find descriptions that are too short."""
MAX_CANDIDATES = 64
"""A tool is compared with this many of the latest tools that share a rare word."""
MAX_PAIRS = 5
"""A tool is paired with at most this many earlier tools."""


class Pair(NamedTuple):
    """Two tools with similar descriptions; a similarity of 1 means equal."""

    a: str
    b: str
    similarity: float


def near_duplicates(server: Server, least: float = MIN_SIMILARITY) -> list[Pair]:
    """The pairs of tools with at least this similarity, each pair once, the most similar first."""
    same: dict[tuple[str, ...], Tool] = {}  # the first tool with these words
    pairs: list[Pair] = []
    for tool in server.tools:
        words = tuple(_WORD.findall(tool.prose.lower()))
        if len(words) < MIN_WORDS:
            continue
        first = same.setdefault(words, tool)
        if first is not tool:
            pairs.append(Pair(first.name, tool.name, 1.0))
    pairs += _near(list(same.values()), [_features(words) for words in same], least)
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.a, pair.b))


def _near(tools: Sequence[Tool], features: Sequence[frozenset[str]], least: float) -> Iterator[Pair]:
    common = Counter(feature for one in features for feature in one)
    index: defaultdict[str, list[int]] = defaultdict(list)
    for number, own in enumerate(features):
        rare_first = sorted(own, key=lambda feature: (common[feature], feature))
        prefix = rare_first[: len(own) - math.ceil(least * len(own)) + 1]
        # A word that no other text has cannot be shared.
        prefix = [feature for feature in prefix if common[feature] > 1]
        candidates = {other for feature in prefix for other in index[feature][-MAX_CANDIDATES:]}
        yield from _closest(tools, features, number, candidates, least)
        for feature in prefix:
            index[feature].append(number)


def _closest(
    tools: Sequence[Tool], features: Sequence[frozenset[str]], number: int, candidates: set[int], least: float
) -> Iterator[Pair]:
    own = features[number]
    found: list[tuple[float, int]] = []
    for other in candidates:
        theirs = features[other]
        if min(len(own), len(theirs)) < least * max(len(own), len(theirs)):
            continue
        shared = len(own & theirs)
        similarity = shared / (len(own) + len(theirs) - shared)
        if similarity >= least:
            found.append((-similarity, other))
    for similarity, other in sorted(found)[:MAX_PAIRS]:
        yield Pair(tools[other].name, tools[number].name, round(-similarity, 3))


def _features(words: Sequence[str]) -> frozenset[str]:
    """The words, and the pairs of neighbouring words, so that the order counts."""
    return frozenset(words) | frozenset(f"{a} {b}" for a, b in pairwise(words))
