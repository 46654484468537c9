import re
from collections.abc import Iterable

from toolcharter.verify.documented_arguments import documented_arguments
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_NAMED = re.compile(
    r"`([A-Za-z_]\w*)`\s+(?:parameter|argument|param|arg)\b(?!s)|\b(?:parameter|argument|param)\s+`([A-Za-z_]\w*)`"
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    named = [entry.name for entry in documented_arguments(tool.description)]
    if "`" in tool.prose:
        named += [one or other for one, other in _NAMED.findall(tool.prose)]
    if not named:
        return
    known = {parameter.name for parameter in tool.parameters}
    for name in dict.fromkeys(named):
        if name not in known:
            yield Problem(f"mentions an argument {name!r}, which is not in the schema", "description")


RULE = Rule(
    id="DSC016",
    name="unknown-argument",
    family="description",
    severity="error",
    what="A description mentions an argument that is not in the schema.",
    why="An agent sends it. A strict server rejects the call, a lenient one silently ignores the argument.",
    fix="Write the name as in the schema, or remove the sentence.",
    bad=[{"description": "List the notes of a folder. The `directory` parameter says which. Returns their titles."}],
    good=[{"description": "List the notes of a folder. The `folder` parameter says which. Returns their titles."}],
    check=check,
)
