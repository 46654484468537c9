from collections.abc import Iterable, Mapping

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import CLEARLY_CHANGING

_LOOKING = frozenset(["get", "list", "search", "find", "read", "show", "view", "describe", "count", "check", "fetch"])
_OPPOSITES: Mapping[str, frozenset[str]] = {
    "looking": frozenset(["changing", "creating", "destroying", "sending"]),
    "creating": frozenset(["looking", "destroying"]),
    "changing": frozenset(["looking", "destroying"]),
    "destroying": frozenset(["looking", "creating", "sending"]),
    "sending": frozenset(["looking", "destroying"]),
}


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    named, said = server.name_verb(tool), tool.description_verb
    if named and said and said not in tool.name_words and _act(said) in _OPPOSITES.get(_act(named) or "", ()):
        yield Problem(f"the name says {named!r}, the description {said!r}", "description")


def _act(verb: str) -> str | None:
    return "looking" if verb in _LOOKING else CLEARLY_CHANGING.get(verb)


RULE = Rule(
    id="NAM009",
    name="name-contradicts-description",
    family="naming",
    severity="error",
    what="A name that says another act than the description, such as `get_notes` with a description of deleting.",
    why="An agent, and a person who approves calls by name, does something other than it means to.",
    fix="Rename the tool after what it does, or mend the description.",
    bad=[{"name": "get_notes", "description": "Deletes all notes of a folder. Use this to tidy up. Cannot be undone."}],
    good=[{"name": "delete_notes", "description": "Deletes all notes of a folder. Use this to tidy up."}],
    check=check,
)
