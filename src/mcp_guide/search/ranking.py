"""Ranked search in the index, without scoring every document.

Scoring costs about two microseconds a document. For a word that is in nearly all documents that is too slow and
says little. So if no document has all words, the rarer words count. If there are still too many documents, those
with the words in name, title, tags or description come first, and the others follow by age.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from sqlite3 import SQLITE_INTERRUPT, Connection, Cursor, OperationalError

from mcp_guide.search.query import SearchQuery
from mcp_guide.search.snippets import make_snippet
from mcp_guide.search.tables import read_texts
from toolcharter import Unavailable

MAX_RANKED = 3_000
MAX_SECONDS = 5.0
"""After this time the database is interrupted, so that one search does not stop those that wait for it."""
_STEPS_BETWEEN_CHECKS = 1_000

_METADATA_COLUMNS = "{name title tags description} : "
_FROM = "FROM words JOIN documents ON documents.id = words.rowid WHERE words MATCH ?"

_Row = tuple[int, str, str, float]
"""The id, path, title and rank of a document."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that matches. A higher score is better; 0 means that it was not scored."""

    path: str
    title: str
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The best hits after the offset."""

    hits: list[Hit]
    total: int
    is_relaxed: bool = False
    """Whether no document has all the words, and these have some of them."""
    progress: tuple[int, int] | None = None
    """While the index is being built: the number of documents in it, and of all documents."""


class RankedSearch:
    """A search in some folders of an index; in all of them if None."""

    def __init__(self, index: Connection, folders: Sequence[str] | None) -> None:
        self._index = index
        self._where, self._bounds = _folder_condition(folders)

    def find(self, query: SearchQuery, limit: int, offset: int) -> SearchPage:
        """The documents with all the words; if there are none, those with any. Raises Unavailable if it takes long."""
        deadline = time.monotonic() + MAX_SECONDS
        self._index.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_CHECKS)
        try:
            return self._find(query, limit, offset)
        except OperationalError as error:
            if error.sqlite_errorcode != SQLITE_INTERRUPT:
                raise
            raise Unavailable(
                f"The search took longer than {MAX_SECONDS:g} seconds. Use fewer or rarer words."
            ) from None
        finally:
            self._index.set_progress_handler(None, 0)

    def _find(self, query: SearchQuery, limit: int, offset: int) -> SearchPage:
        all_terms = query.to_fts5("AND")
        if total := self._count(all_terms):
            return SearchPage(self._best(all_terms, query, total, limit, offset), total)
        if len(query.terms) == 1:
            return SearchPage([], 0)
        any_term = self._with_rarest_terms(query).to_fts5("OR")
        total = self._count(any_term)
        return SearchPage(self._best(any_term, query, total, limit, offset), total, is_relaxed=total > 0)

    def _with_rarest_terms(self, query: SearchQuery) -> SearchQuery:
        """The query with as many terms, the rarest first, as can be scored; at least one that occurs."""
        counted = sorted((self._count(term), term) for term in query.terms)
        taken, documents = list[str](), 0
        for count, term in counted:
            if documents and documents + count > MAX_RANKED:
                break
            taken.append(term)
            documents += count
        return query._replace(terms=tuple(taken))

    def _best(self, text: str, query: SearchQuery, total: int, limit: int, offset: int) -> list[Hit]:
        rows = self._best_rows(text, total, limit, offset)
        return [Hit(path, title, self._snippet(row_id, query), round(-rank, 3)) for row_id, path, title, rank in rows]

    def _best_rows(self, text: str, total: int, limit: int, offset: int) -> list[_Row]:
        if total <= MAX_RANKED:
            return self._ranked_rows(text, limit, offset)
        in_metadata = f"{_METADATA_COLUMNS}({text})"
        first = self._count(in_metadata)
        if not 0 < first <= MAX_RANKED:
            return self._oldest_rows(text, limit, offset)
        rows = self._ranked_rows(in_metadata, limit, offset)
        others = f"({text}) NOT ({in_metadata})"
        return rows + self._oldest_rows(others, limit - len(rows), max(0, offset - first))

    def _count(self, text: str) -> int:
        return self._match("count(*)", text).fetchone()[0]

    def _match(self, columns: str, text: str) -> Cursor:
        source = _FROM if self._where else "FROM words WHERE words MATCH ?"
        return self._index.execute(f"SELECT {columns} {source}{self._where}", (text, *self._bounds))

    def _ranked_rows(self, text: str, limit: int, offset: int) -> list[_Row]:
        """The best rows. Sorted here: SQLite would evaluate the query twice to sort by rank."""
        scored = self._match("words.rowid, rank", text).fetchall()
        scored.sort(key=itemgetter(1, 0))
        statement = "SELECT path, title FROM documents WHERE id = ?"
        return [
            (row_id, *self._index.execute(statement, (row_id,)).fetchone(), rank)
            for row_id, rank in scored[offset : offset + limit]
        ]

    def _oldest_rows(self, text: str, limit: int, offset: int) -> list[_Row]:
        columns = "words.rowid, documents.path, documents.title, 0.0"
        statement = f"SELECT {columns} {_FROM}{self._where} ORDER BY words.rowid LIMIT ? OFFSET ?"
        return self._index.execute(statement, (text, *self._bounds, limit, offset)).fetchall()

    def _snippet(self, row_id: int, query: SearchQuery) -> str:
        texts = read_texts(self._index, row_id)
        return make_snippet(texts[::-1], query.words)


def _folder_condition(folders: Sequence[str] | None) -> tuple[str, tuple[str, ...]]:
    """A SQL condition on paths and its parameters. '0' is the character after '/'."""
    if folders is None or any(folder in ("", ".") for folder in folders):
        return "", ()
    conditions = " OR ".join("(documents.path > ? AND documents.path < ?)" for _ in folders)
    bounds = tuple(bound for folder in folders for bound in (f"{folder.rstrip('/')}/", f"{folder.rstrip('/')}0"))
    return f" AND ({conditions or '0'})", bounds
