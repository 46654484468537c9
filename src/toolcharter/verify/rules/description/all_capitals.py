from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_LEAST_LETTERS = 20
_MOST_CAPITALS = 0.6


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    capitals = sum(map(str.isupper, tool.prose))
    if capitals < _LEAST_LETTERS:
        return
    small = sum(map(str.islower, tool.prose))
    if capitals > _MOST_CAPITALS * (capitals + small):
        yield Problem(f"is written in capitals: {tool.prose[:40]!r}", "description")


RULE = Rule(
    id="DSC019",
    name="all-capitals",
    family="description",
    severity="warning",
    what="A description in capitals.",
    why="Models take capitals for urgency and call the tool more often than they should; words in capitals cost more.",
    fix="Write sentences.",
    bad=[{"description": "LIST ALL NOTES OF A FOLDER. USE THIS TO SEE WHAT WAS WRITTEN. RETURNS TITLES."}],
    good=[{"description": "List all notes of a folder. Use this to see what was written. Returns HTML."}],
    check=check,
)
