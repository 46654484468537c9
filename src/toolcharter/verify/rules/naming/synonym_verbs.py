from collections import defaultdict
from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import SYNONYMS

_NOUNS = {
    "doc": "document",
    "docs": "document",
    "documentation": "document",
    "repo": "repository",
    "repositorie": "repository",
    "picture": "image",
    "photo": "image",
    "msg": "message",
    "directory": "folder",
    "directorie": "folder",
    "mail": "email",
    "person": "user",
    "people": "user",
    "todo": "task",
    "ticket": "issue",
}
"""Nouns with the same meaning."""
_GROUP = {verb: number for number, group in enumerate(SYNONYMS) for verb in group}


def check(server: Server) -> Iterable[Problem]:
    actions: defaultdict[tuple[int, tuple[str, ...]], dict[str, str]] = defaultdict(dict)
    for tool in server.tools:
        verb = server.name_verb(tool)
        if verb in _GROUP:
            objects = tuple(sorted(_noun(word) for word in server.unprefixed_words(tool) if word != verb))
            actions[_GROUP[verb], objects].setdefault(verb, tool.name)
    for (_, objects), names in actions.items():
        if objects and len(names) > 1:
            first, *others = names.values()
            for name in others:
                yield Problem(f"{name!r} and {first!r} have names with the same meaning", "name", tool=name)


def _noun(word: str) -> str:
    singular = word.rstrip("s")
    return _NOUNS.get(singular, singular)


RULE = Rule(
    id="NAM006",
    name="synonym-verbs",
    family="naming",
    severity="note",
    what="Two tools of one server name the same action on the same object with different words.",
    why="The names create_note and add_note do not say which one to call. An agent tries one of them.",
    fix="Keep one of the tools, or name the difference.",
    bad=[{"name": "create_note"}, {"name": "add_note"}],
    good=[{"name": "create_note"}, {"name": "add_tag"}],
    check_server=check,
)
