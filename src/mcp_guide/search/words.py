"""The words of documents and queries, written so that the tokenizer of SQLite finds them.

The tokenizer takes letters and digits as words. It would take `c++` as `c`, `.NET` as `net`, and a whole sentence of
Chinese or Japanese, which has no spaces, as one word. So symbols that belong to a word become private letters, and
each Chinese or Japanese character becomes a word: 日本語 is 日 本 語, and is searched as a phrase. Where something
else separates two of them, a private letter stands between them, so that 日、本 is not 日本.
Queries are written in the same way.
"""

import re
import unicodedata
from collections.abc import Callable

_PLUS, _SHARP, _DOT, _GAP, _PERCENT = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004"
"""Letters of Unicode's private area, which the tokenizer takes as a part of a word."""

_SYMBOL = re.compile(
    r"""
    \+\+ (?<= [^\W_] \+\+ ) (?! [+] | [^\W\d] )     # c++, C++17, but not a++b
    | \# (?<= [^\W\d_] \# ) (?! [\w#] )             # C#, but not page#part
    | \. (?i: net ) (?! [^\W\d] )                   # .NET, .net8
    | (?<! \w ) % (?= [A-Za-z] (?! \w ) )           # %w, but not 5%a
    """,
    re.VERBOSE,
)
_UNSPACED = (
    "[\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""A Chinese or Japanese character: ideographs, hiragana and katakana."""
_RUN = re.compile(rf"{_UNSPACED}+")
_GAPS = re.compile(rf"(?<={_UNSPACED})[\W_]+(?={_UNSPACED})")


def index_form(text: str) -> str:
    """A text as it is indexed."""
    return _rewrite(text, _index_symbol)


def query_form(text: str) -> str:
    """A word or a phrase of a query: it finds the index form of every text that contains it."""
    return _rewrite(text, _query_symbol)


def ends_unspaced(text: str) -> bool:
    """Whether a text ends in a Chinese or Japanese character, so that no longer word begins with its last word."""
    return _RUN.fullmatch(unicodedata.normalize("NFKC", text)[-1:]) is not None


_Replace = Callable[[re.Match[str]], str]


def _rewrite(text: str, symbol: _Replace) -> str:
    if not text.isascii():
        # One form for full and half width, and for composed and decomposed characters.
        text = _GAPS.sub(f" {_GAP} ", unicodedata.normalize("NFKC", text))
        text = _RUN.sub(lambda run: f" {' '.join(run[0])} ", text)
    return _SYMBOL.sub(symbol, text)


def _index_symbol(match: re.Match[str]) -> str:
    """In ASP.NET, .NET is a word of its own too."""
    return _query_symbol(match) if _begins_word(match) else f"{match[0]} {_DOT}net"


def _query_symbol(match: re.Match[str]) -> str:
    symbol = match[0]
    if symbol[0] == "+":
        return _PLUS * 2
    if symbol[0] == "#":
        return _SHARP
    if symbol[0] == "%":
        return _PERCENT
    return f" {_DOT}net" if _begins_word(match) else symbol


def _begins_word(match: re.Match[str]) -> bool:
    """False for a dot in a word. The other symbols are always a part of the word before."""
    before = match.string[match.start() - 1 : match.start()]
    return match[0][0] != "." or not (before.isalnum() or before == "_")
