from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import ALSO_NOUNS, EFFECTS, VERBS


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    words = server.unprefixed_words(tool)
    if len(words) < 2:  # noqa: PLR2004 - one word has no order
        return
    later = [word for word in words[1:] if word in VERBS and word not in ALSO_NOUNS]
    noun_first = words[0] in ALSO_NOUNS and words[0] not in EFFECTS and later[-1:] == [words[-1]]  # note_create
    if words[0] in VERBS and not noun_first:
        return
    if later:
        yield Problem(f"{tool.name!r} begins with {words[0]!r}, and its verb {later[0]!r} comes later", "name")
    elif tool.name.isascii():
        yield Problem(f"{tool.name!r} begins with {words[0]!r}, which is not a verb", "name")


RULE = Rule(
    id="NAM003",
    name="verb-not-first",
    family="naming",
    severity="note",
    what="A name that does not begin with a verb. A prefix that most names of the server share does not count.",
    why="The verb says what the tool does. If it comes first, a list of tools is easy to read.",
    fix="Begin with the verb: create_note instead of note_create, get_weather instead of weather.",
    bad=[{"name": "note_create"}],
    good=[{"name": "create_note"}],
    check=check,
)
