"""Vectors of words, from the files of the `wordllama` package. Texts are compared by the mean of their words."""

import json
import struct
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from toolcharter.evaluate.words import content_words

# The code of the package is not imported: it changes the logging of the whole process, and its loader looks for the
# tokenizer in the wrong folder and then on the network.
_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

Vector = np.ndarray[Any, np.dtype[np.float32]]


class WordVectors:
    """The table is read from its file where it is needed, so it takes little memory. Raises ImportError."""

    def __init__(self) -> None:
        spec = find_spec(_PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise ImportError(f"the package {_PACKAGE!r} is missing")
        folder = Path(spec.submodule_search_locations[0])
        self._table = _map_table(folder / _WEIGHTS)
        self._tokenizer: Any = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._table.shape[1]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text. Stop words are left out: they are in every text, and would make all means alike."""
        words = [" ".join(content_words(text)) or text for text in texts]
        return [encoded.ids for encoded in self._tokenizer.encode_batch(words, add_special_tokens=False)]

    def rows(self, tokens: Sequence[int]) -> Vector:
        """The vector of each token."""
        return self._table[tokens].astype(np.float32)


def _map_table(file: Path) -> np.ndarray[Any, np.dtype[np.float16]]:
    """The one table of a file in the safetensors format: the length of a header, the header, the data."""
    with file.open("rb") as content:
        (length,) = struct.unpack("<Q", content.read(8))
        (about,) = json.loads(content.read(length)).values()
    return np.memmap(file, np.float16, "r", 8 + length + about["data_offsets"][0], tuple(about["shape"]))
