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
_STOP_WORDS_TEXT = (
    "a about all am an and any are as at be been before being but by can could did do does doing for from get had has "
    "have how i if in into is it its just me my no not of off on one or our out over own s should so some such t than "
    "that the their them then there these they this those to too under until up use used using very was we were what "
    "when where which while who whom whose why will with without would you your "
    "aber als am auch auf aus bei bin das dass dem den der des die ein eine einem einen einer es für hat ich im ist "
    "kann man mit nach nicht oder sich sie sind so und uns vom von vor was wenn wer wie wir wird wo zu zum zur"
)
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())
"""Words of a question that say nothing about its subject, in English and German."""


class SearchQuery(NamedTuple):
    """The terms to find and the terms to exclude, each quoted, and the words to show."""

    terms: tuple[str, ...]
    prefixes: tuple[str, ...]
    """Each term as the beginning of a word; empty if it cannot be one."""
    excluded: tuple[str, ...]
    words: tuple[str, ...]
    """The terms to find, as the person wrote them."""


def parse_query(text: str) -> SearchQuery:
    """A word is found in all its forms, `"a phrase"` as it is, `-word` excludes. Raises InvalidArguments."""
    if len(text) > MAX_QUERY_LENGTH:
        raise InvalidArguments(
            f"The query {quote_text(text)} has {len(text):,} characters. Use at most {MAX_QUERY_LENGTH:,}.",
            fields=("query",),
        )
    found: dict[str, tuple[str, str]] = {}
    excluded: list[str] = []
    for minus, phrase, word in _TERM.findall(text):
        is_excluded = bool(minus) or (word.startswith("-") and word[1:2].isalnum())
        if not any(map(str.isalnum, phrase or word)):
            continue
        term = _quote_term(phrase or word)
        prefix = f"{term}*" if _is_prefix(phrase, word) else ""
        if is_excluded:
            excluded.append(prefix or term)
        else:
            found[term] = (prefix, phrase or word)
    if not found:
        raise InvalidArguments(
            f"The query {quote_text(text)} has no word to find. Use words such as 'naming' or '\"error handling\"'.",
            fields=("query",),
        )
    if len(found) + len(excluded) > MAX_TERMS:
        raise InvalidArguments(
            f"The query {quote_text(text)} has {len(found) + len(excluded)} words. Use at most {MAX_TERMS}.",
            fields=("query",),
        )
    telling = {term: rest for term, rest in found.items() if rest[1].lower().strip("?!.,;:'") not in _STOP_WORDS}
    chosen = telling or found
    return SearchQuery(
        tuple(chosen),
        tuple(prefix for prefix, _ in chosen.values()),
        tuple(excluded),
        tuple(word for _, word in chosen.values()),
    )


def _quote_term(text: str) -> str:
    # These characters have a meaning in FTS5; the index treats them as spaces too.
    return '"' + query_form(re.sub(r'["\x00-\x1f\ud800-\udfff]', " ", text)).strip() + '"'


def _is_prefix(phrase: str, word: str) -> bool:
    """Whether a word can be the beginning of longer words. One Latin letter is not: it would match too much."""
    if phrase or ends_unspaced(word):
        return False
    return len(word) >= _MIN_PREFIX_LENGTH or not word.isascii()
