"""Tools and servers by the meaning of their words: cosines of means, in which rare tokens count more."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from toolcharter.evaluate.word_vectors import Vector, WordVectors


class MeaningRanking:
    """The vectors of all tools. That of a server is the mean of its tools."""

    def __init__(self, words: WordVectors, tokens: Sequence[Sequence[int]], servers: Sequence[int]) -> None:
        """`tokens` and the number of its server for each tool."""
        self._words = words
        known = Counter(token for one in tokens for token in set(one))
        self._weights = {token: math.log(1 + len(tokens) / (1 + count)) for token, count in known.items()}
        self._new = math.log(1 + len(tokens))
        """The weight of a token that no tool has."""
        self._tools = np.zeros((len(tokens), words.dimensions), np.float32)
        for number, one in enumerate(tokens):
            self._tools[number] = self._vector(one)
        sums = np.zeros((max(servers, default=-1) + 1, words.dimensions), np.float32)
        np.add.at(sums, np.array(servers, np.intp), self._tools)
        self._servers = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)

    def rank(self, query: str, limit: int) -> tuple[list[int], list[int]]:
        """The numbers of the best tools, and of all servers, best first."""
        (tokens,) = self._words.tokens([query])
        vector = self._vector(tokens)
        if not vector.any():
            return [], []
        # Not a product with `@`: its threads would wait spinning, which takes ten times as long on a busy machine.
        scores = np.einsum("ij,j->i", self._tools, vector)
        near = np.argpartition(-scores, limit)[:limit] if limit < len(scores) else np.arange(len(scores))
        best = near[np.lexsort((near, -scores[near]))]
        return best.tolist(), np.argsort(-np.einsum("ij,j->i", self._servers, vector), kind="stable").tolist()

    def _vector(self, tokens: Sequence[int]) -> Vector:
        if not tokens:
            return np.zeros(self._words.dimensions, np.float32)
        weights = np.array([self._weights.get(token, self._new) for token in tokens], np.float32)
        vector = weights @ self._words.rows(tokens)
        return vector / max(float(np.linalg.norm(vector)), 1e-9)
