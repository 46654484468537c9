"""Vectors of texts, saved in a file, so that a text is embedded only once. Without the file, only time is lost."""

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

Vector = np.ndarray[Any, np.dtype[np.float32]]

_MAX_VECTORS = 50_000  # 75 MB; the oldest are removed first


class VectorCache:
    """A file that cannot be read or written is ignored."""

    def __init__(self, model: str, file: Path | None = None) -> None:
        self._model = model
        self._file = file or user_cache_path("toolcharter") / "vectors.db"

    def read(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vectors of those texts that have one."""
        try:
            with closing(self._connect()) as connection:
                select = "SELECT vector FROM vectors WHERE digest = ?"
                rows = {text: connection.execute(select, (self._digest(text),)).fetchone() for text in texts}
        except (sqlite3.Error, OSError):
            return {}
        return {text: np.frombuffer(row[0], np.float32) for text, row in rows.items() if row}

    def write(self, vectors: Mapping[str, Vector]) -> None:
        """Save vectors, and remove the oldest above the limit."""
        rows = [(self._digest(text), vector.tobytes()) for text, vector in vectors.items()]
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO vectors (digest, vector) VALUES (?, ?)", rows)
                connection.execute("DELETE FROM vectors WHERE id <= (SELECT max(id) FROM vectors) - ?", (_MAX_VECTORS,))
        except (sqlite3.Error, OSError):
            return

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._file, timeout=10)
        connection.execute("CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, digest UNIQUE, vector)")
        return connection

    def _digest(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._model}\0{text}".encode("utf-8", "surrogatepass")).digest()
