"""Asking the index: which documents are best, without weighing every document there is.

Weighing costs about two microseconds a document, which is too much where a word is in nearly all of them, and says
little there. So of several words in no document together the rarer ones count; and where there are still too many
documents, those with the words in their name, title, tags or description come first, and the others follow by age.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from mcp_guide.content.search_query import Query

MOST_WEIGHED = 3_000

_ABOUT = "{name title tags description} : "
_FROM = "FROM words JOIN documents ON documents.id = words.rowid WHERE words MATCH ?"
_SHOWN = "SELECT documents.path, documents.title, snippet(words, -1, '', '', '...', 24), "


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; the higher the score, the better. 0 is one that was not weighed."""

    path: str
    title: str
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The best documents after the offset."""

    hits: list[Hit]
    total: int
    is_relaxed: bool = False
    """Whether no document has all the words, and these have some."""


class Asked:
    """An index, and the folders to look in: everywhere, if None."""

    def __init__(self, index: Connection, folders: Sequence[str] | None) -> None:
        self._index = index
        self._where, self._bounds = _below(folders)

    def answer(self, query: Query, limit: int, offset: int) -> SearchPage:
        """The documents with all the words; where none has all, those with any."""
        every = query.text("AND")
        if total := self._count(every):
            return SearchPage(self._best(every, total, limit, offset), total)
        if len(query.wanted) == 1:
            return SearchPage([], 0)
        some = self._rarer(query).text("OR")
        total = self._count(some)
        return SearchPage(self._best(some, total, limit, offset), total, is_relaxed=total > 0)

    def _rarer(self, query: Query) -> Query:
        """As many words, the rarest first, as can be weighed; at least one that is there."""
        counted = sorted((self._count(word), word) for word in query.wanted)
        taken, seen = list[str](), 0
        for count, word in counted:
            if seen and seen + count > MOST_WEIGHED:
                break
            taken.append(word)
            seen += count
        return Query(tuple(taken), query.unwanted)

    def _best(self, text: str, total: int, limit: int, offset: int) -> list[Hit]:
        if total <= MOST_WEIGHED:
            return self._hits(text, "rank", limit, offset)
        about = f"{_ABOUT}({text})"
        first = self._count(about)
        if not 0 < first <= MOST_WEIGHED:
            return self._hits(text, "words.rowid", limit, offset)
        hits = self._hits(about, "rank", limit, offset)
        others = f"({text}) NOT ({about})"
        return hits + self._hits(others, "words.rowid", limit - len(hits), max(0, offset - first))

    def _count(self, text: str) -> int:
        source = _FROM if self._where else "FROM words WHERE words MATCH ?"
        return self._index.execute(f"SELECT count(*) {source}{self._where}", (text, *self._bounds)).fetchone()[0]

    def _hits(self, text: str, order: str, limit: int, offset: int) -> list[Hit]:
        score = "rank" if order == "rank" else "0.0"
        question = f"{_SHOWN}{score} {_FROM}{self._where} ORDER BY {order} LIMIT ? OFFSET ?"
        found = self._index.execute(question, (text, *self._bounds, limit, offset))
        return [Hit(path, title, " ".join(part.split()), round(-weight, 3)) for path, title, part, weight in found]


def _below(folders: Sequence[str] | None) -> tuple[str, tuple[str, ...]]:
    """A condition on paths. '0' is the character after '/'."""
    if folders is None or any(folder in ("", ".") for folder in folders):
        return "", ()
    conditions = " OR ".join("(documents.path > ? AND documents.path < ?)" for _ in folders)
    bounds = tuple(bound for folder in folders for bound in (f"{folder.rstrip('/')}/", f"{folder.rstrip('/')}0"))
    return f" AND ({conditions or '0'})", bounds
