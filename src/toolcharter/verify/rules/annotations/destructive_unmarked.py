from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import DESTROYING


def destroying_verb(tool: Tool, server: Server) -> str | None:
    """The verb by which a tool takes something away, where name and description do not disagree."""
    if server.effect(tool) != "destroying":
        return None
    named, said = server.name_verb(tool), tool.description_verb
    if named in DESTROYING:
        return named if said is None or said in DESTROYING else None
    return said


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if tool.hint("destructiveHint") is None and (verb := destroying_verb(tool, server)):
        yield Problem(f"says {verb!r}, but destructiveHint is missing", "annotations.destructiveHint")


RULE = Rule(
    id="ANN003",
    name="destructive-unmarked",
    family="annotations",
    severity="warning",
    what="A tool that deletes or removes, without destructiveHint.",
    why="It is the hint by which clients ask the user first. In the wild, one deleting tool in twenty carries it.",
    fix="Set destructiveHint to true.",
    bad=[{"name": "delete_note", "description": "Delete a note for good.", "annotations": {"readOnlyHint": False}}],
    good=[{"name": "delete_note", "description": "Delete a note for good.", "annotations": {"destructiveHint": True}}],
    check=check,
)
