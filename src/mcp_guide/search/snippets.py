"""The part of a document that a search shows. SQLite's own snippets take quadratic time if a word occurs often."""

import re
import unicodedata
from collections.abc import Sequence

MAX_TEXT_LENGTH = 50_000
"""Only the beginning of a longer text is looked through."""
_TOKENS = 24
_TOKENS_BEFORE = 6
_MAX_MATCHES = 500
_MAX_LENGTH = 400
_NEAR = 160
"""Words at most this many characters apart are shown together."""

_TOKEN = re.compile(r"\w+")
_TERM_WORD = re.compile(r"\w+(?:\+\+|#)?|\.net")


class _BaseLetters(dict[int, str]):
    """Each character in lower case and without accents, as one character, so that positions stay."""

    def __missing__(self, code: int) -> str:
        base = unicodedata.normalize("NFD", chr(code).lower())[0]
        if len(self) < MAX_TEXT_LENGTH:
            self[code] = base
        return base


_BASE_LETTERS = _BaseLetters()


def make_snippet(texts: Sequence[str], terms: Sequence[str]) -> str:
    """Some words of the first text that contains a term, around it; the beginning of the first if none does."""
    words = {word for term in terms for word in _TERM_WORD.findall(term.translate(_BASE_LETTERS))}
    expression = re.compile("|".join(map(_word_regex, sorted(words, key=len, reverse=True))) or "(?!)")
    for text in texts:
        folded = text[:MAX_TEXT_LENGTH].translate(_BASE_LETTERS)
        if found := _best_matches(expression, folded):
            return _cut(text[:MAX_TEXT_LENGTH], *found)
    return _cut(texts[0][:MAX_TEXT_LENGTH], 0, 0)


def _word_regex(word: str) -> str:
    """A word at its start. Scripts such as Chinese have no spaces before words."""
    return rf"(?<![^\W_]){re.escape(word)}" if word.isascii() else re.escape(word)


def _best_matches(expression: re.Pattern[str], text: str) -> tuple[int, int] | None:
    """The start and the end of the matches near each other with the most different words."""
    matches = [(match.start(), match[0]) for match, _ in zip(expression.finditer(text), range(_MAX_MATCHES))]  # noqa: B905 - the shorter one ends it
    best: tuple[int, int] | None = None
    most = 0
    for index, (start, _) in enumerate(matches):
        near = [match for match in matches[index : index + _TOKENS] if match[0] - start <= _NEAR]
        if (different := len({word for _, word in near})) > most:
            most, best = different, (start, near[-1][0] + len(near[-1][1]))
    return best


def _cut(text: str, start: int, end: int) -> str:
    """About 24 words from a little before the start, or from the beginning if the end is still shown."""
    beginning = [match.span() for match, _ in zip(_TOKEN.finditer(text, 0, _MAX_LENGTH), range(_TOKENS))]  # noqa: B905 - as above
    first = 0
    if not beginning or end > beginning[-1][1]:
        before = [match.start() for match in _TOKEN.finditer(text, max(0, start - _NEAR), start)]
        first = before[-_TOKENS_BEFORE:][0] if before else start
    tokens = [match.end() for match, _ in zip(_TOKEN.finditer(text, first, first + _MAX_LENGTH), range(_TOKENS))]  # noqa: B905 - as above
    is_rest_shown = len(tokens) < _TOKENS and first + _MAX_LENGTH >= len(text)
    last = len(text) if is_rest_shown or (tokens and not _TOKEN.search(text, tokens[-1])) else (tokens or [first])[-1]
    last = min(last, first + _MAX_LENGTH)
    shown = " ".join(text[first:last].split())
    return f"{'...' if first else ''}{shown}{'...' if last < len(text) else ''}"
