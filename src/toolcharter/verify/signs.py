"""Wordings that give something away, looked for in every text of a tool."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from toolcharter.verify.rule import Found
from toolcharter.verify.subject import Tool
from toolcharter.verify.texts import Text

_LONGEST_QUOTE = 80
_NEAR = 200
"""How far back a text is read to learn what a wording is there for."""
_QUOTED = re.compile(r"""["'`(][^"'`]{0,40}$""")
_ABOUT = re.compile(
    r"\b(detect|scan|flag|block|classif|example|e\.g\.|such as|like|phrases?|patterns?|attempts?|injection|jailbreak|"
    r"filter|moderat|test for|checks? for|looks? for|protect)"
)


class Sign(NamedTuple):
    """A wording, and words of which one must be there before the slower pattern is tried."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]


def sign(words: str, pattern: str) -> Sign:
    """A sign; the words are parted by a bar, and may hold blanks."""
    return Sign(tuple(words.split("|")), re.compile(pattern))


def found_signs(tool: Tool, signs: Iterable[Sign], saying: str = "says") -> Iterator[Found]:
    """The texts that show a sign, each once, quoting it. A text about such wordings, which quotes one, is let be."""
    joined = tool.texts.joined
    likely = [one for one in signs if any(word in joined for word in one.words)]
    for text in tool.texts.all if likely else ():
        match = next((m for one in likely for m in one.pattern.finditer(text.plain) if not _is_quoted(text, m)), None)
        if match:
            yield Found(f"{saying} {quote(match[0])}", text.path)


def quote(text: str) -> str:
    """A piece of a text, cut where it is long."""
    return f"'{text}'" if len(text) <= _LONGEST_QUOTE else f"'{text[:_LONGEST_QUOTE]}...'"


def _is_quoted(text: Text, match: re.Match[str]) -> bool:
    before = text.plain[max(0, match.start() - _NEAR) : match.start()]
    return _QUOTED.search(before) is not None and _ABOUT.search(before) is not None
