"""MiniLM: a small transformer that compares the meanings of texts. It runs in numpy, and nothing is downloaded."""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import numpy as stored
from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingTypeStubs]
from tokenizers import Tokenizer

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.minilm_package import MODULE
from toolcharter.evaluate.tool_text import split_name
from toolcharter.evaluate.vector_cache import Vector, VectorCache

_MAX_TOKENS = 256  # what the model was made for
_LAYERS, _HEADS, _EPSILON = 6, 12, 1e-12
_BATCH_TOKENS = 1024  # tokens in one pass: more are not faster, and need more memory


class MiniLmSelector:
    """Scores are cosines. The vectors of all texts are cached in a file."""

    name = "minilm"

    def __init__(self, cache: VectorCache | None = None) -> None:
        spec = find_spec(MODULE)
        if spec is None or not spec.submodule_search_locations:
            raise ImportError(f"the package {MODULE!r} is missing")
        self._folder = Path(spec.submodule_search_locations[0]) / "model"
        self._cache = cache or VectorCache(MODULE)

    def score(self, tools: Sequence[ListedTool], utterances: Sequence[str]) -> list[list[float]]:
        """One row for each utterance, with one score for each tool."""
        if not tools or not utterances:
            return [[] for _ in utterances]
        texts = [_text(tool) for tool in tools]
        vectors = self._vectors([*texts, *utterances])
        rows, columns = ([vectors[text] for text in group] for group in (utterances, texts))
        return (np.stack(rows) @ np.stack(columns).T).tolist()

    @cached_property
    def _model(self) -> "_Transformer":
        return _Transformer(self._folder)

    def _vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        vectors = self._cache.read(dict.fromkeys(texts))
        if missing := [text for text in dict.fromkeys(texts) if text not in vectors]:
            # Several threads take ten times as long on a busy machine: the products are small, and they wait spinning.
            with threadpool_limits(1):
                new = self._model.embed(missing)
            self._cache.write(new)
            vectors |= new
        return vectors


def _text(tool: ListedTool) -> str:
    """Name, title and description. Parameters would not fit into the tokens that the model reads."""
    return "\n".join(part for part in (split_name(tool.name), tool.title, tool.description) if part)


class _Transformer:
    """The encoder of BERT, as small as it can be: no padding, because texts of one length are embedded together."""

    def __init__(self, folder: Path) -> None:
        self._weights: dict[str, Vector] = stored.load((folder / "model.safetensors").read_bytes())
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> dict[str, Vector]:
        """One vector of length 1 for each text: the mean of the last layer."""
        by_length: defaultdict[int, list[tuple[str, list[int]]]] = defaultdict(list)
        for text, tokens in zip(texts, self._tokenizer.encode_batch(list(texts)), strict=True):
            by_length[len(tokens.ids)].append((text, tokens.ids))
        vectors: dict[str, Vector] = {}
        for length, group in by_length.items():
            size = max(1, _BATCH_TOKENS // length)
            for start in range(0, len(group), size):
                batch = group[start : start + size]
                means: Vector = self._encode(np.array([ids for _, ids in batch])).mean(axis=1)
                means /= np.linalg.norm(means, axis=1, keepdims=True)
                vectors |= {text: vector for (text, _), vector in zip(batch, means, strict=True)}
        return vectors

    def _encode(self, ids: np.ndarray[Any, np.dtype[np.int64]]) -> Vector:
        words, places, kinds = (
            self._weights[f"embeddings.{table}_embeddings.weight"] for table in ("word", "position", "token_type")
        )
        state = self._normalize(words[ids] + places[: ids.shape[1]] + kinds[0], "embeddings")
        for layer in range(_LAYERS):
            name = f"encoder.layer.{layer}"
            attention = self._linear(self._attend(state, f"{name}.attention.self"), f"{name}.attention.output.dense")
            state = self._normalize(state + attention, f"{name}.attention.output")
            inner = _gelu(self._linear(state, f"{name}.intermediate.dense"))
            state = self._normalize(state + self._linear(inner, f"{name}.output.dense"), f"{name}.output")
        return state

    def _attend(self, state: Vector, name: str) -> Vector:
        count, length, width = state.shape
        query, key, value = (
            self._linear(state, f"{name}.{part}").reshape(count, length, _HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        weights: Vector = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(width / _HEADS))
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value).transpose(0, 2, 1, 3).reshape(count, length, width)

    def _linear(self, state: Vector, name: str) -> Vector:
        count, length, width = state.shape
        # One large product for the whole batch is faster than one for each text.
        product = state.reshape(-1, width) @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return product.reshape(count, length, -1)

    def _normalize(self, state: Vector, name: str) -> Vector:
        centered: Vector = state - state.mean(axis=-1, keepdims=True)
        scale = np.sqrt(np.square(centered).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        return centered / scale * self._weights[f"{name}.LayerNorm.weight"] + self._weights[f"{name}.LayerNorm.bias"]


def _gelu(x: Vector) -> Vector:
    """GELU with the error function of Abramowitz and Stegun 7.1.26, which numpy does not have; exact to 2e-7."""
    size = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * size)
    tail = np.float32(1.061405429) * t
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail = (tail + np.float32(coefficient)) * t
    error: Vector = np.copysign(1 - tail * np.exp(-size * size), x)
    return x * np.float32(0.5) * (1 + error)
