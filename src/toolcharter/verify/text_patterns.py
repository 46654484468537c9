"""Patterns that are searched in every text of a tool, such as in names, descriptions and default values."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from toolcharter.verify.model import Tool
from toolcharter.verify.rule import Problem
from toolcharter.verify.texts import Text

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

    def may_match(self, text: str) -> bool:
        """Whether the text has one of the keywords. A loop, which is faster than `any` with a generator."""
        for keyword in self.keywords:  # noqa: SIM110
            if keyword in text:
                return True
        return False


def pattern(keywords: str, regex: str) -> TextPattern:
    """A pattern. The keywords are separated by `|`, and may have spaces."""
    return TextPattern(tuple(keywords.split("|")), regex)


def find_patterns(tool: Tool, patterns: Iterable[TextPattern], verb: str = "says") -> Iterator[Problem]:
    """The first match in each text. A text about such patterns may quote one, as a scanner for injections does."""
    joined = tool.texts.joined
    likely = [one for one in patterns if one.may_match(joined)]
    for text in tool.texts.all if likely else ():
        plain = text.normalized
        matches = (match for one in likely if one.may_match(plain) for match in one.regex.finditer(plain))
        match = next((match for match in matches if not _is_quoted(text, match)), None)
        if match:
            yield Problem(f"{verb} {quote(match[0])}", text.path)


def quote(text: str) -> str:
    """A piece of text in quotes, shortened."""
    return f"'{text}'" if len(text) <= _MAX_QUOTE else f"'{text[:_MAX_QUOTE]}...'"


def _is_quoted(text: Text, match: re.Match[str]) -> bool:
    before = text.normalized[max(0, match.start() - _CONTEXT) : match.start()]
    return _OPEN_QUOTE.search(before) is not None and _ABOUT_PATTERNS.search(before) is not None
