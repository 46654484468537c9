"""Ranked search in the index, without scoring every document.

Scoring costs about two microseconds a document. For a word that is in nearly all documents that is too slow and
says little. So if no document has all words, the rarer words count. If there are still too many documents, those
with the words in name, title, tags or description come first, and the others follow by age.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from mcp_guide.content.search_query import SearchQuery

MAX_RANKED = 3_000

_METADATA_COLUMNS = "{name title tags description} : "
_FROM = "FROM words JOIN documents ON documents.id = words.rowid WHERE words MATCH ?"
_SELECT = "SELECT documents.path, documents.title, snippet(words, -1, '', '', '...', 24), "


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


class RankedSearch:
    """A search in some folders of an index; in all of them if None."""

    def __init__(self, index: Connection, folders: Sequence[str] | None) -> None:
        self._index = index
        self._where, self._bounds = _folder_condition(folders)

    def find(self, query: SearchQuery, limit: int, offset: int) -> SearchPage:
        """The documents with all the words; if there are none, those with any."""
        all_terms = query.to_fts5("AND")
        if total := self._count(all_terms):
            return SearchPage(self._best(all_terms, total, limit, offset), total)
        if len(query.terms) == 1:
            return SearchPage([], 0)
        any_term = self._with_rarest_terms(query).to_fts5("OR")
        total = self._count(any_term)
        return SearchPage(self._best(any_term, total, limit, offset), total, is_relaxed=total > 0)

    def _with_rarest_terms(self, query: SearchQuery) -> SearchQuery:
        """The query with as many terms, the rarest first, as can be scored; at least one that occurs."""
        counted = sorted((self._count(term), term) for term in query.terms)
        taken, documents = list[str](), 0
        for count, term in counted:
            if documents and documents + count > MAX_RANKED:
                break
            taken.append(term)
            documents += count
        return SearchQuery(tuple(taken), query.excluded)

    def _best(self, text: str, total: int, limit: int, offset: int) -> list[Hit]:
        if total <= MAX_RANKED:
            return self._hits(text, "rank", limit, offset)
        in_metadata = f"{_METADATA_COLUMNS}({text})"
        first = self._count(in_metadata)
        if not 0 < first <= MAX_RANKED:
            return self._hits(text, "words.rowid", limit, offset)
        hits = self._hits(in_metadata, "rank", limit, offset)
        others = f"({text}) NOT ({in_metadata})"
        return hits + self._hits(others, "words.rowid", limit - len(hits), max(0, offset - first))

    def _count(self, text: str) -> int:
        source = _FROM if self._where else "FROM words WHERE words MATCH ?"
        return self._index.execute(f"SELECT count(*) {source}{self._where}", (text, *self._bounds)).fetchone()[0]

    def _hits(self, text: str, order: str, limit: int, offset: int) -> list[Hit]:
        score = "rank" if order == "rank" else "0.0"
        statement = f"{_SELECT}{score} {_FROM}{self._where} ORDER BY {order} LIMIT ? OFFSET ?"
        rows = self._index.execute(statement, (text, *self._bounds, limit, offset))
        return [Hit(path, title, " ".join(part.split()), round(-rank, 3)) for path, title, part, rank in rows]


def _folder_condition(folders: Sequence[str] | None) -> tuple[str, tuple[str, ...]]:
    """A SQL condition on paths and its parameters. '0' is the character after '/'."""
    if folders is None or any(folder in ("", ".") for folder in folders):
        return "", ()
    conditions = " OR ".join("(documents.path > ? AND documents.path < ?)" for _ in folders)
    bounds = tuple(bound for folder in folders for bound in (f"{folder.rstrip('/')}/", f"{folder.rstrip('/')}0"))
    return f" AND ({conditions or '0'})", bounds
