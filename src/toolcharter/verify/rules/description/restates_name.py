from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import BASE_FORMS, STOPWORDS, SYNONYMS

_SAME_ACT = {verb: str(number) for number, group in enumerate(SYNONYMS) for verb in group}


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.prose.isascii() or not tool.prose_words:
        return
    known = {_root(word) for word in (*tool.name_words, *server.name.lower().replace("-", " ").split())}
    said = {_root(word) for word in tool.prose_words if word not in STOPWORDS}
    if said and said <= known:
        yield Problem(f"{_shortened(tool.prose)!r} says no more than the name", "description")


def _root(word: str) -> str:
    """A word without its ending, so that notes and note, or creates and add, are the same."""
    verb = BASE_FORMS.get(word, word)
    return _SAME_ACT.get(verb, verb.removesuffix("'s").rstrip("s"))


def _shortened(text: str) -> str:
    return text if len(text) < 60 else f"{text[:57]}..."  # noqa: PLR2004 - fits on a line


RULE = Rule(
    id="DSC006",
    name="restates-name",
    family="description",
    severity="warning",
    what="A description with the words of the name and nothing else.",
    why="It costs tokens and tells the agent nothing that the name did not.",
    fix="Say what the name cannot: on what it acts, when to use it, what comes back.",
    bad=[{"name": "delete_note", "description": "Deletes the specified note."}],
    good=[{"name": "delete_note", "description": "Deletes a note for good; its attachments stay in the folder."}],
    check=check,
)
