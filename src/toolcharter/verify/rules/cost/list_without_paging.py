import re
from collections.abc import Iterable

from mcp_core.schema.walk import Node
from toolcharter.verify.model import Server, Tool, words_of
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
    if not any(_limits_result(parameter) for parameter in tool.parameters):
        yield Problem("returns a list, but has no argument for a limit, a page or a filter", "inputSchema.properties")


def _limits_result(parameter: Node) -> bool:
    """Whether a parameter is about paging, or an optional filter."""
    is_filter = not parameter.required and parameter.types != ("boolean",)
    return is_filter or not _PAGING.isdisjoint(words_of(parameter.name))


RULE = Rule(
    id="CST005",
    name="list-without-paging",
    family="cost",
    severity="note",
    what="A tool that lists or searches has no argument that limits the result.",
    why="Lists grow. A result with thousands of entries fills the context of the agent, or is truncated "
    "without notice.",
    fix="Accept `limit` and `cursor` or `offset`, with a default. If the list is always short, say how long it is.",
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
