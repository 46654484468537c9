"""Learns from use: a tool that a caller found, called, and got an answer from, fits the words of that search."""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from toolcharter.govern.search.analysis import SearchedTool
from toolcharter.govern.search.search_file import MAX_WORDS, SearchFile
from toolcharter.govern.search.tool_index import ToolIndex

_MAX_CALLERS, _MAX_SEARCHES = 500, 5


class _Search(NamedTuple):
    """A search of which the tools have not all been called."""

    words: frozenset[str]
    tools: dict[str, SearchedTool]
    """By the name that the caller knows."""


class Learning:
    """Remembers the last searches of each caller, and counts the words of those that led to a call.

    Only words that are in the definition of a tool are counted, and nobody is shown them.
    """

    def __init__(self, file: SearchFile | None) -> None:
        self._file = file
        self._recent: OrderedDict[str, deque[_Search]] = OrderedDict()
        self._taught: ToolIndex | None = None

    @cached_property
    def _used(self) -> dict[tuple[str, str], Counter[str]]:
        return {} if self._file is None else self._file.read_used_words()

    def searched(self, caller: str, words: Iterable[str], found: Iterable[SearchedTool]) -> None:
        """A caller has found these tools with these words."""
        searches = self._recent.setdefault(caller, deque(maxlen=_MAX_SEARCHES))
        self._recent.move_to_end(caller)
        searches.append(_Search(frozenset(words), {one.tool.name: one for one in found}))
        if len(self._recent) > _MAX_CALLERS:
            self._recent.popitem(last=False)

    def called(self, caller: str, tool: str) -> None:
        """A caller has called a tool, and it succeeded. Each search counts once for it."""
        for search in self._recent.get(caller, ()):
            if (one := search.tools.pop(tool, None)) and search.words:
                self._count(one, search.words)

    def teach(self, index: ToolIndex) -> None:
        """Let the index rank by what was learned since the last time."""
        if self._taught is not index:
            index.learn(self._used)
            self._taught = index

    def _count(self, one: SearchedTool, words: frozenset[str]) -> None:
        key = (one.server, one.own_name)
        counted = self._used.get(key, Counter[str]()) + Counter(words)
        self._used[key] = Counter(dict(counted.most_common(MAX_WORDS)))
        self._taught = None
        if self._file is not None:
            self._file.add_used_words(*key, words)
