"""Ranked search in the index, section by section, without scoring every document.

A document is as good as its best section, and better if its other sections have the words that this one lacks.
Any word counts, and a rare one more (BM25). Scoring costs about two microseconds a section, and a word that is in
nearly all of them says little: so the rarest words count, as many as can be scored. If even the rarest is in too many
sections, documents that have it in a heading, their title, path or tags come first, and the others follow by age.
"""

import difflib
import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from sqlite3 import SQLITE_INTERRUPT, Connection, Cursor, OperationalError

from mcp_guide.content.documents import Document
from mcp_guide.search.query import SearchQuery, parse_query
from mcp_guide.search.snippets import make_snippet
from mcp_guide.search.tables import PLACE_BITS, index_in_memory, read_texts
from toolcharter import Unavailable

MAX_RANKED = 4_000
"""Sections that are scored."""
MAX_SECONDS = 5.0
"""After this time the database is interrupted, so that one search does not stop those that wait for it."""
_STEPS_BETWEEN_CHECKS = 1_000
_OTHER_SECTIONS = 0.2
"""How much the words count that only other sections have."""
_SHARE, _SMOOTHING = 2.0, 4
"""How much the share of sections counts that have a word: a document about it says it throughout."""
_SECTIONS_PER_DOCUMENT = 10
"""About."""
_ABOUT = 0.2
"""How much the words in path, title, tags and description count once more, for the document as a whole."""
_MAX_ALSO = 2

_METADATA_COLUMNS = "{heading about} : "
_ABOUT_COLUMN = "about : "
_SIMILAR = (
    "SELECT term FROM vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ? "
    "ORDER BY doc DESC LIMIT 2000"
)
_DOCUMENT = f"words.rowid >> {PLACE_BITS}"
_SCORED = f"words.rowid, {_DOCUMENT}, documents.sections, rank"
_WITH_DOCUMENTS = f"FROM words JOIN documents ON documents.id = {_DOCUMENT} WHERE words MATCH ?"
_WORDS_ALONE = "FROM words WHERE words MATCH ?"


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that matches, with its best section. A higher score is better; 0 means that it was not scored."""

    path: str
    title: str
    snippet: str
    score: float
    anchor: str = ""
    """Of the section; empty for the text before the first heading."""
    heading: str = ""
    also: tuple[str, ...] = ()
    """The anchors of the next best sections."""
    text: str = ""
    """The text of the section."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The best hits after the offset."""

    hits: list[Hit]
    total: int
    """The number of documents; at most, for a word in very many of them."""
    is_relaxed: bool = False
    """Whether no document has all the words, and these have some of them."""
    progress: tuple[int, int] | None = None
    """While the index is being built: the number of documents in it, and of all documents."""


class _Found:
    """The scores of a document: of its sections, and of each term in it."""

    __slots__ = ("about", "best", "count", "matching", "sections")

    def __init__(self, count: int) -> None:
        self.count = count
        """The number of its sections."""
        self.sections: dict[int, float] = defaultdict(float)
        self.best: dict[str, float] = defaultdict(float)
        """The best score of each term."""
        self.matching: dict[str, int] = defaultdict(int)
        """The number of sections that have the term."""
        self.about = 0.0
        """The score of the terms in its path, title, tags and description."""

    def score(self, weights: Mapping[str, float]) -> float:
        """The score of the document. `weights` are higher for rare terms."""
        best = max(self.sections.values())
        others = sum(self.best.values()) - best
        share = sum(weights[term] * number / (self.count + _SMOOTHING) for term, number in self.matching.items())
        return best + _OTHER_SECTIONS * others + _SHARE * share + _ABOUT * self.about

    def ranked(self) -> list[int]:
        """The sections, the best first."""
        return sorted(self.sections, key=lambda section: (-self.sections[section], section))


class RankedSearch:
    """A search in some folders of an index; in all of them if None."""

    def __init__(self, index: Connection, folders: Sequence[str] | None = None) -> None:
        self._index = index
        self._where, self._bounds = _folder_condition(folders)

    def find(self, query: SearchQuery, limit: int, offset: int) -> SearchPage:
        """The documents with any of the words, the best first. Raises Unavailable if it takes long."""
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

    def best_sections(self, query: SearchQuery) -> list[int]:
        """The places of the sections of the only document, the best first."""
        found = self._score([term for _, term in self._counted(query)])
        return [section & ((1 << PLACE_BITS) - 1) for one in found.values() for section in one.ranked()]

    def similar_words(self, query: SearchQuery) -> list[str]:
        """Stems in the index that are written like the words of a query."""
        similar: list[str] = []
        for word in query.words:
            folded = word.lower()
            rows = self._index.execute(_SIMILAR, (folded[:1], f"{folded[:1]}\uffff", len(folded) - 2, len(folded) + 2))
            similar += difflib.get_close_matches(folded, [row[0] for row in rows], n=2, cutoff=0.7)
        return similar

    def _find(self, query: SearchQuery, limit: int, offset: int) -> SearchPage:
        counted = self._counted(query)
        if not counted:
            return SearchPage([], 0)
        excluded = self._excluded(query)
        if counted[0][0] > MAX_RANKED:
            return self._unscored(query, counted[0], excluded, limit, offset)
        taken, rows = list[str](), 0
        for count, term in counted:
            if taken and rows + count > MAX_RANKED:
                break
            taken.append(term)
            rows += count
        found = self._score(taken)
        # Counting them would take 10 ms for 100,000 documents.
        total = _SECTIONS_PER_DOCUMENT * self._index.execute("SELECT max(id) FROM documents").fetchone()[0]
        weights = {term: math.log(1 + total / count) for count, term in counted}
        scored = [(one.score(weights), document, one.ranked()) for document, one in found.items()]
        ranked = sorted((one for one in scored if one[1] not in excluded), key=lambda one: (-one[0], one[1]))
        has_all = any(len(found[document].best) == len(query.terms) for _, document, _ in ranked)
        is_relaxed = bool(ranked) and not has_all and len(taken) == len(counted)
        hits = [self._hit(query, *one) for one in ranked[offset : offset + limit]]
        return SearchPage(hits, len(ranked), is_relaxed=is_relaxed)

    def _counted(self, query: SearchQuery) -> list[tuple[int, str]]:
        """The terms that occur, the rarest first. A word that does not occur counts as the beginning of others."""
        counted: list[tuple[int, str]] = []
        for term, prefix in zip(query.terms, query.prefixes, strict=True):
            found = next(((count, form) for form in (term, prefix) if form and (count := self._count(form))), None)
            counted += [found] if found else []
        return sorted(counted)

    def _score(self, terms: Sequence[str]) -> dict[int, _Found]:
        """The scores of the documents with any of the terms."""
        found: dict[int, _Found] = {}
        for term in terms:
            for section, document, count, rank in self._match(_SCORED, term):
                one = found.setdefault(document, _Found(count))
                one.sections[section] -= rank
                one.matching[term] += 1
                one.best[term] = max(one.best[term], -rank)
            for document, rank in self._match(f"{_DOCUMENT}, rank", f"{_ABOUT_COLUMN}({term})"):
                found[document].about -= rank
        return found

    def _unscored(
        self, query: SearchQuery, counted: tuple[int, str], excluded: set[int], limit: int, offset: int
    ) -> SearchPage:
        """Documents with a frequent word: first those that have it in a heading or in what is said of them."""
        frequency, term = counted
        in_metadata = f"{_METADATA_COLUMNS}({term})"
        first: list[tuple[float, int, list[int]]] = []
        if 0 < self._count(in_metadata) <= MAX_RANKED:
            scored = self._score([in_metadata]).items()
            first = [(max(one.sections.values()), document, one.ranked()) for document, one in scored]
            first.sort(key=lambda one: (-one[0], one[1]))
        known = {document for _, document, _ in first} | excluded
        enough = offset + limit + len(known)
        rows = self._match(f"{_DOCUMENT} AS document, min(words.rowid)", term, "GROUP BY document LIMIT ?", enough)
        others = [(0.0, document, [section]) for document, section in rows if document not in known]
        ranked = [*(one for one in first if one[1] not in excluded), *others]
        documents = self._index.execute("SELECT count(*) FROM documents").fetchone()[0]
        total = min(frequency, documents) - len(excluded)  # at most: counting them would take as long as the search
        return SearchPage([self._hit(query, *one) for one in ranked[offset : offset + limit]], max(total, 0))

    def _excluded(self, query: SearchQuery) -> set[int]:
        """The documents that have an excluded term anywhere."""
        return {row[0] for term in query.excluded for row in self._match(_DOCUMENT, term)}

    def _count(self, text: str) -> int:
        return self._match("count(*)", text).fetchone()[0]

    def _match(self, columns: str, text: str, end: str = "", *more: int) -> Cursor:
        source = _WITH_DOCUMENTS if self._where or "documents." in columns else _WORDS_ALONE
        return self._index.execute(f"SELECT {columns} {source}{self._where} {end}", (text, *self._bounds, *more))

    def _hit(self, query: SearchQuery, score: float, document: int, sections: Sequence[int]) -> Hit:
        row = self._index.execute("SELECT path, title, sections FROM documents WHERE id = ?", (document,))
        path, title, count = row.fetchone()
        # In a document of one section, there is no other to distinguish it from.
        shown = sections[: _MAX_ALSO + 1]
        anchors = [self._anchor(section) for section in shown] if count > 1 else [""]
        texts = read_texts(self._index, sections[0])
        snippet = make_snippet((texts.body, texts.heading, texts.about), query.words)
        also = tuple(anchor for anchor in anchors[1:] if anchor)
        return Hit(path, title, snippet, round(score, 3), anchors[0], texts.heading, also, texts.body)

    def _anchor(self, section: int) -> str:
        return self._index.execute("SELECT anchor FROM sections WHERE id = ?", (section,)).fetchone()[0]


def rank_sections(document: Document, query: str) -> list[int]:
    """The places of the sections of a document that say something about a question, the best first."""
    parsed = parse_query(query)
    with closing(index_in_memory([document])) as index:
        return RankedSearch(index).best_sections(parsed)


def _folder_condition(folders: Sequence[str] | None) -> tuple[str, tuple[str, ...]]:
    """A SQL condition on paths and its parameters. '0' is the character after '/'."""
    if folders is None or any(folder in ("", ".") for folder in folders):
        return "", ()
    conditions = " OR ".join("(documents.path > ? AND documents.path < ?)" for _ in folders)
    bounds = tuple(bound for folder in folders for bound in (f"{folder.rstrip('/')}/", f"{folder.rstrip('/')}0"))
    return f" AND ({conditions or '0'})", bounds
