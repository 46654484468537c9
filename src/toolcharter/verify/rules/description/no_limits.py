import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_LISTING = frozenset(["list", "search", "find", "query", "browse"])
_LIMITS = re.compile(
    r"\d|\b(?:all|every|each|entire|limit\w*|at most|up to|maximum|max|pag(?:e|es|ing|inat\w+)|first|top|latest|recent|"
    r"cursor|offset|only|none)\b",
    re.IGNORECASE,
)
_PAGING = frozenset(["limit", "page", "offset", "cursor", "count", "size", "max", "top", "first", "number", "num"])
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|\d+")


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.is_english or server.name_verb(tool) not in _LISTING or _LIMITS.search(tool.prose):
        return
    parts = {part.lower() for argument in tool.arguments for part in _NAME_PART.findall(argument.name)}
    if parts.isdisjoint(_PAGING):
        yield Problem("does not say how much it returns at most", "description")


RULE = Rule(
    id="DSC025",
    name="no-limits",
    family="description",
    severity="note",
    what="A tool that lists or searches does not say how much it returns, and has no argument for a limit.",
    why="An agent that does not know of a limit mistakes a part for the whole.",
    fix="Say it, such as: Returns at most 100 notes, newest first. Or add an argument for a limit.",
    bad=[{"description": "List the notes of a folder. Use this to see what was written. Returns their titles."}],
    good=[{"description": "List the notes of a folder. Returns at most 100 titles, oldest first."}],
    check=check,
    optional=True,
)
