import re
from collections.abc import Iterable

from toolcharter.verify.documented_arguments import documented_arguments
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_NAMED = re.compile(
    r"`([A-Za-z_]\w*)`\s+(?:parameter|argument|param|arg)\b(?!s)|\b(?:parameter|argument|param)\s+`([A-Za-z_]\w*)`"
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    told = [entry.name for entry in documented_arguments(tool.description)]
    if "`" in tool.prose:
        told += [one or other for one, other in _NAMED.findall(tool.prose)]
    if not told:
        return
    known = {parameter.name for parameter in tool.parameters}
    for name in dict.fromkeys(told):
        if name not in known:
            yield Problem(f"tells of an argument {name!r}, which is not in the schema", "description")


RULE = Rule(
    id="DSC016",
    name="unknown-argument",
    family="description",
    severity="error",
    what="A description that tells of an argument which the schema does not have.",
    why="An agent sends it. A strict server refuses the call; a lenient one ignores the wish without a word.",
    fix="Spell the argument as in the schema, or take the sentence out.",
    bad=[{"description": "List the notes of a folder. The `directory` parameter says which. Returns their titles."}],
    good=[{"description": "List the notes of a folder. The `folder` parameter says which. Returns their titles."}],
    check=check,
)
