import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_RETURNS = re.compile(
    r"\b(?:returns?|returned|returning|respon(?:ds?|ses?)|results?|outputs?|yields?|answers?|gives?|giving|produces?|"
    r"provid(?:es?|ing)|shows?|showing|displays?|includ(?:es?|ing)|contain(?:s|ing)|with (?:the|its|their|details)|"
    r"as (?:a |an )?(?:json|list|array|text|markdown|html|string|table|csv|object|dict|number)|in \w+ format|formats?|"
    r"details?|full (?:content|text)|chunk|fields?|tells?|reports?|prints?|json|links?|"
    r"length|number of|balance|counts?|sizes?|duration|totals?|"
    r"convert\w* [^.]{1,60}? (?:to|into)|price (?:of|and)|information \(|\(in \w+\)|and (?:its|their) \w+)\b",
    re.IGNORECASE,
)


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.is_english or tool.listed.output_schema or server.effect(tool) not in {"reading", "computing"}:
        return
    if not _RETURNS.search(tool.prose):
        yield Problem("does not say what it returns", "description")


RULE = Rule(
    id="DSC009",
    name="no-returns",
    family="description",
    severity="note",
    what="The description of a tool that reads or computes something does not say what it returns.",
    why="Agents plan the next step by what a call returns. Otherwise they call the tool to find out.",
    fix='Add a sentence such as "Returns the id and title of each note.", or an output schema.',
    bad=[{"description": "List the notes of a folder. Use this when the user wants to see what they wrote down."}],
    good=[{"description": "List the notes of a folder. Returns the id and the title of each note, oldest first."}],
    check=check,
)
