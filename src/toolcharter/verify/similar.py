"""Tools whose descriptions are nearly the same, found without comparing all pairs.

The words of a text are put in order from rare to common. Two texts that share most of their words must share one of
the first few in that order, so only those are looked up in an index (a prefix filter). The answer is exact, but for the
two limits below, which matter in servers with hundreds of tools that all say the same.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from toolcharter.verify.subject import Server, Tool

_WORD = re.compile(r"[\u2e80-\U0001ffff]|[^\W\u2e80-\U0001ffff]+")
"""A word, or one sign of a script that has no spaces."""
LEAST_SIMILARITY = 0.8
LEAST_WORDS = 4
"""Shorter texts are alike by chance; whether they are too short is asked by another rule."""
LATEST = 64
"""Of the tools that share a rare word with a tool, only so many of the latest are compared with it."""
CLOSEST = 5
"""A tool is paired with so many earlier ones at most."""


class Pair(NamedTuple):
    """Two tools that say nearly the same; 1 is the same."""

    a: str
    b: str
    similarity: float


def near_duplicates(server: Server, least: float = LEAST_SIMILARITY) -> list[Pair]:
    """The pairs of tools whose descriptions are at least so similar, each pair once, the closest first."""
    same: dict[tuple[str, ...], Tool] = {}  # the first tool with these words
    pairs: list[Pair] = []
    for tool in server.tools:
        words = tuple(_WORD.findall(tool.prose.lower()))
        if len(words) < LEAST_WORDS:
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
        # A word that nobody else has leads nowhere.
        prefix = [feature for feature in prefix if common[feature] > 1]
        candidates = {other for feature in prefix for other in index[feature][-LATEST:]}
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
    for similarity, other in sorted(found)[:CLOSEST]:
        yield Pair(tools[other].name, tools[number].name, round(-similarity, 3))


def _features(words: Sequence[str]) -> frozenset[str]:
    """The words, and the pairs of neighbours: the order counts too."""
    return frozenset(words) | frozenset(f"{a} {b}" for a, b in pairwise(words))
