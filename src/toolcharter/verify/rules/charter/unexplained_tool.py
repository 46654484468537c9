import re
from collections.abc import Iterable

from mcp_core.declare.charter import META, MIN_DESCRIPTION_LENGTH
from toolcharter.verify.declaration import is_declared
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_WHEN = re.compile(
    r"\b(use (this|it|when|to|for|after|before|[\w-]+ instead)|when (the|a|you)|whenever|call this)\b", re.IGNORECASE
)
_RETURNS = re.compile(r"\b(return(s|ed)?|gives?|answers?|lists?|shows?)\b", re.IGNORECASE)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if not is_declared(tool):
        return
    if (length := len(tool.description)) < MIN_DESCRIPTION_LENGTH:
        yield Problem(f"has {length} characters, fewer than {MIN_DESCRIPTION_LENGTH}", "description")
        return
    if not _WHEN.search(tool.description):
        yield Problem("does not say when to use it", "description")
    # A tool that changes something may describe the change instead.
    if tool.hint("readOnlyHint") is True and not _RETURNS.search(tool.description):
        yield Problem("does not say what it returns", "description")


RULE = Rule(
    id="CHA006",
    name="unexplained-tool",
    family="charter",
    severity="warning",
    what="A declared tool has fewer than 50 characters, or does not say when to use it or what it returns.",
    why="Agents choose a tool by what it does, when to use it and what it returns.",
    fix="Write three sentences: what it does, 'Use this when ...', 'Returns ...'.",
    bad=[{"description": "The notes of a folder, in the order of their titles.", "_meta": {META + "version": "1.0.0"}}],
    good=[
        {
            "description": "List notes by title. Use this when the user looks for one. Returns the id of each.",
            "_meta": {META + "version": "1.0.0"},
        }
    ],
    check=check,
)
