"""What a person or an agent looks for, as a question that SQLite's full text search takes. Any text is safe."""

import re
from typing import NamedTuple

from mcp_core.errors import InvalidArguments
from mcp_guide.content.patterns import shown

LONGEST_QUERY = 1_000
MOST_WORDS = 32
_SHORTEST_START = 2

_TERM = re.compile(r'(-?)"([^"]*)"?|(\S+)')


class Query(NamedTuple):
    """The terms that are wanted and those that are not, each quoted."""

    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]

    def text(self, how: str) -> str:
        """All wanted terms (`AND`) or any (`OR`), and none of the others."""
        wanted = f" {how} ".join(self.wanted)
        return f"({wanted}) NOT ({' OR '.join(self.unwanted)})" if self.unwanted else wanted


def parse_query(text: str) -> Query:
    """Words match what starts with them, `"a phrase"` exactly that, `-word` excludes. Raises InvalidArguments."""
    if len(text) > LONGEST_QUERY:
        raise InvalidArguments(
            f"The query {shown(text)} has {len(text):,} characters. Give at most {LONGEST_QUERY:,}.", fields=("query",)
        )
    wanted: list[str] = []
    unwanted: list[str] = []
    for minus, phrase, word in _TERM.findall(text):
        is_unwanted = bool(minus) or (word.startswith("-") and word[1:2].isalnum())
        term = _quoted(phrase) if phrase else _quoted(word) + ("*" if _is_start(word) else "")
        if any(map(str.isalnum, phrase or word)):
            (unwanted if is_unwanted else wanted).append(term)
    if not wanted:
        raise InvalidArguments(
            f"The query {shown(text)} has no word to look for. Give one, such as 'naming' or '\"error handling\"'.",
            fields=("query",),
        )
    if len(wanted) + len(unwanted) > MOST_WORDS:
        raise InvalidArguments(
            f"The query {shown(text)} has {len(wanted) + len(unwanted)} words. Give at most {MOST_WORDS}.",
            fields=("query",),
        )
    return Query(tuple(dict.fromkeys(wanted)), tuple(unwanted))


def _quoted(text: str) -> str:
    # What is no letter separates words in the index as well; in the question it could mean something else.
    return '"' + re.sub(r'["\x00-\x1f\ud800-\udfff]', " ", text) + '"'


def _is_start(word: str) -> bool:
    """One Latin letter is the start of too much; one of another script can be a word."""
    return len(word) >= _SHORTEST_START or not word.isascii()
