import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import SELF_EXPLANATORY_VERBS

_EFFECT = re.compile(
    r"\b(?:returns?|returned|becomes?|reverts?|replac\w+|overwrit\w+|overrid\w+|only|already|exist\w*|permanent\w*|"
    r"undone?|irrevers\w+|if|unless|will|cannot|can't|must|automatic\w*|immediate\w*|creat(?:es|ed|ing)|"
    r"updat(?:es|ed|ing)|modif(?:ies|ied)|saves?|saved|stored?|result\w*|affects?|changes|persist\w*|keeps?|left|"
    r"unchanged|remain\w*|then|also|so that|afterwards|once|without|instead|in place|triggers?|"
    r"causes?|generates|syncs|sets)\b",
    re.IGNORECASE,
)
_CHANGING = frozenset(["creating", "changing", "sending"])


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if (
        not tool.is_english
        or tool.listed.output_schema
        or {server.name_verb(tool), tool.description_verb} & SELF_EXPLANATORY_VERBS
    ):
        return
    if server.effect(tool) in _CHANGING:
        # The first word names the action. The effect is in the rest.
        rest = tool.prose.split(None, 1)[-1]
        if not _EFFECT.search(rest):
            yield Problem("names the action, but not its effect or what it returns", "description")


RULE = Rule(
    id="DSC010",
    name="no-effect",
    family="description",
    severity="note",
    what="The description of a tool that changes something names the action, but not its effect.",
    why=(
        "Do omitted fields stay unchanged? Does a second call change anything? What is returned? "
        "An agent that does not know tries it on real data."
    ),
    fix="Say what is different afterwards, such as: Only the given fields change. Returns the id of the new note.",
    bad=[{"name": "update_note", "description": "Update a note of a folder. Use this for the user's own notes."}],
    good=[{"name": "update_note", "description": "Update a note of a folder. Only the fields given are changed."}],
    check=check,
)
