import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import ALSO_NOUNS, CLEARLY_CHANGING, EFFECTS

_HARMLESS = frozenset(["reading", "computing"])
_NO_CHANGE = re.compile(
    r"\b(?:nothing (?:is|gets) (?:changed|stored|written|saved|sent)|has no (?:side )?effects?|"
    r"(?:does not|doesn't|never|without) (?:chang|modif|writ|stor|sav)\w+)",
    re.IGNORECASE,
)


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.hint("readOnlyHint") or server.effect(tool) in _HARMLESS or _NO_CHANGE.search(tool.prose):
        return
    in_name, in_description = server.name_verb(tool), tool.description_verb
    if in_name in CLEARLY_CHANGING and in_name not in ALSO_NOUNS and EFFECTS.get(in_description or "") not in _HARMLESS:
        yield Problem(f"readOnlyHint is true, but the name says {in_name!r}", "annotations.readOnlyHint")
    elif in_description in CLEARLY_CHANGING:
        yield Problem(f"readOnlyHint is true, but the description says {in_description!r}", "annotations.readOnlyHint")


RULE = Rule(
    id="ANN002",
    name="read-only-that-changes",
    family="annotations",
    severity="error",
    what="A tool is marked read-only, but its name or description begins with a verb that changes something.",
    why="Clients call a read-only tool without asking the user, who does not learn that it writes, sends or deletes.",
    fix="Set readOnlyHint to false, or use a verb for reading.",
    bad=[{"name": "update_note", "description": "Update the text of a note. Only the given fields are changed."}],
    good=[{"name": "get_note", "description": "Read the text of a note. Returns its id, title and body."}],
    check=check,
)
