from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if not tool.title:
        yield Problem("has no title for people", "title")


RULE = Rule(
    id="ANN008",
    name="missing-title",
    family="annotations",
    severity="note",
    what="A tool without a title, at the top level or in its annotations.",
    why="Clients show the title to the user who is asked to allow a call. Without one they show the bare name.",
    fix="Add a title in words, such as: List notes.",
    bad=[{"title": ""}],
    good=[{"title": "List notes"}],
    check=check,
)
