from collections.abc import Iterable, Mapping

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import CLEARLY_CHANGING

_READING = frozenset(["get", "list", "read", "show", "view", "describe", "count", "fetch"])
"""Verbs that are not nouns too: in `search_feedback`, the search is what the feedback is about."""
_OPPOSITES: Mapping[str, frozenset[str]] = {
    "reading": frozenset(["changing", "destroying", "sending"]),
    "creating": frozenset(["destroying"]),
    "changing": frozenset(["destroying"]),
    "destroying": frozenset(["reading", "creating", "sending"]),
    "sending": frozenset(["reading", "destroying"]),
}
_ARTICLES = frozenset(["a", "an", "the"])


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    in_name, in_description = server.name_verb(tool), tool.description_verb
    if not in_name or not in_description or in_description in tool.name_words:
        return
    if tool.prose_words[0] in _ARTICLES:  # The set of permissions
        return
    if _effect(in_description) in _OPPOSITES.get(_effect(in_name) or "", ()):
        yield Problem(f"the name says {in_name!r}, but the description says {in_description!r}", "description")


def _effect(verb: str) -> str | None:
    return "reading" if verb in _READING else CLEARLY_CHANGING.get(verb)


RULE = Rule(
    id="NAM009",
    name="name-contradicts-description",
    family="naming",
    severity="warning",
    what="Name and description say different actions, such as `get_notes` with a description of deleting.",
    why="An agent, or a person who approves calls by name, does something unintended.",
    fix="Rename the tool to what it does, or correct the description.",
    bad=[{"name": "get_notes", "description": "Deletes all notes of a folder. Use this to tidy up. Cannot be undone."}],
    good=[{"name": "delete_notes", "description": "Deletes all notes of a folder. Use this to tidy up."}],
    check=check,
)
