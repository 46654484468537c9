"""Patterns that are searched in every text of a tool, such as in names, descriptions and default values."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from toolcharter.verify.model import Tool
from toolcharter.verify.rule import Problem
from toolcharter.verify.texts import KEYWORDS, Texts, ToolText, contains_any

_MAX_QUOTE = 80
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


def pattern(keywords: str, regex: str) -> TextPattern:
    """A pattern. The keywords are separated by `|`, and may have spaces."""
    return TextPattern(tuple(keywords.split("|")), regex)


class TextPatterns:
    """Patterns that are searched together."""

    def __init__(self, *patterns: TextPattern) -> None:
        self._patterns = patterns
        self._by_word: dict[str, list[int]] = {}
        """The patterns that a word of a text may belong to, by the longest word of each of their keywords."""
        for number, one in enumerate(patterns):
            for keyword in one.keywords:
                self._by_word.setdefault(max(keyword.split(), key=len), []).append(number)
        KEYWORDS.add(self._by_word)

    def find(self, tool: Tool, verb: str = "says") -> Iterator[Problem]:
        """The first match in each text. A text about such patterns may quote one, as a scanner for injections does."""
        likely = self._likely(tool.texts)
        if not likely:
            return
        for text in tool.texts.all:
            if match := _first_match(text, likely):
                yield Problem(f"{verb} {quote(match[0])}", text.path)

    def _likely(self, texts: Texts) -> list[tuple[TextPattern, list[str]]]:
        """The patterns of which a keyword is in the texts, each with these keywords."""
        numbers = {number for word in texts.keywords & self._by_word.keys() for number in self._by_word[word]}
        joined = texts.joined if numbers else ""
        found = [(one, [keyword for keyword in one.keywords if keyword in joined]) for one in self._in_order(numbers)]
        return [(one, keywords) for one, keywords in found if keywords]

    def _in_order(self, numbers: set[int]) -> Iterable[TextPattern]:
        return (self._patterns[number] for number in sorted(numbers))


def _first_match(text: ToolText, patterns: Iterable[tuple[TextPattern, list[str]]]) -> re.Match[str] | None:
    for one, keywords in patterns:
        if contains_any(text.normalized, keywords):
            for match in one.regex.finditer(text.normalized):
                if not _is_quoted(text, match):
                    return match
    return None


def quote(text: str) -> str:
    """A piece of text in quotes, shortened."""
    return f"'{text}'" if len(text) <= _MAX_QUOTE else f"'{text[:_MAX_QUOTE]}...'"


def _is_quoted(text: ToolText, match: re.Match[str]) -> bool:
    before = text.normalized[max(0, match.start() - _CONTEXT) : match.start()]
    return _OPEN_QUOTE.search(before) is not None and _ABOUT_PATTERNS.search(before) is not None
