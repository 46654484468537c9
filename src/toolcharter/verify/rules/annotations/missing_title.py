from collections.abc import Iterable

from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool


def check(tool: Tool, _: Server) -> Iterable[Found]:
    if not tool.title:
        yield Found("has no title for people", "title")


RULE = Rule(
    id="ANN008",
    name="missing-title",
    family="annotations",
    severity="note",
    what="A tool without a title, at the top or among its annotations.",
    why="Clients show the title to the user who is asked to allow a call. Without one they show the bare name.",
    fix="Add a title in words, such as: List notes.",
    bad=[{"title": ""}],
    good=[{"title": "List notes"}],
    check=check,
)
