from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if not tool.description:
        yield Problem("has no description", "description")


RULE = Rule(
    id="DSC001",
    name="missing-description",
    family="description",
    severity="error",
    what="A tool without a description.",
    why="An agent chooses a tool by its description. Without one, it has to guess from the name.",
    fix="Say what the tool does, when to use it, and what it returns.",
    bad=[{"description": ""}],
    good=[
        {"description": "List the notes of a folder. Use this to see what was written. Returns id and title of each."}
    ],
    check=check,
)
