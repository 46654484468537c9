from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MIN_CAPITALS = 20
_MAX_SHARE = 0.6


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    capitals = sum(map(str.isupper, tool.prose))
    if capitals < _MIN_CAPITALS:
        return
    small = sum(map(str.islower, tool.prose))
    if capitals > _MAX_SHARE * (capitals + small):
        yield Problem(f"is written in capitals: {tool.prose[:40]!r}", "description")


RULE = Rule(
    id="DSC019",
    name="all-capitals",
    family="description",
    severity="warning",
    what="A description in capital letters.",
    why="Models read capitals as urgency and call the tool too often, and words in capitals cost more tokens.",
    fix="Write normal sentences.",
    bad=[{"description": "LIST ALL NOTES OF A FOLDER. USE THIS TO SEE WHAT WAS WRITTEN. RETURNS TITLES."}],
    good=[{"description": "List all notes of a folder. Use this to see what was written. Returns HTML."}],
    check=check,
)
