from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import DELETING, DESTROYING, RESTORABLE_THINGS

_ENDING = frozenset({"kill", "terminate"})
"""Verbs that end a process or a session, which can be started again."""
_MACHINES = frozenset({"cluster", "clusters", "database", "instance", "instances", "machine", "server", "vm", "vms"})


def destroying_verb(tool: Tool, server: Server) -> str | None:
    """The verb that says that a tool removes something, unless name and description disagree."""
    if server.effect(tool) != "destroying":
        return None
    in_name, in_description = server.name_verb(tool), tool.description_verb
    if (in_name or in_description) in _ENDING and _MACHINES.isdisjoint(tool.name_words):
        return None
    if in_name in DESTROYING:
        return in_name if in_description is None or in_description in DESTROYING else None
    return in_description


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not RESTORABLE_THINGS.isdisjoint(tool.name_words):
        return
    verb = destroying_verb(tool, server)
    # What is removed from a list or a project still exists.
    is_loss = verb in DELETING or (verb is not None and " from " not in tool.prose)
    if verb and is_loss and tool.hint("destructiveHint") is None:
        yield Problem(f"says {verb!r}, but destructiveHint is missing", "annotations.destructiveHint")


RULE = Rule(
    id="ANN003",
    name="destructive-unmarked",
    family="annotations",
    severity="warning",
    what="A tool that deletes something has no destructiveHint. Taking something out of a list is not deleting.",
    why="Clients use this hint to ask the user first. Of public tools that delete, one in twenty has it.",
    fix="Set destructiveHint to true.",
    bad=[{"name": "delete_note", "description": "Delete a note for good.", "annotations": {"readOnlyHint": False}}],
    good=[{"name": "delete_note", "description": "Delete a note for good.", "annotations": {"destructiveHint": True}}],
    check=check,
)
