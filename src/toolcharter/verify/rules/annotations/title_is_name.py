from collections.abc import Iterable

from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool


def check(tool: Tool, _: Server) -> Iterable[Found]:
    if tool.title and tool.title == tool.name:
        yield Found(f"the title is the name, {tool.name!r}", "title")


RULE = Rule(
    id="ANN009",
    name="title-is-name",
    family="annotations",
    severity="note",
    what="A title that repeats the name letter by letter.",
    why="The title is for people. A name such as list_notes is not.",
    fix="Write it in words, such as: List notes.",
    bad=[{"name": "list_notes", "title": "list_notes"}],
    good=[{"name": "list_notes", "title": "List notes"}],
    check=check,
)
