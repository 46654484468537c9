import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import DESTROYING

_LOSS = re.compile(
    r"\b(?:permanent\w*|undo|undone|irrevers\w+|irrevoc\w+|revers\w+|recover\w*|restor\w*|trash|bin|archiv\w+|forever|"
    r"for good|warning|caution|careful\w*|danger\w*|destructive|confirm\w*|cascad\w*|lost|loss|backup|soft|"
    r"cannot be|can't be|also (?:delet|remov)\w+|and (?:all|its|their|any)|stays?|kept|keeps?|unaffected|"
    r"does not (?:delete|remove|affect))\b",
    re.IGNORECASE,
)


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.is_english or server.effect(tool) != "destroying":
        return
    # A description that speaks of another act is a matter of another rule.
    if (tool.description_verb is None or tool.description_verb in DESTROYING) and not _LOSS.search(tool.prose):
        yield Problem("does not say whether what is removed can be had back", "description")


RULE = Rule(
    id="DSC011",
    name="unstated-loss",
    family="description",
    severity="warning",
    what="A tool that deletes, whose description does not say whether that can be undone, or what goes with it.",
    why="An agent weighs a step by what it costs to be wrong. Without a word it treats deleting like any other step.",
    fix="Say it plainly, such as: This cannot be undone. Or: Notes stay in the bin for 30 days.",
    bad=[{"name": "delete_note", "description": "Delete a note of a folder. Use this when the user asks for it."}],
    good=[{"name": "delete_note", "description": "Delete a note of a folder. This cannot be undone."}],
    check=check,
)
