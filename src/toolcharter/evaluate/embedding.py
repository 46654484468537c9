"""Embeddings: how similar in meaning the words of a request and of a tool are. All data comes from installed files."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import numpy as stored
from tokenizers import Tokenizer

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.tool_text import tool_text
from toolcharter.evaluate.words import content_words

# The files of the `wordllama` package. Its code is not imported: it changes the logging of the whole process, and its
# loader looks for the tokenizer in the wrong folder and then on the network.
_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

Vector = np.ndarray[Any, np.dtype[np.float32]]


class EmbeddingSelector:
    """Scores are cosines. The vector of a text is the mean of the vectors of its words, and is cached."""

    name = "embedding"

    def __init__(self) -> None:
        spec = find_spec(_PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise ImportError(f"the package {_PACKAGE!r} is missing")
        folder = Path(spec.submodule_search_locations[0])
        weights: dict[str, Vector] = stored.load((folder / _WEIGHTS).read_bytes())
        self._table = weights["embedding.weight"].astype(np.float32)
        self._tokenizer: Any = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._cache: dict[str, Vector] = {}

    def score(self, tools: Sequence[ListedTool], utterances: Sequence[str]) -> list[list[float]]:
        """One row for each utterance, with one score for each tool."""
        if not tools or not utterances:
            return [[] for _ in utterances]
        return (self._vectors(utterances) @ self._vectors([tool_text(tool) for tool in tools]).T).tolist()

    def _vectors(self, texts: Sequence[str]) -> Vector:
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        # Stop words are in every text, and would make all means alike.
        texts_of_words = [" ".join(content_words(text)) or text for text in missing]
        encoded = self._tokenizer.encode_batch(texts_of_words, add_special_tokens=False)
        for text, tokens in zip(missing, encoded, strict=True):
            mean: Vector = self._table[tokens.ids].mean(axis=0) if tokens.ids else np.zeros_like(self._table[0])
            self._cache[text] = mean / max(float(np.linalg.norm(mean)), 1e-9)
        return np.stack([self._cache[text] for text in texts])
