"""The offers of the servers as a list to search: tools, prompts and resources."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import quote

from mcp_core.app import App, ListedTool
from mcp_core.auth import Caller
from mcp_core.declare.spec import ToolSpec
from toolcharter.verify.model import Tool

Kind = Literal["tool", "prompt", "resource"]
MAX_LISTS = 32
"""A verifier may give each token its own permissions, so what is made for them is not kept for ever."""


class CatalogueEntry(NamedTuple):
    """One line of the list."""

    kind: Kind
    server: str
    name: str
    summary: str
    marks: tuple[tuple[str, str], ...] = ()
    """Short marks, each with its kind: `("deprecated", "warn")`."""
    tokens: int | None = None
    """About what it costs an agent in every request."""
    words: str = ""
    """The text that a search looks at beside the name, in lower case."""

    @property
    def path(self) -> str:
        """Its page."""
        if self.kind == "resource":
            return f"/console/resources/{quote(self.server, safe='')}#arguments={quote(json.dumps({'uri': self.name}))}"
        return f"/console/{self.kind}s/{quote(self.server, safe='')}/{quote(self.name, safe='')}"

    def rank(self, words: Sequence[str]) -> int | None:
        """How well it matches all words: 0 is best; None if one of them is missing."""
        name = self.name.lower()
        ranks = [_rank(word, name, self.words) for word in words]
        return None if None in ranks else sum(rank for rank in ranks if rank is not None)


def _rank(word: str, name: str, text: str) -> int | None:
    if name == word:
        return 0
    if name.startswith(word):
        return 1
    if word in name:
        return 2
    return 4 if word in text else None


def search(entries: Iterable[CatalogueEntry], text: str) -> list[CatalogueEntry]:
    """The entries with all words of the text, best first; all of them without a text."""
    words = text.lower().split()
    found = [(rank, entry) for entry in entries if (rank := entry.rank(words)) is not None]
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]


class ServerOffers(NamedTuple):
    """The offers of a server to a caller."""

    tools: Mapping[str, ListedTool]
    """By the names that agents see."""
    entries: Sequence[CatalogueEntry]
    """The tools, prompts and resources as lines of the list."""


class Catalogue:
    """The offers of all servers. It is made once for callers with the same permissions."""

    def __init__(self) -> None:
        self._made: dict[object, ServerOffers] = {}

    def offer(self, app: App, caller: Caller) -> ServerOffers:
        """The offers of a server that this caller may use."""
        key = (app.name, app.tools_version, caller.grants, caller.denied)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= MAX_LISTS:
                self._made.clear()
            made = self._made[key] = _offer(app, caller)
        return made


def _offer(app: App, caller: Caller) -> ServerOffers:
    tools = {tool.name: tool for tool in app.list_tools(caller)}
    entries = [_tool(app, tool, app.registry.resolve(tool.name)) for tool in tools.values()]
    return ServerOffers(tools, [*entries, *_prompts(app, caller), *_resources(app)])


def _tool(app: App, tool: ListedTool, spec: ToolSpec) -> CatalogueEntry:
    summary = first_line(tool.description) if spec.listed else spec.doc.summary or first_line(tool.description)
    words = f"{app.name} {tool.title} {tool.description} {' '.join(spec.tags)}".lower()
    return CatalogueEntry("tool", app.name, tool.name, summary, tuple(marks(tool, spec)), Tool(tool).tokens, words)


def marks(tool: ListedTool, spec: ToolSpec) -> list[tuple[str, str]]:
    """The short marks of a tool."""
    if spec.listed is not None:
        reads = tool.annotations.get("readOnlyHint") is True
        found = [("reads" if reads else "changes", "")]
    else:
        found = [(spec.category, "")]
    if tool.annotations.get("destructiveHint") is True:
        found.append(("destructive", "bad"))
    if spec.declaration.deprecated:
        found.append(("deprecated", "warn"))
    return found


def _prompts(app: App, caller: Caller) -> list[CatalogueEntry]:
    return [
        CatalogueEntry("prompt", app.name, one.name, one.spec.doc.summary or one.title, words=one.description.lower())
        for one in app.library.prompts
        if not caller.lacks(one.permissions)
    ]


def _resources(app: App) -> list[CatalogueEntry]:
    """The addresses that every caller sees in the lists of the protocol."""
    fixed = [(one.uri, one.description or one.name) for source in app.library.sources for one in source.fixed]
    templates = [(one.uri_template, one.description or one.name) for one in app.library.templates]
    return [CatalogueEntry("resource", app.name, uri, text, words=text.lower()) for uri, text in (*fixed, *templates)]


def first_line(text: str) -> str:
    """The first sentence or line of a description."""
    line = text.strip().partition("\n")[0]
    sentence, stop, _ = line.partition(". ")
    return sentence + stop.strip()
