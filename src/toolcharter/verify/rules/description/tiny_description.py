from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

TINY = 20


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if 0 < tool.length < TINY and not server.is_self_evident(tool):
        yield Problem(f"is {tool.description[:TINY]!r}, {tool.length} characters", "description")


RULE = Rule(
    id="DSC002",
    name="tiny-description",
    family="description",
    severity="warning",
    supersedes=("DSC007", "DSC008", "DSC009", "DSC010", "DSC011", "DSC012", "DSC013"),
    what="A description under 20 characters, unless the tool is self-evident: it says an action that takes nothing "
    "away, and has at most two arguments, or describes them all. "
    "A character of a script such as Chinese counts as three.",
    why="Two or three words say no more than the name. The agent has to guess.",
    fix="Say what the tool does, when to use it, and what it returns, in one sentence each.",
    bad=[{"name": "delete_note", "description": "Deletes."}],
    good=[
        {"description": "List the notes of a folder. Use this to see what was written. Returns id and title of each."}
    ],
    check=check,
)
