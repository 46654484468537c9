"""The index of all tools. Rankings are fused by their ranks: a tool is good if several of them rank it high."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from toolcharter.evaluate.bm25 import tokenize
from toolcharter.govern.search.analysis import (
    Analysis,
    SearchedTool,
    digest,
    field_texts,
    meaning_text,
    words_of,
)
from toolcharter.govern.search.query import parts, simplify
from toolcharter.govern.search.search_file import SearchFile, UsedWords
from toolcharter.govern.search.word_ranking import WordRanking

if TYPE_CHECKING:
    from toolcharter.evaluate.word_vectors import WordVectors

_FIELDS = {"server": 1.0, "name": 3.0, "description": 1.5, "arguments": 0.5}
"""How much a word counts in each field of a tool."""
_WORDS, _MEANING, _SERVER_WORDS, _SERVER_MEANING, _USED = 1.0, 0.5, 0.5, 0.5, 1.0
"""How much each ranking counts."""
_K, _K_OF_PARTS = 10, 1
"""How little a first place counts more than a second: in the rankings of one text, and of a query and its parts."""
_PART = 0.5
"""How much a part counts beside the whole query."""
_DEPTH = 200
"""How many tools of each ranking count."""


class ToolIndex:
    """Made again when a list changes; what was analysed before is taken from the file."""

    def __init__(
        self,
        tools: Sequence[SearchedTool],
        vectors: "WordVectors | None" = None,
        file: SearchFile | None = None,
    ) -> None:
        self._tools = tools
        analyses = analyse_all(tools, vectors, file)
        self._words = WordRanking([one.words for one in analyses], _FIELDS)
        numbers: dict[str, int] = {}
        servers = [numbers.setdefault(one.server, len(numbers)) for one in tools]
        self._tools_of: list[list[int]] = [[] for _ in numbers]
        texts: list[list[str]] = [[] for _ in numbers]
        for tool, (server, one) in enumerate(zip(servers, analyses, strict=True)):
            self._tools_of[server].append(tool)
            texts[server] += (word for name in ("server", "name", "description") for word in one.words[name])
        self._server_words = WordRanking([{"all": words} for words in texts], {"all": 1.0})
        self._meaning = None
        if vectors is not None:
            from toolcharter.govern.search.meaning_ranking import MeaningRanking  # noqa: PLC0415 - numpy, 60 ms

            self._meaning = MeaningRanking(vectors, [one.tokens for one in analyses], servers)
        self._used = WordRanking([], {"used": 1.0})

    def learn(self, used: UsedWords) -> None:
        """Rank tools by these words as well."""
        words = [used.get((one.server, one.own_name), Counter[str]()) for one in self._tools]
        self._used = WordRanking([{"used": list(found.elements())} for found in words], {"used": 1.0})

    def known_words(self, query: str) -> set[str]:
        """The words of a query that any tool has. Names and numbers of callers are rarely among them."""
        return {word for word in tokenize(simplify(query)) if word in self._words}

    def search(self, query: str, limit: int | None = None) -> list[SearchedTool]:
        """The best tools first. Without vectors, those that share no word with the query are not found."""
        text = simplify(query)
        best = self._rank(text)
        if found := parts(text):
            # So the best tools of each part come first, however many fit the whole query.
            rankings = [(1.0, best), *((_PART, self._rank(part)) for part in found)]
            best = _fuse(rankings, _K_OF_PARTS)
        return [self._tools[number] for number in best[:limit]]

    def _rank(self, text: str) -> list[int]:
        return _fuse(self._rankings(text), _K)

    def _rankings(self, text: str) -> Iterator[tuple[float, Iterable[int]]]:
        words = tokenize(text)
        yield _USED, self._used.rank(words, _DEPTH)
        yield _WORDS, self._words.rank(words, _DEPTH)
        yield _SERVER_WORDS, self._in_servers(self._server_words.rank(words, _DEPTH))
        if self._meaning is not None:
            tools, servers = self._meaning.rank(text, _DEPTH)
            yield _MEANING, tools
            yield _SERVER_MEANING, self._in_servers(servers)

    def _in_servers(self, servers: Iterable[int]) -> list[int]:
        """The tools of these servers, in their order. Servers list first what they are for."""
        tools: list[int] = []
        for server in servers:
            tools += self._tools_of[server]
            if len(tools) >= _DEPTH:
                break
        return tools[:_DEPTH]


def analyse_all(
    tools: Sequence[SearchedTool], vectors: "WordVectors | None", file: SearchFile | None
) -> list[Analysis]:
    """The analysis of each tool, from the file where it is known."""
    texts = [field_texts(one) for one in tools]
    # With vectors an analysis has tokens as well.
    keys = [f"{digest(one)}{'' if vectors is None else '+'}" for one in texts]
    known = {} if file is None else file.read_analyses()
    missing = {key: one for key, one in zip(keys, texts, strict=True) if key not in known}
    tokens = [()] * len(missing) if vectors is None else vectors.tokens([meaning_text(one) for one in missing.values()])
    new = {key: Analysis(words_of(one), found) for (key, one), found in zip(missing.items(), tokens, strict=True)}
    if file is not None and (new or len(known) > len(set(keys))):
        file.write_analyses(new, set(keys))
    known |= new
    return [known[key] for key in keys]


def _fuse(rankings: Iterable[tuple[float, Iterable[int]]], k: int) -> list[int]:
    """One ranking of several, each with its weight."""
    scores: defaultdict[int, float] = defaultdict(float)
    for weight, ranked in rankings:
        for place, number in enumerate(ranked, 1):
            scores[number] += weight / (k + place)
    return sorted(scores, key=lambda number: (-scores[number], number))
