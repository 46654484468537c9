"""Patterns that are searched in every text of a tool, such as in names, descriptions and default values."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from toolcharter.verify.model import Tool
from toolcharter.verify.rule import Problem
from toolcharter.verify.texts import Text, contains_any

_MAX_QUOTE = 80
_MAX_WORDS = 50_000
_CONTEXT = 200
"""How many characters before a match are read, to see whether the text only quotes the pattern."""
_OPEN_QUOTE = re.compile(r"""["'`(][^"'`]{0,40}$""")
_ABOUT_PATTERNS = re.compile(
    r"\b(detect|scan|flag|block|classif|example|e\.g\.|such as|like|phrases?|patterns?|attempts?|injection|jailbreak|"
    r"filter|moderat|test for|checks? for|looks? for|protect)"
)


@dataclass(frozen=True)
class TextPattern:
    """A regular expression, and keywords of which a text must have one before the slower expression is tried."""

    keywords: tuple[str, ...]
    expression: str

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Compiled when it is first needed: most texts have none of the keywords, and all together take 100 ms."""
        return re.compile(self.expression)

    def may_match(self, text: str) -> bool:
        """Whether the text has one of the keywords."""
        return contains_any(text, self.keywords)


def pattern(keywords: str, regex: str) -> TextPattern:
    """A pattern. The keywords are separated by `|`, and may have spaces."""
    return TextPattern(tuple(keywords.split("|")), regex)


class TextPatterns:
    """Patterns that are searched together."""

    def __init__(self, *patterns: TextPattern) -> None:
        self._patterns = patterns
        self._longest_words = [
            (max(keyword.split(), key=len), number) for number, one in enumerate(patterns) for keyword in one.keywords
        ]
        # Tools use the same words again and again: a word is compared with all keywords once.
        self._by_word: dict[str, frozenset[int]] = {}
        self._other_words: set[str] = set()

    def find(self, tool: Tool, verb: str = "says") -> Iterator[Problem]:
        """The first match in each text. A text about such patterns may quote one, as a scanner for injections does."""
        numbers: set[int] = set()
        for word in tool.texts.words - self._other_words:
            numbers |= self._by_word.get(word) or self._learn(word)
        likely = [one for one in map(self._patterns.__getitem__, sorted(numbers)) if one.may_match(tool.texts.joined)]
        for text in tool.texts.all if likely else ():
            if match := _first_match(text, likely):
                yield Problem(f"{verb} {quote(match[0])}", text.path)

    def _learn(self, word: str) -> frozenset[int]:
        """The numbers of the patterns of which a keyword may be in a text with this word."""
        if len(self._by_word) + len(self._other_words) >= _MAX_WORDS:
            self._by_word.clear()
            self._other_words.clear()
        numbers = frozenset(number for longest, number in self._longest_words if longest in word)
        if numbers:
            self._by_word[word] = numbers
        else:
            self._other_words.add(word)
        return numbers


def _first_match(text: Text, patterns: Iterable[TextPattern]) -> re.Match[str] | None:
    for one in patterns:
        if one.may_match(text.normalized):
            for match in one.regex.finditer(text.normalized):
                if not _is_quoted(text, match):
                    return match
    return None


def quote(text: str) -> str:
    """A piece of text in quotes, shortened."""
    return f"'{text}'" if len(text) <= _MAX_QUOTE else f"'{text[:_MAX_QUOTE]}...'"


def _is_quoted(text: Text, match: re.Match[str]) -> bool:
    before = text.normalized[max(0, match.start() - _CONTEXT) : match.start()]
    return _OPEN_QUOTE.search(before) is not None and _ABOUT_PATTERNS.search(before) is not None
