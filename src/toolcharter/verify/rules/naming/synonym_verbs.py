from collections import defaultdict
from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import SYNONYMS

_GROUP = {verb: number for number, group in enumerate(SYNONYMS) for verb in group}


def check(server: Server) -> Iterable[Problem]:
    acts: defaultdict[tuple[int, tuple[str, ...]], dict[str, str]] = defaultdict(dict)
    for tool in server.tools:
        verb = server.name_verb(tool)
        if verb in _GROUP:
            things = tuple(sorted(word.rstrip("s") for word in server.unprefixed_words(tool) if word != verb))
            acts[_GROUP[verb], things].setdefault(verb, tool.name)
    for (_, things), names in acts.items():
        if things and len(names) > 1:
            first, *others = names.values()
            for name in others:
                yield Problem(f"{name!r} and {first!r} use two verbs that mean the same", "name", tool=name)


RULE = Rule(
    id="NAM006",
    name="synonym-verbs",
    family="naming",
    severity="note",
    what="Two tools of one server that say the same act of the same thing with two verbs.",
    why="Nobody can tell from create_note and add_note which one to call. An agent tries one of them.",
    fix="Keep one of the tools, or name what differs.",
    bad=[{"name": "create_note"}, {"name": "add_note"}],
    good=[{"name": "create_note"}, {"name": "add_tag"}],
    check_server=check,
)
