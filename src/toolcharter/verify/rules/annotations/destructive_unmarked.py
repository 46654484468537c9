from collections.abc import Iterable

from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool
from toolcharter.verify.words import DESTROYING


def destroying_verb(tool: Tool, server: Server) -> str | None:
    """The verb by which a tool takes something away, where name and description do not disagree."""
    if server.effect(tool) != "destroying":
        return None
    named, said = server.named_verb(tool), tool.said_verb
    if named in DESTROYING:
        return named if said is None or said in DESTROYING else None
    return said


def check(tool: Tool, server: Server) -> Iterable[Found]:
    if tool.hint("destructiveHint") is None and (verb := destroying_verb(tool, server)):
        yield Found(f"says {verb!r}, but destructiveHint is missing", "annotations.destructiveHint")


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
