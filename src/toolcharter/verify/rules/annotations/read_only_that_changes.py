from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import ALSO_NOUNS, CLEARLY_CHANGING, EFFECTS

_HARMLESS = frozenset(["reading", "computing"])


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.hint("readOnlyHint") or server.effect(tool) in _HARMLESS:
        return
    named, said = server.name_verb(tool), tool.description_verb
    if named in CLEARLY_CHANGING and named not in ALSO_NOUNS and EFFECTS.get(said or "") not in _HARMLESS:
        yield Problem(f"readOnlyHint is true, but the name says {named!r}", "annotations.readOnlyHint")
    elif said in CLEARLY_CHANGING:
        yield Problem(f"readOnlyHint is true, but the description says {said!r}", "annotations.readOnlyHint")


RULE = Rule(
    id="ANN002",
    name="read-only-that-changes",
    family="annotations",
    severity="error",
    what="A tool that is marked read-only, while its name or description begins with a verb that changes something.",
    why="Clients call a read-only tool without asking the user. This one writes, sends or deletes behind their back.",
    fix="Set readOnlyHint to false, or use a verb that says that the tool only looks.",
    bad=[{"name": "update_note", "description": "Update the text of a note. Only the given fields are changed."}],
    good=[{"name": "get_note", "description": "Read the text of a note. Returns its id, title and body."}],
    check=check,
)
