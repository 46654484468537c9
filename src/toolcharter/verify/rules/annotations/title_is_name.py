from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.title and tool.title == tool.name:
        yield Problem(f"the title is the name, {tool.name!r}", "title")


RULE = Rule(
    id="ANN009",
    name="title-is-name",
    family="annotations",
    severity="note",
    what="A title that is the same as the name.",
    why="The title is for people. A name such as list_notes is not.",
    fix="Write the title in words, such as: List notes.",
    bad=[{"name": "list_notes", "title": "list_notes"}],
    good=[{"name": "list_notes", "title": "List notes"}],
    check=check,
)
