"""Embeddings: how similar in meaning the words of a request and of a tool are. All data comes from installed files."""

from collections.abc import Sequence

import numpy as np

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.tool_text import tool_text
from toolcharter.evaluate.word_vectors import Vector, WordVectors


class EmbeddingSelector:
    """Scores are cosines. The vector of a text is the mean of the vectors of its words, and is cached."""

    name = "embedding"

    def __init__(self) -> None:
        self._words = WordVectors()
        self._cache: dict[str, Vector] = {}

    def score(self, tools: Sequence[ListedTool], utterances: Sequence[str]) -> list[list[float]]:
        """One row for each utterance, with one score for each tool."""
        if not tools or not utterances:
            return [[] for _ in utterances]
        return (self._vectors(utterances) @ self._vectors([tool_text(tool) for tool in tools]).T).tolist()

    def _vectors(self, texts: Sequence[str]) -> Vector:
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        for text, tokens in zip(missing, self._words.tokens(missing), strict=True):
            mean = self._words.rows(tokens).mean(axis=0) if tokens else np.zeros(self._words.dimensions, np.float32)
            self._cache[text] = mean / max(float(np.linalg.norm(mean)), 1e-9)
        return np.stack([self._cache[text] for text in texts])
