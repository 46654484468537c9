import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import DELETING, DESTROYING, RESTORABLE_THINGS

_LOSS = re.compile(
    r"\b(?:permanent\w*|undo|undone|irrevers\w+|revert\w*|irrevoc\w+|revers\w+|recover\w*|restor\w*|trash|bin|archiv\w+|forever|"
    r"for good|warning|caution|careful\w*|danger\w*|destructive|confirm\w*|cascad\w*|lost|loss|backup|soft|"
    r"cannot be|can't be|also (?:delet|remov)\w+|and (?:all|its|their|any)|stays?|kept|keeps?|unaffected|"
    r"does not (?:delete|remove|affect))\b",
    re.IGNORECASE,
)
_DATA = frozenset({"collection", "column", "database", "db", "schema", "table"})
"""Things that are lost when they are dropped. Dropping a file on a page loses nothing."""


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.is_english or server.effect(tool) != "destroying":
        return
    verb = server.name_verb(tool) or tool.description_verb
    if verb not in DELETING or not RESTORABLE_THINGS.isdisjoint(tool.name_words):
        return
    if verb == "drop" and _DATA.isdisjoint(tool.name_words):
        return
    # Another rule finds descriptions with another action.
    if (tool.description_verb is None or tool.description_verb in DESTROYING) and not _LOSS.search(tool.prose):
        yield Problem("does not say whether the removal can be undone", "description")


RULE = Rule(
    id="DSC011",
    name="unstated-loss",
    family="description",
    severity="warning",
    what="The description of a tool that deletes does not say whether that can be undone, or what else is lost.",
    why="Agents weigh a step by the cost of a mistake. Without this, deleting looks like any other step.",
    fix="Say it, such as: This cannot be undone. Or: Notes stay in the bin for 30 days.",
    bad=[{"name": "delete_note", "description": "Delete a note of a folder. Use this when the user asks for it."}],
    good=[{"name": "delete_note", "description": "Delete a note of a folder. This cannot be undone."}],
    check=check,
)
