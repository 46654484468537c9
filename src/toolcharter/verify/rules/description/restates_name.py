from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import BASE_FORMS, STOPWORDS, SYNONYMS

_SYNONYM_GROUP = {verb: str(number) for number, group in enumerate(SYNONYMS) for verb in group}


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.prose.isascii() or not tool.prose_words or server.is_self_evident(tool):
        return
    known = {_root(word) for word in (*tool.name_words, *server.name.lower().replace("-", " ").split())}
    used = {_root(word) for word in tool.prose_words if word not in STOPWORDS}
    if used and used <= known:
        yield Problem(f"{_shorten(tool.prose)!r} only repeats the name", "description")


def _root(word: str) -> str:
    """A word without its ending, and without synonyms: notes is note, creates is add."""
    verb = BASE_FORMS.get(word, word)
    return _SYNONYM_GROUP.get(verb, verb.removesuffix("'s").rstrip("s"))


def _shorten(text: str) -> str:
    return text if len(text) < 60 else f"{text[:57]}..."  # noqa: PLR2004 - fits on a line


RULE = Rule(
    id="DSC006",
    name="restates-name",
    family="description",
    severity="warning",
    supersedes=("DSC002", "DSC003", "DSC007", "DSC008", "DSC009", "DSC010", "DSC011", "DSC012", "DSC013"),
    what="A description that only repeats the words of the name.",
    why="It costs tokens, and tells the agent nothing new.",
    fix="Say what the name cannot: what it acts on, when to use it, what it returns.",
    bad=[{"name": "delete_note", "description": "Deletes the specified note."}],
    good=[{"name": "delete_note", "description": "Deletes a note for good; its attachments stay in the folder."}],
    check=check,
)
