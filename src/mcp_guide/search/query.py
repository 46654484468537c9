"""Search queries of people and agents, turned into queries of SQLite FTS5. Any text is safe."""

import re
from typing import NamedTuple

from mcp_guide.content.patterns import quote_text
from mcp_guide.search.words import ends_unspaced, query_form
from toolcharter import InvalidArguments

MAX_QUERY_LENGTH = 1_000
MAX_TERMS = 32
_MIN_PREFIX_LENGTH = 2

_TERM = re.compile(r'(-?)"([^"]*)"?|(\S+)')


class SearchQuery(NamedTuple):
    """The terms to find and the terms to exclude, each quoted, and the words to show."""

    terms: tuple[str, ...]
    excluded: tuple[str, ...]
    words: tuple[str, ...]
    """The terms to find, as the person wrote them."""

    def to_fts5(self, operator: str) -> str:
        """All terms (`AND`) or any of them (`OR`), without the excluded ones."""
        terms = f" {operator} ".join(self.terms)
        return f"({terms}) NOT ({' OR '.join(self.excluded)})" if self.excluded else terms


def parse_query(text: str) -> SearchQuery:
    """A word matches as a prefix, `"a phrase"` exactly, `-word` excludes. Raises InvalidArguments."""
    if len(text) > MAX_QUERY_LENGTH:
        raise InvalidArguments(
            f"The query {quote_text(text)} has {len(text):,} characters. Use at most {MAX_QUERY_LENGTH:,}.",
            fields=("query",),
        )
    terms: dict[str, str] = {}
    excluded: list[str] = []
    for minus, phrase, word in _TERM.findall(text):
        is_excluded = bool(minus) or (word.startswith("-") and word[1:2].isalnum())
        term = _quote_term(phrase or word) + ("*" if _is_prefix(phrase, word) else "")
        if not any(map(str.isalnum, phrase or word)):
            continue
        if is_excluded:
            excluded.append(term)
        else:
            terms[term] = phrase or word
    if not terms:
        raise InvalidArguments(
            f"The query {quote_text(text)} has no word to find. Use words such as 'naming' or '\"error handling\"'.",
            fields=("query",),
        )
    if len(terms) + len(excluded) > MAX_TERMS:
        raise InvalidArguments(
            f"The query {quote_text(text)} has {len(terms) + len(excluded)} words. Use at most {MAX_TERMS}.",
            fields=("query",),
        )
    return SearchQuery(tuple(terms), tuple(excluded), tuple(terms.values()))


def _quote_term(text: str) -> str:
    # These characters have a meaning in FTS5; the index treats them as spaces too.
    return '"' + query_form(re.sub(r'["\x00-\x1f\ud800-\udfff]', " ", text)).strip() + '"'


def _is_prefix(phrase: str, word: str) -> bool:
    """Whether a word also matches longer words. One Latin letter does not: it would match too much."""
    if phrase or ends_unspaced(word):
        return False
    return len(word) >= _MIN_PREFIX_LENGTH or not word.isascii()
