import re
from collections.abc import Iterable

from toolcharter.verify.documented_arguments import documented_arguments
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_OPTIONAL = re.compile(
    r"[\[(,]?\s*optional\b(?! (?:fields?|list|filters?))|\bmay be (?:omitted|left out)\b", re.IGNORECASE
)
_IN_PROSE = re.compile(r"\boptional\s+`([A-Za-z_]\w*)`|`([A-Za-z_]\w*)`\s+(?:is\s+|\()optional\b", re.IGNORECASE)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    required = {argument.name: argument for argument in tool.arguments if argument.required}
    if not required:
        return
    named = {entry.name for entry in documented_arguments(tool.description) if _OPTIONAL.match(entry.text)}
    if "`" in tool.prose:
        named |= {one or other for one, other in _IN_PROSE.findall(tool.prose)}
    for name, argument in required.items():
        if name in named or _OPTIONAL.match(argument.description):
            yield Problem(f"calls {name!r} optional, but the schema requires it", "description")


RULE = Rule(
    id="DSC017",
    name="wrongly-optional",
    family="description",
    severity="error",
    what="A text calls an argument optional, but the schema requires it.",
    why="An agent that follows the text leaves it out, and the call fails.",
    fix="Remove the argument from `required`, or the word from the text.",
    bad=[{"description": "List the notes of a folder, where `folder` is optional. Returns the title of each note."}],
    good=[{"description": "List the notes of a `folder`. Returns the title of each note, at most 100."}],
    check=check,
)
