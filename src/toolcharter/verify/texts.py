"""Every text of a tool that an agent reads: names, prose, and values in schemas."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

from mcp_core.declare.listed import ListedTool

Kind = Literal["name", "prose", "value"]

_PROSE = frozenset({"description", "title", "$comment", "markdownDescription"})
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions"})
"""Under these keywords the keys are names that an author chose."""
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MARKS = {ord("\u2019"): "'", ord("\u2018"): "'", ord("\u201c"): '"', ord("\u201d"): '"'}
MAX_WORDS = 50_000
"""How many different words are remembered."""
MAX_TEXTS = 20_000
"""The walk stops here. No real tool has as many texts."""


class KeywordIndex:
    """The keywords of all patterns. Tools use the same words again and again, so a word is searched once."""

    def __init__(self) -> None:
        self._by_start: dict[str, list[str]] = {}
        self._letters: list[str] = []
        self._known: dict[str, frozenset[str]] = {}
        self._plain: set[str] = set()
        """Words that have no keyword in them: nearly all words."""

    def add(self, keywords: Iterable[str]) -> None:
        """Add keywords, which have no spaces."""
        for keyword in keywords:
            known = self._by_start.setdefault(keyword[:2], []) if len(keyword) > 1 else self._letters
            if keyword not in known:
                known.append(keyword)
        self._forget()

    def find(self, words: Set[str]) -> frozenset[str]:
        """The keywords that the words have in them."""
        found: set[str] = set()
        for word in words - self._plain:
            found |= self._known.get(word) or self._learn(word)
        return frozenset(found)

    def _learn(self, word: str) -> frozenset[str]:
        if len(self._known) + len(self._plain) >= MAX_WORDS:
            self._forget()
        found = [letter for letter in self._letters if letter in word]
        for start in range(len(word) - 1):
            same_start = self._by_start.get(word[start : start + 2], ())
            found += [keyword for keyword in same_start if word.startswith(keyword, start)]
        if found:
            return self._known.setdefault(word, frozenset(found))
        self._plain.add(word)
        return frozenset()

    def _forget(self) -> None:
        self._known.clear()
        self._plain.clear()


KEYWORDS = KeywordIndex()
"""Each rule adds its own."""


class ToolText(NamedTuple):
    """A text and its path."""

    path: str
    kind: Kind
    text: str
    normalized: str
    """In lower case, without invisible characters, with single spaces; also between the words of a name."""


class Texts:
    """The texts of one tool."""

    def __init__(self, listed: ListedTool) -> None:
        self._listed = listed

    @cached_property
    def all(self) -> tuple[ToolText, ...]:
        """All texts, in order."""
        return tuple(ToolText(path, kind, text, normalize(text, kind)) for path, kind, text in _walk(self._listed))

    @cached_property
    def joined(self) -> str:
        """All normalized texts in one, to see quickly whether a word occurs at all."""
        return "\n".join(text.normalized for text in self.all)

    @cached_property
    def words(self) -> frozenset[str]:
        """The different words of all normalized texts."""
        return frozenset(self.joined.split())

    @cached_property
    def keywords(self) -> frozenset[str]:
        """The keywords of all patterns that a word has in it."""
        return KEYWORDS.find(self.words)

    @cached_property
    def joined_as_written(self) -> str:
        """All texts in one, as the author wrote them."""
        return "\n".join(text.text for text in self.all)


def contains_any(text: str, parts: Iterable[str]) -> bool:
    """Whether the text has one of the parts. A loop, which is faster than `any` with a generator."""
    for part in parts:  # noqa: SIM110 - see above
        if part in text:
            return True
    return False


def normalize(text: str, kind: Kind = "prose") -> str:
    """A text in the form in which patterns are searched: added spaces and invisible characters hide nothing."""
    if not text.isascii():
        text = text.translate(_MARKS)
        if not all(map(str.isprintable, text.split())):
            text = "".join(c for c in text if c.isprintable() or c.isspace())
    if kind == "name":
        text = text.replace("_", " ").replace("-", " ")
    return " ".join(text.lower().split())


def normalize_name(name: str) -> str:
    """A name in the same form: `userConfirmed`, `user-confirmed` and `user_confirmed` are `user confirmed`."""
    return normalize(_CAMEL_CASE.sub("_", name), "name")


def _walk(listed: ListedTool) -> Iterator[tuple[str, Kind, str]]:
    yield "name", "name", listed.name
    for path, text in (("title", listed.title), ("description", listed.description)):
        if text:
            yield path, "prose", text
    for path, part in (
        ("annotations", listed.annotations),
        ("inputSchema", listed.input_schema),
        ("outputSchema", listed.output_schema or {}),
        ("_meta", listed.meta),
    ):
        yield from _inside(path, part)


def _inside(path: str, part: Mapping[str, Any]) -> Iterator[tuple[str, Kind, str]]:
    # A stack, not recursion: a schema may be nested deeper than Python calls.
    stack: list[tuple[str, str, Any]] = [(path, "", part)]
    for _ in range(MAX_TEXTS):
        if not stack:
            return
        here, keyword, value = stack.pop()
        if isinstance(value, str):
            yield here, "prose" if keyword in _PROSE else "value", value
        elif isinstance(value, dict):
            fields = cast(dict[str, Any], value)
            if keyword in _MAPS:
                for name in fields:
                    yield f"{here}.{name}", "name", name
            stack += [(f"{here}.{name}", _keyword(keyword, name), fields[name]) for name in reversed(fields)]
        elif isinstance(value, list):
            stack += [(f"{here}.{n}", keyword, one) for n, one in reversed(list(enumerate(cast(list[Any], value))))]


def _keyword(parent: str, name: str) -> str:
    """The keyword of a value. A property may itself have the name `description` or `properties`."""
    return "" if parent in _MAPS else name
