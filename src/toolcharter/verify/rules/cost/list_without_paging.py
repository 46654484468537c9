import re
from collections.abc import Iterable

from toolcharter.verify.model import Parameter, Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_LISTS = frozenset({"list", "search", "find", "query", "browse"})
_PAGING = frozenset(
    {"limit", "page", "cursor", "offset", "count", "max", "top", "size", "first", "last", "take", "skip"}
    | {"per", "num", "number", "n", "k", "batch", "maximum", "length", "pagination", "results", "depth", "start"}
    | {"end", "range", "token"}
)
_BOUNDED = re.compile(
    r"\b(?:at most|up to|first|top|max(?:imum)?(?: of)?|limited to|latest|last|most recent)\s+\d+"
    r"|\bpag(?:e|es|ed|inat\w+)\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    words = tool.name_words
    if _LISTS.isdisjoint(words[:2]) or not words[-1].endswith("s") or words[-1].endswith("ss"):
        return
    if tool.hint("readOnlyHint") is False or _BOUNDED.search(tool.description):
        return
    if not any(_keeps_short(parameter) for parameter in tool.parameters):
        yield Problem("lists, but takes neither a limit, nor a page, nor a filter", "inputSchema.properties")


def _keeps_short(parameter: Parameter) -> bool:
    """Whether it is about pages, or may be given to see less."""
    filters = not parameter.required and parameter.types != ("boolean",)
    return filters or not _PAGING.isdisjoint(words_of(parameter.name))


RULE = Rule(
    id="CST005",
    name="list-without-paging",
    family="cost",
    severity="note",
    what="A tool that lists or searches, and has no argument that keeps the answer short.",
    why="What fits today does not tomorrow. An answer of thousands of entries fills the agent's context, or is cut "
    "where nobody sees it.",
    fix="Take `limit` and `cursor` or `offset`, with a default. Where the list is short by nature, say how long it is.",
    bad=[{"description": "List the notes of a folder. Returns the id and title of each note."}],
    good=[
        {
            "description": "List the notes of a folder. Returns the id and title of each note.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "folder": {"type": "string", "description": "Its name."},
                    "limit": {"type": "integer", "description": "How many, at most.", "maximum": 100, "default": 20},
                },
            },
        }
    ],
    check=check,
)
