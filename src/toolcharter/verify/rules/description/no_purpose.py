import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import BASE_FORMS

_SECTION = re.compile(
    r"\s*(?:args|arguments|parameters|params|inputs?|returns?|examples?|usage|notes?)\s*:", re.IGNORECASE
)
_MAX_WORDS = 20
"""A verb among this many first words says what the tool does."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if not tool.is_english:
        return
    if _SECTION.match(tool.prose):
        yield Problem(f"begins with {tool.prose.splitlines()[0][:40]!r}, not with what the tool does", "description")
    elif not any(word in BASE_FORMS or word == "tool" for word in tool.prose_words[:_MAX_WORDS]):
        yield Problem(f"{tool.prose[:40]!r} does not say what the tool does", "description")


RULE = Rule(
    id="DSC007",
    name="no-purpose",
    family="description",
    severity="warning",
    what="A description does not begin with what the tool does: it has no verb, or begins with the arguments.",
    why="Agents choose by the first words, and lists of tools often show nothing else.",
    fix="Begin with a verb that says what the tool does, and with what.",
    bad=[{"description": "Args: folder, the name of the folder in the notebook. Limit of 100 in all."}],
    good=[{"description": "List the notes of a folder. Use this to see what was written. Returns id and title."}],
    check=check,
)
