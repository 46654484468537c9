"""The file of the search beside the charter: analyses of tools, and the words for which tools were used.

Without the file only time is lost, so one that is damaged is made anew, and one that cannot be written is not used.
"""

import contextlib
import json
import logging
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from toolcharter.govern.search.analysis import Analysis

logger = logging.getLogger(__name__)

_TABLES = """
CREATE TABLE IF NOT EXISTS analyses (digest TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS used_words (server TEXT, tool TEXT, word TEXT, times INTEGER NOT NULL,
    PRIMARY KEY (server, tool, word)) WITHOUT ROWID;
"""
MAX_WORDS = 40
"""How many words are kept for a tool. Those that were used most stay."""
MAX_TOOLS = 2_000
"""For how many tools words are kept."""
_WAIT_SECONDS = 1.0

UsedWords = Mapping[tuple[str, str], Counter[str]]
"""How often a tool, by server and name, was used after a search with a word."""


class SearchFile:
    """An SQLite file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read_analyses(self) -> dict[str, Analysis]:
        """All analyses by digest."""
        found: dict[str, Analysis] = {}
        for digest, content in self._run(lambda file: file.execute("SELECT digest, content FROM analyses").fetchall()):
            with contextlib.suppress(ValueError, TypeError, AttributeError):
                found[digest] = _analysis(from_json(content))
        return found

    def write_analyses(self, new: Mapping[str, Analysis], used: Collection[str]) -> None:
        """Add new analyses, and remove those that are no longer used."""
        rows = [(digest, json.dumps([dict(one.words), list(one.tokens)])) for digest, one in new.items()]

        def write(file: sqlite3.Connection) -> None:
            known = {digest for (digest,) in file.execute("SELECT digest FROM analyses")}
            file.executemany("DELETE FROM analyses WHERE digest = ?", [(one,) for one in known.difference(used)])
            file.executemany("INSERT OR REPLACE INTO analyses VALUES (?, ?)", rows)

        self._run(write)

    def read_used_words(self) -> dict[tuple[str, str], Counter[str]]:
        """The words for which tools were used."""
        found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        select = "SELECT server, tool, word, times FROM used_words"
        for server, tool, word, times in self._run(lambda file: file.execute(select).fetchall()):
            found[server, tool][word] = times
        return dict(found)

    def add_used_words(self, server: str, tool: str, words: Collection[str]) -> None:
        """Count these words for a tool."""
        key = (server, tool)

        def write(file: sqlite3.Connection) -> None:
            file.executemany(
                "INSERT INTO used_words VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET times = times + 1",
                [(*key, word) for word in words],
            )
            file.execute(
                "DELETE FROM used_words WHERE server = ? AND tool = ? AND word NOT IN (SELECT word FROM used_words "
                "WHERE server = ? AND tool = ? ORDER BY times DESC, word LIMIT ?)",
                (*key, *key, MAX_WORDS),
            )
            file.execute(
                "DELETE FROM used_words WHERE (server, tool) NOT IN (SELECT server, tool FROM used_words "
                "GROUP BY server, tool ORDER BY (server = ? AND tool = ?) DESC, sum(times) DESC LIMIT ?)",
                (*key, MAX_TOOLS),
            )

        self._run(write)

    def _run(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Do something with the file; nothing, and an empty result, if that fails."""
        try:
            with closing(self._open()) as file, file:
                return work(file)
        except sqlite3.OperationalError as error:
            logger.debug("%s is not used: %s", self._path, error)
        except sqlite3.DatabaseError as error:
            logger.warning("%s is damaged (%s). It is made anew.", self._path, error)
            with contextlib.suppress(OSError):
                self._path.unlink()
        return ()

    def _open(self) -> sqlite3.Connection:
        with contextlib.suppress(OSError):
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self._path, timeout=_WAIT_SECONDS)
        try:
            # What a power failure damages is made anew.
            connection.executescript(f"PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; {_TABLES}")
        except BaseException:
            connection.close()
            raise
        return connection


def _analysis(content: Any) -> Analysis:
    """Raises ValueError or TypeError for what is not one."""
    words, tokens = cast(tuple[Any, Any], content)
    fields = {str(name): [str(word) for word in found] for name, found in words.items()}
    return Analysis(fields, [int(token) for token in tokens])
