from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.annotations.destructive_unmarked import destroying_verb
from toolcharter.verify.vocabulary import DELETING


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if tool.hint("destructiveHint") is False and (verb := destroying_verb(tool, server)) in DELETING:
        yield Problem(f"says {verb!r}, but destructiveHint is false", "annotations.destructiveHint")


RULE = Rule(
    id="ANN004",
    name="destructive-denied",
    family="annotations",
    severity="error",
    what="A tool that deletes something is marked as not destructive.",
    why="Clients run it without asking the user, and the data is lost.",
    fix="Set destructiveHint to true.",
    bad=[{"name": "delete_note", "description": "Delete a note for good.", "annotations": {"destructiveHint": False}}],
    good=[{"name": "delete_note", "description": "Delete a note for good.", "annotations": {"destructiveHint": True}}],
    check=check,
)
