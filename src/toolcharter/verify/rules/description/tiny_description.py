from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

TINY = 20


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if 0 < tool.length < TINY:
        yield Problem(f"is {tool.description[:TINY]!r}, {tool.length} characters", "description")


RULE = Rule(
    id="DSC002",
    name="tiny-description",
    family="description",
    severity="error",
    what="A description under 20 characters. A character of a script such as Chinese counts as three.",
    why="Two or three words say no more than the name. The agent has to guess.",
    fix="Say what the tool does, when to use it, and what it returns, in one sentence each.",
    bad=[{"description": "List notes"}],
    good=[
        {"description": "List the notes of a folder. Use this to see what was written. Returns id and title of each."}
    ],
    check=check,
)
